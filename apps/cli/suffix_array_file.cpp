// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/suffix_array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cli/common_options.hpp"
#include "core/checksum.hpp"
#include "core/whole_file.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t items_a_block = 1 << 16;

/// How the description of an array names its content.
struct ArrayFormat {
  const char* name;
  const char* count;        ///< key of the number of items
  const char* meaning_key;  ///< key of `meaning`
  const char* meaning;
  bool with_records;
};

/// In the order of ArrayKind.
constexpr std::array formats = {
    ArrayFormat{"sortie suffix array", "positions", "order",
                "suffixes by byte value up to the end of their record, a suffix before its "
                "extensions, equal ones by position; separators first",
                true},
    ArrayFormat{"sortie LCP array", "entries", "entry",
                "letters that the suffixes in this and the entry before have in common; 0 for the "
                "first",
                false},
    ArrayFormat{"sortie inverse suffix array", "entries", "entry",
                "the entry of the suffix array where the suffix at this position stands", false},
    ArrayFormat{"sortie Burrows-Wheeler transform", "entries", "entry",
                "the byte before the suffix; the last byte of the text for the suffix at position "
                "0, which is entry \"primary\"",
                false},
    ArrayFormat{"sortie document array", "entries", "entry",
                "the number, from 0, of the record that the suffix starts in; a separator belongs "
                "to the record before it",
                true}};

/// The description of an array of `count` items, without its checksum.
Json described(const ArrayFormat& format, std::size_t count, int width_bytes,
               const SuffixArraySource& source, std::optional<std::uint64_t> primary) {
  const sequences::Text& text = source.text->text;
  Json description = {
      {"format", format.name},
      {"format_version", 1},
      {"written_by", program_version()},
      {"input", source.input},
      {"symbols", text.symbols.size()},
      {"letters", source.text->letters()},
      {"alphabet", sequences::name(source.text->alphabet)},
      {"case", source.policy.letter_case == sequences::Case::upper ? "upper" : "keep"},
      {"ambiguous", sequences::name(source.policy.ambiguity)},
      {"reverse_complement", source.policy.reverse_complement},
      {"separator", sequences::Text::separator},
      {"text_checksum", checksum_of(text.symbols)}};
  if (source.max_context != 0) description["max_context"] = source.max_context;
  description[format.count] = count;
  if (width_bytes > 1) {
    description["width_bits"] = 8 * width_bytes;
    description["byte_order"] = "little";
  }
  if (primary) description["primary"] = *primary;
  description[format.meaning_key] = format.meaning;
  description["checksum_of"] =
      fmt::format("the {} as written, 64-bit FNV-1a", width_bytes > 1 ? format.count : "bytes");
  if (!format.with_records) return description;
  Json& records = description["records"] = Json::array();
  for (const sequences::Record& record : text.records) {
    records.push_back(
        {{"name", record.name}, {"offset", record.offset}, {"length", record.length}});
  }
  return description;
}

/// Converts numbers to little-endian integers of `width_bytes` bytes.
template <class Number>
void convert(std::span<const Number> numbers, int width_bytes, std::vector<char>& bytes) {
  if constexpr (sizeof(Number) == 1) return bytes.assign(numbers.begin(), numbers.end());
  bytes.clear();
  for (const Number number : numbers) {
    for (int byte = 0; byte < width_bytes; ++byte) {
      bytes.push_back(static_cast<char>(std::uint64_t{number} >> (8 * byte) & 0xff));
    }
  }
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

}  // namespace

std::uint64_t most_symbols(int width_bytes) {
  return (~std::uint64_t{0} >> (64 - 8 * width_bytes)) - 1;
}

int smallest_width_bytes(std::uint64_t symbols) {
  return symbols < std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

template <class Number>
std::string write_array(const std::string& path, ArrayKind kind, const std::vector<Number>& array,
                        int width_bytes, const SuffixArraySource& source,
                        std::optional<std::uint64_t> primary) {
  Json description = described(formats.at(static_cast<std::size_t>(kind)), array.size(),
                               width_bytes, source, primary);
  WholeFile file(path);
  std::optional<WholeFile> sidecar;
  if (!is_stream(path)) sidecar.emplace(path + ".json");
  std::uint64_t sum = checksum_seed;
  std::vector<char> block;
  for (std::size_t begin = 0; begin < array.size(); begin += items_a_block) {
    const std::size_t count = std::min(items_a_block, array.size() - begin);
    convert(std::span(array).subspan(begin, count), width_bytes, block);
    sum = extend_checksum(sum, block.data(), block.size());
    file.write(std::span<const char>(block));
  }
  if (sidecar) {
    description["checksum"] = checksum_text(sum);
    // Record names may contain bytes that are not UTF-8. They are replaced instead of rejected.
    sidecar->write(description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  file.commit();
  if (sidecar) commit_or_remove(*sidecar, path);
  return checksum_text(sum);
}

template <class Number>
void write_array_text(const std::string& path, const std::vector<Number>& array) {
  WholeFile file(path);
  for (const Number number : array) {
    const fmt::format_int digits(number);
    file.write(std::string_view(digits.data(), digits.size()));
    file.write(std::string_view("\n"));
  }
  file.commit();
}

#define INSTANTIATE(Number)                                                                        \
  template std::string write_array(const std::string&, ArrayKind, const std::vector<Number>&, int, \
                                   const SuffixArraySource&, std::optional<std::uint64_t>);        \
  template void write_array_text(const std::string&, const std::vector<Number>&);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::cli
