// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/suffix_array_command.hpp"
#include "apps/suffix_array/construction.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/files/whole_folder.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

/// Formats that other programs read, all numbers little-endian:
///
/// | file       | table                                  | infini-gram, version 4                   |
/// |------------|----------------------------------------|------------------------------------------|
/// | the text   | FILE: before each document ff ff and   | tokenized.0: before each document a      |
/// |            | its number from 1, 32 bits             | token of bytes ff                        |
/// | documents  | FILE.size: where each separator is, and| offset.0: where each separator is        |
/// |            | the size of FILE; 64 bits              | 64 bits                                  |
/// | positions  | FILE.table.bin: of every byte          | table.0: of every token, in bytes        |
/// | names      |                                        | metadata.0: JSON lines; metaoff.0: where |
///
/// The order is that of the bytes from the position to the end of the text. Positions have the least
/// number of bytes that is enough.
namespace sortie::cli {
namespace {

constexpr std::size_t id_bytes = 4;

int token_bytes_of(const std::string& tokens) {
  return tokens == "u8" ? 1 : tokens == "u16" ? 2 : 4;
}

std::size_t bytes_of_positions(std::uint64_t size) {
  std::size_t bytes = 1;
  while (bytes < sizeof(size) && (size - 1) >> (8 * bytes) != 0) ++bytes;
  return bytes;
}

void require_options(const SuffixArrayCommand& command) {
  const auto refuse = [&](std::string_view option) {
    throw Error(ErrorKind::usage, fmt::format("found {} with --format {}, expected it with "
                                              "--format positions",
                                              option, command.format));
  };
  if (!command.lcp.empty()) refuse("--lcp");
  if (!command.bwt.empty()) refuse("--bwt");
  if (!command.inverse.empty()) refuse("--inverse");
  if (!command.documents.empty()) refuse("--documents");
  if (command.width != "auto") refuse("--width");
  if (command.text) refuse("--text");
  if (command.max_context != 0) refuse("--max-context");
  if (command.gpus > 0) refuse("--gpus");
  if (!command.policy().is_text())
    throw Error(ErrorKind::usage, fmt::format("found --format {} with --input fasta, expected text "
                                              "or jsonl",
                                              command.format));
  if (command.output.empty() || command.output == "-")
    throw Error(ErrorKind::usage,
                fmt::format("found no -o FILE with --format {}, expected one", command.format));
}

/// A corpus with a separator before each document.
class Tables {
 public:
  Tables(Job& job, const SuffixArrayCommand& command)
      : job_(job),
        command_(command),
        is_infini_gram_(command.format == "infini-gram"),
        token_bytes_(static_cast<std::size_t>(token_bytes_of(command.tokens))) {}

  void run() {
    announce();
    read();
    if (corpus_.bytes.size() <= most_symbols(4)) {
      write<std::uint32_t>();
    } else {
      write<std::uint64_t>();
    }
    job_.summarize(command_.output, summary_);
  }

 private:
  void announce() {
    const std::string& path = command_.output;
    if (!is_infini_gram_) {
      for (const char* end : {"", ".size", ".table.bin"}) job_.announce_output(path + end);
      return;
    }
    // The engine opens a file as what the first of these names in its whole path says.
    const std::string whole = std::filesystem::absolute(path).lexically_normal().string();
    for (const char* name : {"tokenized", "table", "offset", "metadata", "metaoff", "unigram"}) {
      if (whole.find(name) == std::string::npos) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{}: found a folder with \"{}\" in its path, expected another, since "
                              "infini-gram tells its files by such names",
                              whole, name));
    }
    folder_.emplace(path);
  }

