// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/text_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/cli/command.hpp"
#include "apps/suffix_array/file_bytes.hpp"
#include "core/decimal_text.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/checksum.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sequences/fasta_text.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;
using sequences::Alphabet;
using sequences::Ambiguity;

/// Version 1 has FNV-1a checksums, of the whole array; version 2 those of core/files/checksum.hpp.
constexpr int format_version = 2;

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
                true},
    ArrayFormat{"sortie suffix array of tokens", "positions", "order",
                "suffixes by the values of their tokens up to the end of the file, a suffix before "
                "its extensions; positions are numbers of tokens from 0",
                false}};

/// In the order of InputFormat.
constexpr std::array<std::string_view, 3> input_formats = {"fasta", "text", "jsonl"};

}  // namespace

InputFormat parse_input_format(std::string_view text) {
  const auto found = std::ranges::find(input_formats, text);
  if (found == input_formats.end())
    throw Error(ErrorKind::usage, fmt::format("input: found {}, expected fasta, text or jsonl",
                                              sortie::quoted(text)));
  return static_cast<InputFormat>(found - input_formats.begin());
}

std::string described_array(ArrayKind kind, std::uint64_t count, int width_bytes,
                            const SuffixArraySource& source, std::optional<std::uint64_t> primary,
                            const std::string& checksum) {
  const ArrayFormat& format = formats.at(static_cast<std::size_t>(kind));
  const sequences::Text& text = source.text->text;
  Json description = {
      {"format", format.name},
      {"format_version", format_version},
      {"written_by", program_version()},
      {"input", source.input},
      {"symbols", source.text->symbols()},
      {"letters", source.text->letters()},
      {"alphabet", sequences::name(source.text->alphabet)},
      {"case", source.policy.letter_case == sequences::Case::upper ? "upper" : "keep"},
      {"ambiguous", sequences::name(source.policy.ambiguity)},
      {"reverse_complement", source.policy.reverse_complement},
      {"separator", sequences::Text::separator},
      {"text_checksum", source.text_checksum}};
  if (source.policy.is_text())
    description["input_format"] = input_formats.at(static_cast<std::size_t>(source.policy.input));
  if (source.token_bits != 0) description["token_bits"] = source.token_bits;
  if (source.policy.input == InputFormat::jsonl) description["field"] = source.policy.field;
  if (source.max_context != 0) description["max_context"] = source.max_context;
  description[format.count] = count;
  if (width_bytes > 1) {
    description["width_bits"] = 8 * width_bytes;
    description["byte_order"] = "little";
  }
  if (primary) description["primary"] = *primary;
  description[format.meaning_key] = format.meaning;
  description["checksum_of"] = fmt::format(
      "the {} as written, {}", width_bytes > 1 ? format.count : "bytes", checksum_definition);
  if (format.with_records) {
    Json& records = description["records"] = Json::array();
    for (const sequences::Record& record : text.records) {
      records.push_back(
          {{"name", record.name}, {"offset", record.offset}, {"length", record.length}});
    }
  }
  description["checksum"] = checksum;
  // Record names may contain bytes that are not UTF-8. They are replaced instead of rejected.
  return description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

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
    auto value = get<Value>(key, expected);
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
  if (letter_case == "keep") policy.letter_case = sequences::Case::keep;
  // The alphabet is the smallest that contains the text. The checksum verifies that the text is the
  // same; here the alphabet only determines whether control characters are symbols.
  const auto alphabet =
      sequences::parse_alphabet(members.get<std::string>("alphabet", "the name of an alphabet"));
  if (alphabet == Alphabet::bytes) policy.alphabet = alphabet;
  // Files of the first version contain neither field.
  if (members.has("ambiguous")) {
    policy.ambiguity = sequences::parse_ambiguity(
        members.get<std::string>("ambiguous", "keep, unify or separate"));
  }
  if (members.has("reverse_complement")) {
    policy.reverse_complement = members.get<bool>("reverse_complement", "true or false");
  }
  if (members.has("input_format")) {
    policy.input = parse_input_format(members.get<std::string>(
        "input_format", "\"input_format\": fasta, text or jsonl", {"fasta", "text", "jsonl"}));
  }
  if (members.has("field")) policy.field = members.get<std::string>("field", "the name of a field");
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
void convert_positions(const char* bytes, std::size_t count, std::size_t width, Pos* positions) {
  if (width == 4) return convert_positions<4>(bytes, count, positions);
  if (width == 5) return convert_positions<5>(bytes, count, positions);
  convert_positions<8>(bytes, count, positions);
}

}  // namespace

