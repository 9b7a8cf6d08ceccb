// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/text_index.hpp"
#include "apps/suffix_array/program_calls.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sequences/fasta_text.hpp"
#include "sortie/error.hpp"
#include "sortie/query.hpp"

namespace sortie::cli {
namespace {

using suffix_array::Occurrences;

struct QueryCommand {
  CommonOptions common;
  std::string text;
  std::string array;
  std::vector<std::string> words;
  std::string patterns;
  std::string output = "-";
  std::uint64_t max_hits = suffix_array::all_hits;
  bool count = false;
  bool verify = false;
};

/// Patterns of a query, and their names in the results.
struct QueryPatterns {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> begins = {0};
  std::vector<std::string> names;  ///< patterns before case and ambiguity; first words for FASTA

  [[nodiscard]] std::uint64_t size() const { return begins.size() - 1; }
  [[nodiscard]] suffix_array::PatternView view() const { return {letters, begins}; }
};

/// A record's name in results: its first word, or its number; for documents of texts, all of it.
std::string label_of(const sequences::Record& record, std::size_t index, bool is_text) {
  if (is_text) return record.name;
  const std::string word = record.name.substr(0, record.name.find_first_of(" \t"));
  return word.empty() ? fmt::format("#{}", index + 1) : word;
}

void add(QueryPatterns& patterns, std::string_view letters, std::string name) {
  patterns.letters.insert(patterns.letters.end(), letters.begin(), letters.end());
  patterns.begins.push_back(patterns.letters.size());
  patterns.names.push_back(std::move(name));
}

/// \param is_text  lines end at LF only, and all other bytes are part of a pattern
void add_lines(QueryPatterns& patterns, const std::string& file, std::string_view bytes,
               bool is_text) {
  std::uint64_t number = 0;
  while (!bytes.empty()) {
    ++number;
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.ends_with('\r') && !is_text) line.remove_suffix(1);
    if (line.empty()) throw input_error(file, number, "an empty line", "a pattern");
    const auto control = std::find_if(line.begin(), line.end(), [&](char byte) {
      return !is_text && (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f);
    });
    if (control != line.end())
      throw input_error(file, number, sortie::quoted(std::string_view(&*control, 1)),
                        "a pattern without control characters");
    add(patterns, line, std::string(line));
  }
}

void add_records(QueryPatterns& patterns, const std::string& file, std::span<const char> bytes) {
  // Any letter is accepted: letters that do not occur in the text are simply not found.
  const sequences::Text text =
      sequences::parse_fasta(file, bytes, {sequences::Case::keep, sequences::Alphabet::automatic});
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    const sequences::Record& record = text.records[i];
    if (record.length == 0) {
      throw input_error(file, 0, fmt::format("record {} without letters", i + 1), "a pattern");
    }
    add(patterns,
        {reinterpret_cast<const char*>(text.symbols.data()) + record.offset, record.length},
        label_of(record, i, false));
  }
}

/// Reads the patterns of the command line, in order, followed by those of a file ("": none): FASTA
/// or FASTQ records if its first byte is '>' or '@', else one pattern per line. Line ends may be LF
/// or CRLF, and the last one may be missing. For texts, the file has one pattern of any bytes on each
/// line, whatever its first byte is.
/// \param policy  policy of the text; letters are mapped in the same way
/// \throws Error (usage)  an empty pattern on the command line
/// \throws Error (input)  no pattern, an empty one, or a control character in the file
QueryPatterns read_query_patterns(const HostContext& context, const std::vector<std::string>& words,
                                  const std::string& path, const TextPolicy& policy) {
  PhaseTimer timer(context, "read patterns");
  QueryPatterns patterns;
  for (const std::string& word : words) {
    if (word.empty())
      throw Error(ErrorKind::usage,
                  "--pattern: found an empty pattern, expected at least one letter");
    add(patterns, word, word);
  }
  if (!path.empty()) {
    const ByteBuffer bytes = read_all(path, 0, threads_of(context));
    const std::string file = path == "-" ? "<stdin>" : path;
    const std::span<const char> content = bytes.span();
    if (content.empty()) throw input_error(file, 0, "an empty file", "at least one pattern");
    if (!policy.is_text() && (content.front() == '>' || content.front() == '@')) {
      add_records(patterns, file, content);
    } else {
      add_lines(patterns, file, {content.data(), content.size()}, policy.is_text());
    }
  }
  map_letters(policy, patterns.letters);
  timer.set_bytes(patterns.letters.size());
  return patterns;
}

/// Formats positions: RECORD:OFFSET if there are several records, else the offset alone.
class PlaceWriter {
 public:
  PlaceWriter(const sequences::Text& text, bool is_text) : text_(text) {
    for (std::size_t i = 0; text.records.size() > 1 && i < text.records.size(); ++i) {
      names_.push_back(label_of(text.records[i], i, is_text));
    }
  }