  void read() {
    texts::CorpusOptions options;
    options.format =
        command_.policy().input == InputFormat::jsonl ? texts::Format::jsonl : texts::Format::plain;
    options.field = command_.field;
    options.token_bytes = static_cast<int>(token_bytes_);
    corpus_ = texts::read_corpus(job_.host_context(), command_.inputs, options);
    const PhaseTimer timer(job_.host_context(), "prepare text", corpus_.bytes.size());
    letters_ = corpus_.bytes.size();
    if (is_infini_gram_) require_no_separators();
    separate();
    if (corpus_.bytes.empty())
      throw input_error(command_.input(), 0, "no documents", "at least one");
  }

  /// \throws Error (input) a token of bytes ff, which infini-gram takes for the end of a document
  void require_no_separators() const {
    for (std::uint64_t number = 0; number < corpus_.documents(); ++number) {
      const auto document = corpus_.document(number);
      for (std::size_t at = 0; at < document.size(); at += token_bytes_) {
        if (std::ranges::any_of(document.subspan(at, token_bytes_),
                                [](std::uint8_t byte) { return byte != 0xff; }))
          continue;
        const texts::CorpusFile& file = corpus_.files[texts::file_of(corpus_.files, number)];
        throw input_error(file.path, corpus_.lines[number],
                          fmt::format("the token 0x{:0>{}} at byte {} of the document",
                                      std::string(2 * token_bytes_, 'f'), 2 * token_bytes_, at),
                          "a smaller one, since infini-gram separates documents by it");
      }
    }
  }

