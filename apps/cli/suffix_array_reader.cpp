// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/suffix_array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/byte_source.hpp"
#include "core/checksum.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::json;

/// Much more work than starting the thread that computes the checksum of a block, and small
/// compared to most arrays.
constexpr std::size_t positions_a_block = 1 << 18;

[[noreturn]] void fail(const std::string& path, const std::string& found,
                       const std::string& expected) {
  throw input_error(path, 0, found, expected);
}

/// The members of the description in a file.
class Members {
 public:
  explicit Members(const std::string& path) : path_(path) {
    const ByteBuffer bytes = read_all(path);
    const std::span<const char> text = bytes.span();
    json_ = Json::parse(text.begin(), text.end(), nullptr, false);
    if (!json_.is_object()) fail(path, "something else", "a JSON object that describes an array");
  }

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }

  template <class Value>
  [[nodiscard]] Value get(const char* key, const std::string& expected) const {
    try {
      return json_.at(key).get<Value>();
    } catch (const Json::exception&) {
      fail(path_, has(key) ? json_[key].dump() : fmt::format("no \"{}\"", key), expected);
    }
  }

  /// A member that must have one of several values.
  template <class Value>
  [[nodiscard]] Value get(const char* key, const std::string& expected,
                          std::initializer_list<Value> values) const {
    const auto value = get<Value>(key, expected);
    if (std::find(values.begin(), values.end(), value) == values.end())
      fail(path_, json_[key].dump(), expected);
    return value;
  }

 private:
  std::string path_;
  Json json_;
};

TextPolicy described_policy(const Members& members) {
  TextPolicy policy;
  const auto letter_case =
      members.get<std::string>("case", "\"case\": upper or keep", {"upper", "keep"});
  policy.letter_case = letter_case == "keep" ? sequences::Case::keep : sequences::Case::upper;
  // The alphabet is the smallest that contains the text. The checksum verifies that the text is the
  // same; here the alphabet only determines whether control characters are symbols.
  const auto alphabet =
      sequences::parse_alphabet(members.get<std::string>("alphabet", "the name of an alphabet"));
  policy.alphabet =
      alphabet == sequences::Alphabet::bytes ? alphabet : sequences::Alphabet::automatic;
  // Files of the first version contain neither field.
  if (members.has("ambiguous")) {
    policy.ambiguity = sequences::parse_ambiguity(
        members.get<std::string>("ambiguous", "keep, unify or separate"));
  }
  if (members.has("reverse_complement")) {
    policy.reverse_complement = members.get<bool>("reverse_complement", "true or false");
  }
  return policy;
}

/// Converts little-endian integers of `width` bytes to positions. Values that do not fit in Pos
/// become its maximum, which is not a position of any text.
/// \tparam width  a compile-time constant, so that the compiler combines the bytes into one or two
///                loads
template <int width, class Pos>
void convert_positions(const char* bytes, std::size_t count, Pos* positions) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (int byte = 0; byte < width; ++byte) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[byte])} << (8 * byte);
    }
    positions[i] =
        static_cast<Pos>(std::min(value, std::uint64_t{std::numeric_limits<Pos>::max()}));
    bytes += width;
  }
}

template <class Pos>
void convert_positions(const char* bytes, std::size_t count, int width, Pos* positions) {
  if (width == 4) return convert_positions<4>(bytes, count, positions);
  if (width == 5) return convert_positions<5>(bytes, count, positions);
  convert_positions<8>(bytes, count, positions);
}

}  // namespace