  void append(std::uint64_t position, fmt::memory_buffer& out) const {
    if (names_.empty()) {
      fmt::format_to(std::back_inserter(out), "{}", position);
      return;
    }
    const std::size_t record = text_.record_of(position);
    fmt::format_to(std::back_inserter(out), "{}:{}", names_[record],
                   position - text_.records[record].offset);
  }

 private:
  const sequences::Text& text_;
  std::vector<std::string> names_;
};

template <class Pos>
class Query {
 public:
  Query(Job& job, const QueryCommand& command, const SuffixArrayDescription& description,
        const IndexedText& text)
      : job_(job),
        command_(command),
        description_(description),
        text_(text),
        patterns_(read_query_patterns(job.reading_context(), command.words, command.patterns,
                                      description.policy)) {
    const std::uint64_t most_letters = description.max_context;
    for (std::uint64_t i = 0; most_letters != 0 && i < patterns_.size(); ++i) {
      const std::uint64_t length = patterns_.begins[i + 1] - patterns_.begins[i];
      if (length <= most_letters) continue;
      throw Error(
          ErrorKind::input,
          fmt::format("pattern {}: found {} letters, expected at most {}, the --max-context "
                      "that the suffix array was built with",
                      sortie::quoted(patterns_.names[i]), length, most_letters));
    }
  }

  void run() {
    suffixes_ = read_suffix_array<Pos>(job_.reading_context(), description_);
    job_.choose_backend(query_seconds(text_.text.symbols.size(), suffixes_.size() * sizeof(Pos),
                                      patterns_.letters.size(),
                                      threads_of(job_.reading_context())));
    static_cast<void>(job_.context());  // waits for the device in a phase of its own
    // Older versions wrote no checksum of the text, so the array itself has to be checked.
    if (description_.text_checksum.empty()) require_suffix_array_of_text();
    const double seconds = job_.repeated("search", [&] { search(); });
    if (command_.verify) verify();
    report(seconds);
    write();
    job_.summarize(command_.output, summary(seconds));
  }

 private:
  void require_suffix_array_of_text() const {
    PhaseTimer timer(job_.context(), "check array");
    try {
      suffix_array::check<Pos>(job_.host_context(), text_.view(), suffixes_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::check) throw;
      throw Error(ErrorKind::input, fmt::format("{} does not belong to {}: {}", description_.path,
                                                command_.text, error.what()));
    }
  }

  void search() {
    found_ = {};
    if (command_.count) {
      found_.ranges =
          suffix_array::find<Pos>(job_.context(), text_.view(), suffixes_, patterns_.view());
      found_.begins.assign(patterns_.size() + 1, 0);
    } else {
      found_ = suffix_array::locate<Pos>(job_.context(), text_.view(), suffixes_, patterns_.view(),
                                         command_.max_hits);
    }
  }

  void verify() {
    PhaseTimer timer(job_.context(), "verify");
    suffix_array::check_occurrences<Pos>(job_.context(), text_.view(), patterns_.view(), found_,
                                         command_.count ? 0 : command_.max_hits);
  }

  void report(double seconds) {
    for (const auto& range : found_.ranges) {
      occurrences_ += range.count();
      if (range.count() != 0) ++patterns_found_;
    }
    RunReport& report = job_.report();
    report.set("symbols", std::uint64_t{text_.text.symbols.size()});
    report.set("records", std::uint64_t{text_.text.records.size()});
    report.set("patterns", patterns_.size());
    report.set("patterns_found", patterns_found_);
    report.set("occurrences", occurrences_);
    report.set("positions", std::uint64_t{found_.positions.size()});
    report.set("query_seconds", seconds);
    report.set("verified", command_.verify);
  }

  void write() {
    PhaseTimer timer(job_.context(), "write");
    WholeFile file(command_.output);
    const PlaceWriter places(text_.text, description_.policy.is_text());
    const std::vector<std::uint64_t> begins = output_blocks();
    const int workers = threads_of(job_.context());
    std::vector<fmt::memory_buffer> buffers(static_cast<std::size_t>(workers));
    write_blocks(file, workers,
                 {.count = begins.size() - 1, .make = [&](int worker, std::uint64_t block) {
                    fmt::memory_buffer& lines = buffers[static_cast<std::size_t>(worker)];
                    lines.clear();
                    for (std::uint64_t i = begins[block]; i < begins[block + 1]; ++i)
                      append_line(i, places, lines);
                    return std::span<const char>(lines.data(), lines.size());
                  }});
    file.commit();
    timer.set_bytes(file.bytes_written());
  }