  /// Moves the documents apart; `begins` are then those of their separators.
  void separate() {
    const std::size_t separator = is_infini_gram_ ? token_bytes_ : 2 + id_bytes;
    std::vector<std::uint8_t>& bytes = corpus_.bytes;
    std::vector<std::uint64_t>& begins = corpus_.begins;
    if (!is_infini_gram_ && corpus_.documents() > 0xffff'ffff)
      throw input_error(command_.input(), 0, fmt::format("{} documents", corpus_.documents()),
                        "at most 4294967295, whose numbers have 32 bits");
    bytes.resize(bytes.size() + corpus_.documents() * separator);
    for (std::uint64_t i = corpus_.documents(); i-- > 0;) {
      const std::uint64_t to = begins[i] + i * separator;
      const std::uint64_t size = begins[i + 1] - begins[i];
      if (size != 0) std::memmove(bytes.data() + to + separator, bytes.data() + begins[i], size);
      std::memset(bytes.data() + to, 0xff, separator);
      const auto id = static_cast<std::uint32_t>(i + 1);
      if (!is_infini_gram_) std::memcpy(bytes.data() + to + 2, &id, id_bytes);
    }
    for (std::uint64_t i = 0; i < begins.size(); ++i) begins[i] += i * separator;
  }

  /// Bytes between the positions of suffixes.
  [[nodiscard]] int sorted_bytes() const {
    return is_infini_gram_ ? static_cast<int>(token_bytes_) : 1;
  }

  template <class Pos>
  void write() {
    const auto algorithm = suffix_array::parse_algorithm(command_.algorithm);
    std::vector<Pos> suffixes;
    const double seconds = job_.repeated("build", [&] {
      suffixes = {};
      suffixes = suffix_array::build_tokens_by<Pos>(algorithm, job_.context(), corpus_.bytes,
                                                    sorted_bytes());
    });
    summary_ =
        fmt::format("{} documents, {} bytes\nsuffix array of {} positions in {:.3f} ms on {}",
                    corpus_.documents(), letters_, suffixes.size(), 1e3 * seconds,
                    name(job_.context().backend));
    if (command_.verify) {
      PhaseTimer timer(job_.context(), "verify");
      suffix_array::check_tokens<Pos>(job_.host_context(), corpus_.bytes, sorted_bytes(), suffixes);
      summary_ += "\nverified: every suffix is in its place";
    }
    RunReport& report = job_.report();
    report.set("algorithm", command_.algorithm);
    report.set("symbols", std::uint64_t{corpus_.bytes.size()});
    report.set("letters", letters_);
    report.set("records", corpus_.documents());
    report.set("build_seconds", seconds);
    report.set("verified", command_.verify);
    const PhaseTimer timer(job_.context(), "write");
    if (is_infini_gram_) {
      write_infini_gram<Pos>(suffixes);
    } else {
      write_table<Pos>(suffixes);
    }
  }

  template <class Pos>
  void write_table(std::span<const Pos> suffixes) const {
    WholeFile text(command_.output);
    WholeFile sizes(command_.output + ".size");
    WholeFile table(command_.output + ".table.bin");
    write_numbers<std::uint8_t>(text, corpus_.bytes, 1);
    write_numbers<std::uint64_t>(sizes, corpus_.begins, sizeof(std::uint64_t));
    write_numbers<Pos>(table, suffixes, bytes_of_positions(corpus_.bytes.size()));
    for (WholeFile* file : {&text, &sizes, &table}) file->prepare();
    for (WholeFile* file : {&text, &sizes, &table}) file->commit();
  }

  template <class Pos>
  void write_infini_gram(std::span<const Pos> suffixes) {
    const auto write_file = [&]<class Number>(const char* name, std::span<const Number> numbers,
                                              std::size_t width) {
      WholeFile file(folder_->file(name));
      write_numbers<Number>(file, numbers, width);
      file.commit();
    };
    const std::span<const std::uint64_t> begins = corpus_.begins;
    write_file("tokenized.0", std::span<const std::uint8_t>(corpus_.bytes), 1);
    write_file("offset.0", begins.first(begins.size() - 1), sizeof(std::uint64_t));
    write_file("table.0", suffixes, bytes_of_positions(corpus_.bytes.size()));
    std::vector<std::uint64_t> line_begins;
    WholeFile lines(folder_->file("metadata.0"));
    for (std::uint64_t i = 0; i < corpus_.documents(); ++i) {
      line_begins.push_back(lines.bytes_written());
      const std::uint64_t line = corpus_.lines[i];
      const nlohmann::ordered_json object = {
          {"path", corpus_.files[texts::file_of(corpus_.files, i)].path},
          {"linenum", line == 0 ? 0 : line - 1},
          {"metadata", nlohmann::ordered_json::object()}};
      lines.write(object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
      lines.write("\n");
    }
    lines.commit();
    write_file("metaoff.0", std::span<const std::uint64_t>(line_begins), sizeof(std::uint64_t));
    folder_->commit();
  }

  /// Writes numbers of `width` bytes.
  template <class Number>
  void write_numbers(WholeFile& file, std::span<const Number> numbers, std::size_t width) const {
    constexpr std::size_t block = std::size_t{1} << 17;
    const int workers = threads_of(job_.context());
    std::vector<std::vector<char>> buffers(static_cast<std::size_t>(workers));
    write_blocks(file, workers,
                 {.count = (numbers.size() + block - 1) / block,
                  .make = [&](int worker, std::uint64_t number) -> std::span<const char> {
                    const auto part = numbers.subspan(
                        number * block, std::min(block, numbers.size() - number * block));
                    if (width == sizeof(Number))
                      return {reinterpret_cast<const char*>(part.data()), part.size_bytes()};
                    std::vector<char>& buffer = buffers[static_cast<std::size_t>(worker)];
                    buffer.resize(part.size() * width);
                    for (std::size_t i = 0; i < part.size(); ++i) {
                      const std::uint64_t wide = part[i];
                      std::memcpy(buffer.data() + i * width, &wide, width);
                    }
                    return buffer;
                  }});
  }

  Job& job_;
  const SuffixArrayCommand& command_;
  bool is_infini_gram_;
  std::size_t token_bytes_;
  std::optional<WholeFolder> folder_;  ///< of infini-gram
  texts::Corpus corpus_;
  std::uint64_t letters_ = 0;  ///< bytes of documents
  std::string summary_;
};

}  // namespace

void write_index_tables(Job& job, const SuffixArrayCommand& command) {
  require_options(command);
  Tables(job, command).run();
}

}  // namespace sortie::cli
