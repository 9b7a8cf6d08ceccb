// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/suffix_array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "core/checksum.hpp"
#include "core/whole_file.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/version.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t items_a_block = 1 << 16;

void append_little_endian(std::vector<char>& out, std::uint64_t value, int width_bytes) {
  for (int byte = 0; byte < width_bytes; ++byte) {
    out.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
  }
}

/// The part of a description that all arrays share: the text.
Json described_source(std::string_view format, const SuffixArraySource& source) {
  const sequences::Text& text = source.text->text;
  Json description = {
      {"format", format},
      {"format_version", 1},
      {"written_by", fmt::format("sortie {} ({})", version(), commit())},
      {"input", source.input},
      {"symbols", text.symbols.size()},
      {"letters", source.text->letters()},
      {"alphabet", sequences::name(source.text->alphabet)},
      {"case", source.policy.letter_case == sequences::Case::upper ? "upper" : "keep"},
      {"ambiguous", sequences::name(source.policy.ambiguity)},
      {"reverse_complement", source.policy.reverse_complement},
      {"separator", sequences::Text::separator},
      {"text_checksum", text_checksum(text)}};
  if (source.max_context != 0) description["max_context"] = source.max_context;
  return description;
}

Json described_records(const sequences::Text& text) {
  Json records = Json::array();
  for (const sequences::Record& record : text.records) {
    records.push_back(
        {{"name", record.name}, {"offset", record.offset}, {"length", record.length}});
  }
  return records;
}

Json described_suffix_array(const SuffixArraySource& source, std::size_t positions,
                            int width_bytes) {
  Json description = described_source("sortie suffix array", source);
  description["positions"] = positions;
  description["width_bits"] = 8 * width_bytes;
  description["byte_order"] = "little";
  description["order"] =
      "suffixes by byte value up to the end of their record, a suffix before its extensions, equal "
      "ones by position; separators first";
  description["checksum_of"] = "the positions as written, 64-bit FNV-1a";
  description["records"] = described_records(source.text->text);
  return description;
}

// An array without its description is useless, so it is removed if the description cannot be
// written.
void commit_or_remove(WholeFile& description, const std::string& array_path) {
  try {
    description.commit();
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(array_path, ignored);
    throw;
  }
}