namespace {

/// Applies the policy to a text in memory.
void apply_policy(const TextPolicy& policy, IndexedText& result) {
  sequences::Text& text = result.text;
  // Reverse complements first: they are defined for letters, not for separators.
  if (policy.reverse_complement) sequences::append_reverse_complements(text);
  if (policy.ambiguity == Ambiguity::unify) sequences::unify_ambiguous(text.symbols);
  result.separators = policy.ambiguity == Ambiguity::separate ? sequences::separate_ambiguous(text)
                                                              : text.separators();
}

/// The same to packed symbols.
void apply_policy(const TextPolicy& policy, int threads, IndexedText& result,
                  sequences::SymbolBlocks& blocks) {
  if (policy.reverse_complement) sequences::append_reverse_complements(result.text.records, blocks);
  blocks.seal();
  if (policy.ambiguity != Ambiguity::keep) {
    std::array<std::uint8_t, 256> by{};
    std::iota(by.begin(), by.end(), std::uint8_t{0});
    sequences::unify_ambiguous(by);
    if (policy.ambiguity == Ambiguity::separate)
      std::ranges::replace_if(
          by, [](auto symbol) { return !sequences::is_base(symbol); }, sequences::Text::separator);
    blocks.replace(by);
  }
  result.separators = blocks.positions(threads, sequences::Text::separator);
  result.released = blocks.size();
}

/// Puts a separator behind each document but the last, which is found by its position only, since
/// documents have all bytes.
IndexedText read_documents(const HostContext& context, std::span<const std::string> paths,
                           const TextPolicy& policy) {
  texts::CorpusOptions options;
  options.format = policy.input == InputFormat::jsonl ? texts::Format::jsonl : texts::Format::plain;
  options.field = policy.field;
  texts::Corpus corpus = texts::read_corpus(context, paths, options);
  const PhaseTimer preparing(context, "prepare text", corpus.bytes.size());
  IndexedText result;
  result.alphabet = Alphabet::bytes;
  std::vector<std::uint8_t>& symbols = result.text.symbols;
  symbols = std::move(corpus.bytes);
  const std::uint64_t documents = corpus.documents();
  symbols.resize(symbols.size() + documents - std::min<std::uint64_t>(documents, 1));
  result.text.records.resize(documents);
  std::size_t file = corpus.files.size();
  for (std::uint64_t i = documents; i-- > 0;) {
    while (file == corpus.files.size() || corpus.files[file].first_document > i) --file;
    sequences::Record& record = result.text.records[i];
    record.offset = corpus.begins[i] + i;
    record.length = corpus.begins[i + 1] - corpus.begins[i];
    record.name = corpus.files[file].path;
    if (corpus.lines[i] != 0) record.name += fmt::format(":{}", corpus.lines[i]);
    if (record.length != 0)
      std::memmove(symbols.data() + record.offset, symbols.data() + corpus.begins[i],
                   record.length);
    if (i != 0) symbols[record.offset - 1] = sequences::Text::separator;
  }
  result.separators = result.text.separators();
  return result;
}

}  // namespace