SuffixArrayDescription read_suffix_array_description(const std::string& path) {
  if (path == "-") {
    throw Error(ErrorKind::usage,
                "found standard input for the suffix array, expected a file ARRAY with a "
                "description ARRAY.json");
  }
  const Members members(path + ".json");
  SuffixArrayDescription description;
  description.path = path;
  static_cast<void>(members.get<std::string>("format", "\"format\": sortie suffix array",
                                             {"sortie suffix array"}));
  static_cast<void>(members.get<int>("format_version", "\"format_version\": 1", {1}));
  description.symbols = members.get<std::uint64_t>("symbols", "a number of symbols");
  description.width_bytes =
      members.get<int>("width_bits", "\"width_bits\": 32, 40 or 64", {32, 40, 64}) / 8;
  description.policy = described_policy(members);
  if (members.has("max_context")) {
    description.max_context = members.get<std::uint64_t>("max_context", "a number of letters");
  }
  description.checksum = members.get<std::string>("checksum", "a checksum");
  if (members.has("text_checksum")) {
    description.text_checksum = members.get<std::string>("text_checksum", "a checksum of the text");
  }
  return description;
}

void require_same_text(const SuffixArrayDescription& description, const std::string& text_path,
                       const sequences::Text& text) {
  if (text.symbols.size() != description.symbols) {
    fail(description.path, fmt::format("a suffix array of {} symbols", description.symbols),
         fmt::format("{}, as {} has", text.symbols.size(), text_path));
  }
  if (description.text_checksum.empty()) return;
  const std::string sum = checksum_of(text.symbols);
  if (sum == description.text_checksum) return;
  fail(description.path,
       fmt::format("the suffix array of a text with checksum {}", description.text_checksum),
       fmt::format("{}, as {} has", sum, text_path));
}

template <suffix_array::Position Pos>
std::vector<Pos> read_suffix_array(const Context& context,
                                   const SuffixArrayDescription& description) {
  const int width = description.width_bytes;
  const std::uint64_t size = description.symbols;
  const std::string& path = description.path;
  PhaseTimer timer(context, "read array", size * static_cast<std::uint64_t>(width));
  ByteSource source(path);
  std::vector<Pos> positions;
  positions.reserve(size);
  advise_large_pages(positions.data(), size * sizeof(Pos));
  positions.resize(size);
  // The checksum is sequential and takes longer than the rest. It is computed in parallel with
  // reading the next block.
  std::array<std::vector<char>, 2> blocks;
  for (auto& block : blocks) block.resize(positions_a_block * static_cast<std::size_t>(width));
  std::future<std::uint64_t> sum = std::async(std::launch::deferred, [] { return checksum_seed; });
  std::uint64_t done = 0;
  for (std::size_t number = 0;; ++number) {
    const std::vector<char>& block = blocks[number % 2];
    const std::size_t got = source.read(blocks[number % 2]);
    const std::uint64_t count = got / static_cast<std::size_t>(width);
    if (got % static_cast<std::size_t>(width) != 0 || done + count > size) {
      fail(path,
           fmt::format("{} bytes{}", done * static_cast<std::uint64_t>(width) + got,
                       got == block.size() ? " and more" : ""),
           fmt::format("{} positions of {} bytes", size, width));
    }
    sum = std::async(std::launch::async, [&block, got, before = sum.get()] {
      return extend_checksum(before, block.data(), got);
    });
    convert_positions(block.data(), count, width, positions.data() + done);
    done += count;
    if (got < block.size()) break;
    report_progress(context, "read array", done, size);
  }
  if (done != size) {
    fail(path, fmt::format("{} positions", done), fmt::format("{}", size));
  }
  const std::string sum_text = checksum_text(sum.get());
  if (sum_text != description.checksum) {
    fail(path, fmt::format("checksum {}", sum_text),
         fmt::format("{}, as {}.json says", description.checksum, path));
  }
  const auto beyond = std::find_if(positions.begin(), positions.end(),
                                   [=](Pos position) { return position >= size; });
  if (beyond != positions.end()) {
    fail(path, fmt::format("position {} at entry {}", *beyond, beyond - positions.begin()),
         fmt::format("one below {}", size));
  }
  return positions;
}

template std::vector<std::uint32_t> read_suffix_array(const Context&,
                                                      const SuffixArrayDescription&);
template std::vector<std::uint64_t> read_suffix_array(const Context&,
                                                      const SuffixArrayDescription&);

}  // namespace sortie::cli