// Writes `count` items in blocks, and the description with their checksum.
// write_block(begin, end, out) appends the items begin .. end - 1.
template <class WriteBlock>
std::string write_described(const std::string& path, std::size_t count, Json description,
                            const WriteBlock& write_block) {
  WholeFile file(path);
  std::optional<WholeFile> sidecar;
  if (!is_stream(path)) sidecar.emplace(path + ".json");
  std::uint64_t sum = checksum_seed;
  std::vector<char> block;
  for (std::size_t begin = 0; begin < count; begin += items_a_block) {
    block.clear();
    write_block(begin, std::min(begin + items_a_block, count), block);
    sum = extend_checksum(sum, block.data(), block.size());
    file.write(std::span<const char>(block));
  }
  const std::string sum_text = fmt::format("{:016x}", sum);
  if (sidecar) {
    description["checksum"] = sum_text;
    // Record names may contain bytes that are not UTF-8. They are replaced instead of rejected.
    sidecar->write(description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  file.commit();
  if (sidecar) commit_or_remove(*sidecar, path);
  return sum_text;
}

template <class Pos>
std::string write_integers(const std::string& path, std::span<const Pos> values, int width_bytes,
                           Json description) {
  return write_described(path, values.size(), std::move(description),
                         [&](std::size_t begin, std::size_t end, std::vector<char>& out) {
                           for (const Pos value : values.subspan(begin, end - begin)) {
                             append_little_endian(out, value, width_bytes);
                           }
                         });
}

}  // namespace

std::string text_checksum(const sequences::Text& text) {
  return checksum(text.symbols.data(), text.symbols.size());
}

std::uint64_t most_symbols(int width_bytes) {
  return (~std::uint64_t{0} >> (64 - 8 * width_bytes)) - 1;
}

int smallest_width_bytes(std::uint64_t symbols) {
  return symbols < std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

template <class Pos>
std::string write_suffix_array(const std::string& path, std::span<const Pos> suffixes,
                               int width_bytes, const SuffixArraySource& source) {
  return write_integers(path, suffixes, width_bytes,
                        described_suffix_array(source, suffixes.size(), width_bytes));
}

template <class Pos>
std::string write_lcp_array(const std::string& path, std::span<const Pos> lcp, int width_bytes,
                            const SuffixArraySource& source) {
  Json description = described_source("sortie LCP array", source);
  description["entries"] = lcp.size();
  description["width_bits"] = 8 * width_bytes;
  description["byte_order"] = "little";
  description["entry"] =
      "letters that the suffixes in this and the entry before have in common; 0 for the first";
  description["checksum_of"] = "the entries as written, 64-bit FNV-1a";
  return write_integers(path, lcp, width_bytes, std::move(description));
}

template <class Pos>
std::string write_inverse_suffix_array(const std::string& path, std::span<const Pos> inverse,
                                       int width_bytes, const SuffixArraySource& source) {
  Json description = described_source("sortie inverse suffix array", source);
  description["entries"] = inverse.size();
  description["width_bits"] = 8 * width_bytes;
  description["byte_order"] = "little";
  description["entry"] = "the entry of the suffix array where the suffix at this position stands";
  description["checksum_of"] = "the entries as written, 64-bit FNV-1a";
  return write_integers(path, inverse, width_bytes, std::move(description));
}

std::string write_burrows_wheeler(const std::string& path, std::span<const std::uint8_t> transform,
                                  std::uint64_t primary, const SuffixArraySource& source) {
  Json description = described_source("sortie Burrows-Wheeler transform", source);
  description["entries"] = transform.size();
  description["primary"] = primary;
  description["entry"] =
      "the byte before the suffix; the last byte of the text for the suffix at position 0, which "
      "is "
      "entry \"primary\"";
  description["checksum_of"] = "the bytes as written, 64-bit FNV-1a";
  return write_described(path, transform.size(), std::move(description),
                         [&](std::size_t begin, std::size_t end, std::vector<char>& out) {
                           const auto part = transform.subspan(begin, end - begin);
                           out.insert(out.end(), part.begin(), part.end());
                         });
}

std::string write_document_array(const std::string& path, std::span<const std::uint32_t> documents,
                                 const SuffixArraySource& source) {
  Json description = described_source("sortie document array", source);
  description["entries"] = documents.size();
  description["width_bits"] = 32;
  description["byte_order"] = "little";
  description["entry"] =
      "the number, from 0, of the record that the suffix starts in; a separator belongs to the "
      "record before it";
  description["checksum_of"] = "the entries as written, 64-bit FNV-1a";
  description["records"] = described_records(source.text->text);
  return write_integers(path, documents, 4, std::move(description));
}

template <class Pos>
void write_suffix_array_text(const std::string& path, std::span<const Pos> suffixes) {
  WholeFile file(path);
  for (const Pos position : suffixes) {
    const fmt::format_int digits(position);
    file.write(std::string_view(digits.data(), digits.size()));
    file.write(std::string_view("\n"));
  }
  file.commit();
}

template std::string write_suffix_array(const std::string&, std::span<const std::uint32_t>, int,
                                        const SuffixArraySource&);
template std::string write_suffix_array(const std::string&, std::span<const std::uint64_t>, int,
                                        const SuffixArraySource&);
template std::string write_lcp_array(const std::string&, std::span<const std::uint32_t>, int,
                                     const SuffixArraySource&);
template std::string write_lcp_array(const std::string&, std::span<const std::uint64_t>, int,
                                     const SuffixArraySource&);
template std::string write_inverse_suffix_array(const std::string&, std::span<const std::uint32_t>,
                                                int, const SuffixArraySource&);
template std::string write_inverse_suffix_array(const std::string&, std::span<const std::uint64_t>,
                                                int, const SuffixArraySource&);
template void write_suffix_array_text(const std::string&, std::span<const std::uint32_t>);
template void write_suffix_array_text(const std::string&, std::span<const std::uint64_t>);

}  // namespace sortie::cli