IndexedText read_indexed_text(const HostContext& context, std::span<const std::string> paths,
                              const TextPolicy& policy, sequences::SymbolBlocks* blocks) {
  if (!policy.is_text() && paths.size() != 1)
    throw Error(ErrorKind::usage,
                fmt::format("found {} input files, expected one; --input text and --input jsonl "
                            "take several",
                            paths.size()));
  const std::string& path = paths.front();
  IndexedText result;
  sequences::Text& text = result.text;
  HostContext reading = context;
  reading.memory_budget = 0;  // --max-memory is of the work space of the command's algorithm
  if (policy.is_text()) return read_documents(reading, paths, policy);
  const sequences::ReadOptions options{policy.letter_case, policy.alphabet};
  if (blocks == nullptr) {
    text = sequences::read_fasta(reading, path, options);
  } else {
    text.records = sequences::read_fasta_blocks(reading, path, options, *blocks);
  }
  const PhaseTimer preparing(context, "prepare text",
                             blocks == nullptr ? text.symbols.size() : blocks->size());
  if (blocks == nullptr) {
    result.alphabet = sequences::detect_alphabet(text, threads_of(context));
  } else {
    sequences::SymbolCounts counts = blocks->counts();
    counts[sequences::Text::separator] = 0;
    result.alphabet = sequences::alphabet_of(counts);
  }
  const bool nucleotides =
      result.alphabet != Alphabet::protein && result.alphabet != Alphabet::bytes;
  if (!nucleotides && (policy.ambiguity != Ambiguity::keep || policy.reverse_complement)) {
    throw Error(ErrorKind::input,
                fmt::format("{}: found {} symbols, expected nucleotides, which --ambiguous and "
                            "--reverse-complement require",
                            path == "-" ? "<stdin>" : path, sequences::name(result.alphabet)));
  }
  if (blocks == nullptr) {
    apply_policy(policy, result);
  } else {
    apply_policy(policy, threads_of(context), result, *blocks);
  }
  return result;
}

void map_letters(const TextPolicy& policy, std::span<std::uint8_t> letters) {
  if (policy.letter_case == sequences::Case::upper) {
    for (std::uint8_t& letter : letters) {
      if (letter >= 'a' && letter <= 'z') letter = static_cast<std::uint8_t>(letter - 'a' + 'A');
    }
  }
  if (policy.ambiguity == Ambiguity::unify) sequences::unify_ambiguous(letters);
}

std::uint64_t most_symbols(int width_bytes) {
  return (~std::uint64_t{0} >> (64 - 8 * width_bytes)) - 1;
}

