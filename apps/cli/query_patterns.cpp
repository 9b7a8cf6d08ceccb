// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/query_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/byte_source.hpp"
#include "core/phase_timer.hpp"
#include "sequences/record_parser.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cli {
namespace {

void add(QueryPatterns& patterns, std::string_view letters, std::string name) {
  patterns.letters.insert(patterns.letters.end(), letters.begin(), letters.end());
  patterns.begins.push_back(patterns.letters.size());
  patterns.names.push_back(std::move(name));
}

void add_words(QueryPatterns& patterns, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.empty()) {
      throw Error(ErrorKind::usage,
                  "--pattern: found an empty pattern, expected at least one letter");
    }
    add(patterns, word, word);
  }
}

void add_lines(QueryPatterns& patterns, const std::string& file, std::string_view bytes) {
  std::uint64_t number = 0;
  while (!bytes.empty()) {
    ++number;
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) throw input_error(file, number, "an empty line", "a pattern");
    const auto control = std::find_if(line.begin(), line.end(), [](char byte) {
      return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
    });
    if (control != line.end()) {
      throw input_error(file, number, sortie::quoted(std::string_view(&*control, 1)),
                        "a pattern without control characters");
    }
    add(patterns, line, std::string(line));
  }
}

void add_records(QueryPatterns& patterns, const std::string& file, std::span<const char> bytes) {
  // Any letter is accepted: letters that do not occur in the text are simply not found.
  sequences::RecordParser parser(file, {sequences::Case::keep, sequences::Alphabet::automatic},
                                 bytes.size());
  parser.feed(bytes);
  const sequences::Text text = parser.finish();
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    const sequences::Record& record = text.records[i];
    if (record.length == 0) {
      throw input_error(file, 0, fmt::format("record {} without letters", i + 1), "a pattern");
    }
    const std::string_view name =
        std::string_view(record.name).substr(0, record.name.find_first_of(" \t"));
    add(patterns,
        {reinterpret_cast<const char*>(text.symbols.data()) + record.offset, record.length},
        name.empty() ? fmt::format("#{}", i + 1) : std::string(name));
  }
}

}  // namespace

QueryPatterns read_query_patterns(const Context& context, const std::vector<std::string>& words,
                                  const std::string& path, const TextPolicy& policy) {
  PhaseTimer timer(context, "read patterns");
  QueryPatterns patterns;
  add_words(patterns, words);
  if (!path.empty()) {
    const ByteBuffer bytes = read_all(path);
    const std::string file = path == "-" ? "<stdin>" : path;
    const std::span<const char> content = bytes.span();
    if (content.empty()) throw input_error(file, 0, "an empty file", "at least one pattern");
    if (content.front() == '>' || content.front() == '@') {
      add_records(patterns, file, content);
    } else {
      add_lines(patterns, file, {content.data(), content.size()});
    }
  }
  map_letters(policy, patterns.letters);
  timer.set_bytes(patterns.letters.size());
  return patterns;
}

void require_patterns_up_to(const QueryPatterns& patterns, std::uint64_t most_letters) {
  for (std::uint64_t i = 0; i < patterns.size(); ++i) {
    const std::uint64_t length = patterns.begins[i + 1] - patterns.begins[i];
    if (length <= most_letters) continue;
    throw Error(ErrorKind::input,
                fmt::format("pattern {}: found {} letters, expected at most {}, the --max-context "
                            "that the suffix array was built with",
                            sortie::quoted(patterns.names[i]), length, most_letters));
  }
}

}  // namespace sortie::cli
