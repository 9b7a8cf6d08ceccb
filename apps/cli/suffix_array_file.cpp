#include "sortie/apps/cli/suffix_array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "sortie/apps/cli/common_options.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/core/version.hpp"
#include "sortie/core/whole_file.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t positions_a_block = 1 << 16;

void append_little_endian(std::vector<char>& out, std::uint64_t value, int width_bytes) {
  for (int byte = 0; byte < width_bytes; ++byte) {
    out.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
  }
}

std::string sidecar(const SuffixArraySource& source, std::size_t positions, int width_bytes,
                    const std::string& sum) {
  const sequences::Text& text = *source.text;
  Json records = Json::array();
  for (const sequences::Record& record : text.records) {
    records.push_back(
        {{"name", record.name}, {"offset", record.offset}, {"length", record.length}});
  }
  const Json description = {
      {"format", "sortie suffix array"},
      {"format_version", 1},
      {"written_by", fmt::format("sortie {} ({})", version(), commit())},
      {"input", source.input},
      {"positions", positions},
      {"width_bits", 8 * width_bytes},
      {"byte_order", "little"},
      {"symbols", text.symbols.size()},
      {"letters", text.letters()},
      {"alphabet", sequences::name(source.alphabet)},
      {"case", source.letter_case == sequences::Case::upper ? "upper" : "keep"},
      {"separator", sequences::Text::separator},
      {"order",
       "suffixes by byte value up to the end of their record, a suffix before its extensions, "
       "equal "
       "ones by position; separators first"},
      {"checksum", sum},
      {"checksum_of", "the positions as written, 64-bit FNV-1a"},
      {"records", std::move(records)}};
  // Record names may hold bytes that are not UTF-8; they are replaced instead of refused.
  return description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// An array without its description is of no use, so it goes when the description cannot be written.
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

int smallest_width_bytes(std::uint64_t symbols) {
  return symbols < std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

template <class Pos>
std::string write_suffix_array(const std::string& path, std::span<const Pos> suffixes,
                               int width_bytes, const SuffixArraySource& source) {
  WholeFile file(path);
  std::optional<WholeFile> description;
  if (!is_stream(path)) description.emplace(path + ".json");
  std::uint64_t sum = checksum_seed;
  std::vector<char> block;
  for (std::size_t begin = 0; begin < suffixes.size(); begin += positions_a_block) {
    block.clear();
    const auto part = suffixes.subspan(begin, std::min(positions_a_block, suffixes.size() - begin));
    for (const Pos position : part) append_little_endian(block, position, width_bytes);
    sum = extend_checksum(sum, block.data(), block.size());
    file.write(std::span<const char>(block));
  }
  const std::string sum_text = fmt::format("{:016x}", sum);
  if (description) {
    description->write(std::string_view(sidecar(source, suffixes.size(), width_bytes, sum_text)));
  }
  file.commit();
  if (description) commit_or_remove(*description, path);
  return sum_text;
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
template void write_suffix_array_text(const std::string&, std::span<const std::uint32_t>);
template void write_suffix_array_text(const std::string&, std::span<const std::uint64_t>);

}  // namespace sortie::cli