int smallest_width_bytes(std::uint64_t symbols) {
  return symbols < std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

template <class Number>
std::string write_array(const HostContext& context, const std::string& path, ArrayKind kind,
                        const ArrivingArray<Number>& array, int width_bytes,
                        const SuffixArraySource& source, std::optional<std::uint64_t> primary) {
  WholeFile file(path);
  std::optional<WholeFile> sidecar;
  if (!is_stream(path)) sidecar.emplace(path + ".json");
  const auto width = static_cast<std::size_t>(width_bytes);
  const std::size_t items_a_block = checksum_block_bytes / width;
  std::vector<std::uint64_t> sums((array.size() + items_a_block - 1) / items_a_block);
  const int workers = threads_of(context);
  std::vector<std::vector<char>> buffers(workers);
  write_blocks(file, workers, {.count = sums.size(), .make = [&](int worker, std::uint64_t block) {
                                 const std::size_t begin = block * items_a_block;
                                 const std::size_t count =
                                     std::min(items_a_block, array.size() - begin);
                                 array.await(begin + count);
                                 const auto bytes = suffix_array::file_bytes(
                                     array.items().subspan(begin, count), width, buffers[worker]);
                                 sums[block] = block_checksum(std::as_bytes(bytes));
                                 return bytes;
                               }});
  const std::string sum = checksum_text(checksum_of_blocks(sums));
  if (sidecar) {
    sidecar->write(described_array(kind, array.size(), width_bytes, source, primary, sum));
  }
  // A full disk keeps both of the older files, if there are some. The
  // bytes come first: a process that is killed later may leave temporary files with names.
  if (sidecar) sidecar->flush();
  file.prepare();
  if (sidecar) sidecar->prepare();
  file.commit();
  try {
    if (sidecar) sidecar->commit();
  } catch (const Error&) {
    // An array without its description is useless.
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    throw;
  }
  return sum;
}

template <class Number>
void write_array_text(const HostContext& context, const std::string& path,
                      const ArrivingArray<Number>& array) {
  constexpr std::size_t lines_a_block = std::size_t{1} << 16;
  constexpr std::size_t longest_line = std::numeric_limits<Number>::digits10 + 2;
  constexpr std::size_t block_bytes = lines_a_block * longest_line + decimal_text_room;
  WholeFile file(path);
  const int workers = threads_of(context);
  std::vector<std::unique_ptr<char[]>> buffers(workers);
  const auto make = [&](int worker, std::uint64_t block) -> std::span<const char> {
    std::unique_ptr<char[]>& buffer = buffers[worker];
    if (!buffer) buffer = std::make_unique_for_overwrite<char[]>(block_bytes);
    const std::size_t begin = block * lines_a_block;
    const std::size_t end = std::min(begin + lines_a_block, array.size());
    array.await(end);
    char* at = buffer.get();
    for (const Number number : array.items().subspan(begin, end - begin)) {
      at = put_decimal(at, std::uint64_t{number});
      *at++ = '\n';
    }
    return {buffer.get(), at};
  };
  write_blocks(file, workers,
               {.count = (array.size() + lines_a_block - 1) / lines_a_block, .make = make});
  file.commit();
}

#define INSTANTIATE(Number)                                                                     \
  template std::string write_array(const HostContext&, const std::string&, ArrayKind,           \
                                   const ArrivingArray<Number>&, int, const SuffixArraySource&, \
                                   std::optional<std::uint64_t>);                               \
  template void write_array_text(const HostContext&, const std::string&,                        \
                                 const ArrivingArray<Number>&);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

SuffixArrayDescription read_suffix_array_description(const std::string& path) {
  if (path == "-")
    throw Error(ErrorKind::usage,
                "found standard input for the suffix array, expected a file ARRAY with a "
                "description ARRAY.json");
  const Members members(path + ".json");
  SuffixArrayDescription description;
  description.path = path;
  static_cast<void>(members.get<std::string>("format", "\"format\": sortie suffix array",
                                             {"sortie suffix array"}));
  description.format_version =
      members.get<int>("format_version", "\"format_version\": 1 or 2", {1, 2});
  description.symbols = members.get<std::uint64_t>("symbols", "a number of symbols");
  description.width_bytes =
      members.get<int>("width_bits", "\"width_bits\": 32, 40 or 64", {32, 40, 64}) / 8;
  description.policy = described_policy(members);
  if (description.policy.is_text())
    description.letters = members.get<std::uint64_t>("letters", "a number of letters");
  if (members.has("max_context")) {
    description.max_context = members.get<std::uint64_t>("max_context", "a number of letters");
  }
  description.checksum = members.get<std::string>("checksum", "a checksum");
  if (members.has("text_checksum")) {
    description.text_checksum = members.get<std::string>("text_checksum", "a checksum of the text");
  }
  return description;
}

void require_same_text(const HostContext& context, const SuffixArrayDescription& description,
                       const std::string& text_path, const IndexedText& indexed) {
  const sequences::Text& text = indexed.text;
  const PhaseTimer timer(context, "check text", text.symbols.size());
  if (text.symbols.size() != description.symbols) {
    fail(description.path, fmt::format("a suffix array of {} symbols", description.symbols),
         fmt::format("{}, as {} has", text.symbols.size(), text_path));
  }
  // The bytes alone do not tell separators from bytes of documents.
  if (description.policy.is_text() && indexed.letters() != description.letters) {
    fail(description.path, fmt::format("a suffix array of {} letters", description.letters),
         fmt::format("{}, as {} has", indexed.letters(), text_path));
  }
  if (description.text_checksum.empty()) return;
  const std::string sum =
      description.format_version == 1
          ? checksum_text(extend_fnv1a(fnv1a_seed, text.symbols.data(), text.symbols.size()))
          : checksum_of(threads_of(context), text.symbols);
  if (sum == description.text_checksum) return;
  fail(description.path,
       fmt::format("the suffix array of a text with checksum {}", description.text_checksum),
       fmt::format("{}, as {} has", sum, text_path));
}

template <suffix_array::Position Pos>
std::vector<Pos> read_suffix_array(const HostContext& context,
                                   const SuffixArrayDescription& description) {
  const std::size_t width = static_cast<std::size_t>(description.width_bytes);
  const std::uint64_t size = description.symbols;
  const std::string& path = description.path;
  PhaseTimer timer(context, "read array", size * width);
  ByteSource source(path);
  std::vector<Pos> positions;
  positions.reserve(size);
  advise_large_pages(positions.data(), size * sizeof(Pos));
  positions.resize(size);
  // The checksum of version 1 is sequential.
  const bool is_version_1 = description.format_version == 1;
  const std::size_t positions_a_block = checksum_block_bytes / width;
  struct Block {
    std::vector<char> bytes = std::vector<char>(checksum_block_bytes);
    std::size_t size = 0;
    std::uint64_t checksum = 0;
    std::uint64_t beyond =
        0;  ///< first entry that is not a position of the text; `size` if all are
  };
  std::vector<Block> blocks(threads_of(context));
  std::vector<std::uint64_t> block_checksums;
  std::uint64_t version_1_checksum = fnv1a_seed;
  std::uint64_t beyond = size;
  bool ended = false;
  const auto take = [&](int worker, std::uint64_t number) {
    if (ended) return false;
    Block& block = blocks[worker];
    block.size = source.read(block.bytes);
    ended = block.size < block.bytes.size();
    const std::uint64_t before = number * positions_a_block;
    const std::uint64_t after = before + block.size / width;
    if (block.size % width != 0 || after > size) {
      fail(path, fmt::format("{} bytes{}", before * width + block.size, ended ? "" : " and more"),
           fmt::format("{} positions of {} bytes", size, width));
    }
    if (ended && after != size)
      fail(path, fmt::format("{} positions", after), fmt::format("{}", size));
    if (worker == 0) report_progress(context, "read array", before, size);
    return block.size != 0;
  };
  const auto convert_and_check = [&](int worker, std::uint64_t number) {
    Block& block = blocks[worker];
    const std::uint64_t first = number * positions_a_block;
    const std::span<Pos> converted(positions.data() + first, block.size / width);
    convert_positions(block.bytes.data(), converted.size(), width, converted.data());
    const auto found = std::ranges::find_if(
        converted, [=](Pos position) { return std::uint64_t{position} >= size; });
    block.beyond = found == converted.end() ? size : first + (found - converted.begin());
    if (!is_version_1)
      block.checksum = block_checksum(std::as_bytes(std::span(block.bytes).first(block.size)));
  };
  const auto collect = [&](int worker, std::uint64_t) {
    const Block& block = blocks[worker];
    beyond = std::min(beyond, block.beyond);
    if (is_version_1) {
      version_1_checksum = extend_fnv1a(version_1_checksum, block.bytes.data(), block.size);
    } else {
      block_checksums.push_back(block.checksum);
    }
  };
  run_blocks(static_cast<int>(blocks.size()),
             {.take = take, .work = convert_and_check, .pass = collect, .finish = {}});
  report_progress(context, "read array", size, size);
  const std::string checksum =
      checksum_text(is_version_1 ? version_1_checksum : checksum_of_blocks(block_checksums));
  if (checksum != description.checksum) {
    fail(path, fmt::format("checksum {}", checksum),
         fmt::format("{}, as {}.json says", description.checksum, path));
  }
  if (beyond != size) {
    fail(path, fmt::format("position {} at entry {}", positions[beyond], beyond),
         fmt::format("one below {}", size));
  }
  return positions;
}

template std::vector<std::uint32_t> read_suffix_array(const HostContext&,
                                                      const SuffixArrayDescription&);
template std::vector<std::uint64_t> read_suffix_array(const HostContext&,
                                                      const SuffixArrayDescription&);

}  // namespace sortie::cli