  /// The first pattern of each block of output, and the number of patterns: blocks of about 1 MiB.
  [[nodiscard]] std::vector<std::uint64_t> output_blocks() const {
    constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
    constexpr std::uint64_t bytes_a_position = 12;
    constexpr std::uint64_t bytes_beside = 12;  // the count, and what separates
    std::vector<std::uint64_t> begins = {0};
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < patterns_.size(); ++i) {
      bytes += patterns_.names[i].size() + bytes_beside +
               bytes_a_position * (found_.begins[i + 1] - found_.begins[i]);
      if (bytes < block_bytes && i + 1 < patterns_.size()) continue;
      begins.push_back(i + 1);
      bytes = 0;
    }
    return begins;
  }

  void append_line(std::uint64_t pattern, const PlaceWriter& places, fmt::memory_buffer& lines) {
    fmt::format_to(std::back_inserter(lines), "{}\t{}", patterns_.names[pattern],
                   found_.ranges[pattern].count());
    if (!command_.count) append_positions(pattern, places, lines);
    lines.push_back('\n');
  }

  /// Appends positions in text order. Called for different patterns at the same time.
  void append_positions(std::uint64_t pattern, const PlaceWriter& places,
                        fmt::memory_buffer& line) {
    line.push_back('\t');
    const auto all = found_.positions.begin();
    const auto begin = all + static_cast<std::ptrdiff_t>(found_.begins[pattern]);
    const auto end = all + static_cast<std::ptrdiff_t>(found_.begins[pattern + 1]);
    std::sort(begin, end);
    for (auto position = begin; position != end; ++position) {
      if (position != begin) line.push_back(',');
      places.append(*position, line);
    }
  }

  [[nodiscard]] std::string summary(double seconds) const {
    std::string text =
        fmt::format("{} of {} {} found, {} occurrences", patterns_found_, patterns_.size(),
                    patterns_.size() == 1 ? "pattern" : "patterns", occurrences_);
    if (!command_.count) text += fmt::format(", {} positions listed", found_.positions.size());
    text += fmt::format(", in {:.3f} ms on {}", 1e3 * seconds, name(job_.context().backend));
    if (command_.verify) text += "\nverified: a search of the text itself finds the same";
    return text;
  }

  Job& job_;
  const QueryCommand& command_;
  const SuffixArrayDescription& description_;
  const IndexedText& text_;
  QueryPatterns patterns_;
  std::vector<Pos> suffixes_;
  Occurrences<Pos> found_;
  std::uint64_t occurrences_ = 0;
  std::uint64_t patterns_found_ = 0;
};

void run_query(Job& job, const QueryCommand& command) {
  if (command.words.empty() && command.patterns.empty())
    throw Error(ErrorKind::usage, "found no patterns, expected --pattern or --patterns");
  if (command.text == "-" && command.patterns == "-")
    throw Error(ErrorKind::usage,
                "found standard input for the text and the patterns, expected at least one file");
  job.announce_output(command.output);
  const SuffixArrayDescription description = read_suffix_array_description(command.array);
  const IndexedText text =
      read_indexed_text(job.reading_context(), {&command.text, 1}, description.policy);
  require_same_text(job.reading_context(), description, command.text, text);
  if (smallest_width_bytes(text.text.symbols.size()) == 4) {
    Query<std::uint32_t>(job, command, description, text).run();
  } else {
    Query<std::uint64_t>(job, command, description, text).run();
  }
}

}  // namespace

Command add_query_command(CLI::App& program) {
  auto command = std::make_shared<QueryCommand>();
  CLI::App* parser = program.add_subcommand(
      "query", "Count and locate patterns with a suffix array written by suffix-array");
  parser->footer(
      "Prints one line per pattern: the pattern (for FASTA, its name), the number of occurrences\n"
      "and their 0-based positions in text order: OFFSET,OFFSET,... or RECORD:OFFSET,... if the\n"
      "text has several records. Case and ambiguous letters are treated as when ARRAY was built.");
  add_common_options(*parser, command->common);
  parser
      ->add_option("TEXT", command->text,
                   "The file that the suffix array was built from (-: standard input; several text "
                   "files: @LIST)")
      ->required();
  parser->add_option("ARRAY", command->array, "The suffix array; ARRAY.json describes it")
      ->required();
  parser->add_option("-p,--pattern", command->words, "Pattern (may be repeated)")
      ->allow_extra_args(false);
  parser->add_option(
      "-f,--patterns", command->patterns,
      "File of patterns: one per line, or, of sequences, FASTA or FASTQ; plain, gzip or zstd (-: "
      "standard input)");
  parser->add_option("-o,--output", command->output, "Write the lines to this file")
      ->capture_default_str();
  CLI::Option* count = parser->add_flag("-c,--count", command->count, "Only count the occurrences");
  parser
      ->add_option("--max-hits", command->max_hits,
                   "Maximum number of positions to list per pattern, the first in suffix array "
                   "order (default: all)")
      ->excludes(count);
  parser->add_flag("--verify", command->verify,
                   "Check the result by searching the text directly; exit 3 if wrong");
  return make_command(parser, command, run_query);
}

}  // namespace sortie::cli
