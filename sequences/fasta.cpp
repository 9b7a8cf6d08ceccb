// SPDX-License-Identifier: Apache-2.0
#include "sortie/fasta.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/files/piece_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sequences/fasta_text.hpp"
#include "sequences/parsed_piece.hpp"
#include "sequences/record_parser.hpp"
#include "sequences/symbol_table.hpp"

namespace sortie::sequences {
namespace {

// A piece and its symbols stay in the L2 cache from reading to appending.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

// Text written at a time.
constexpr std::size_t written_bytes = std::size_t{256} << 10;

// gzip takes 2.1 bits per base of DNA and 8 to 10 bits per byte of noise. Reserved memory that is
// not touched costs nothing; reallocating the text costs a copy.
constexpr std::uint64_t usual_compression = 4;

/// One call of read_fasta().
class PieceReader {
 public:
  PieceReader(const HostContext& context, const std::string& path, const ReadOptions& options,
              std::size_t piece, int threads)
      : context_(context),
        options_(options),
        table_(options),
        memory_(HostMemoryBudget(context).left()),
        source_(path, {threads, piece, memory_}),
        pieces_(static_cast<std::size_t>(threads)) {}

  [[nodiscard]] Text read() {
    try {
      return read_once();
    } catch (const PieceSource::NotWellFormed&) {
      source_.read_in_order();
      return read_once();
    }
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] std::uint64_t expected_bytes() const {
    if (source_.held_bytes() != 0) return source_.held_bytes();
    return source_.size_hint() * (source_.compressed() ? usual_compression : 1);
  }

  Text read_once() {
    const std::uint64_t total = source_.compressed() ? 0 : source_.size_hint();
    RecordParser parser(source_.name(), options_, table_, expected_bytes(),
                        memory_ - source_.held_bytes());
    Format format = Format::unknown;
    bool ended = false;
    bytes_ = 0;
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t block) {
      if (!source_.take(worker)) return false;
      if (block == 0) format = format_of(source_.load(worker));
      return true;
    };
    steps.work = [&](int worker, std::uint64_t block) {
      ParsedPiece& piece = pieces_[static_cast<std::size_t>(worker)];
      const std::span<const char> loaded = source_.load(worker);
      if (format == Format::fasta && block != 0) return piece.parse_fasta(table_, loaded);
      if (format == Format::fastq && block != 0) return piece.parse_fastq(table_, loaded);
      piece.hold(loaded);
      // Nothing precedes the first piece, so the text takes it at once.
      if (block == 0) parser.feed(loaded);
    };
    steps.pass = [&](int worker, std::uint64_t block) {
      if (ended) return;
      ParsedPiece& piece = pieces_[static_cast<std::size_t>(worker)];
      if (block != 0) parser.join(piece);
      ended = source_.is_last(worker);
      bytes_ += piece.bytes().size();
      // Callbacks belong to the calling thread.
      if (worker == 0) report(bytes_, total);
    };
    run_blocks(source_.workers(), steps);
    report(bytes_, total);
    return parser.finish();
  }

  /// Calls the context's callback with a number that does not fall if the file is read again.
  void report(std::uint64_t bytes, std::uint64_t total) {
    reported_ = std::max(reported_, bytes);
    report_progress(context_, "read", reported_, total);
  }

  const HostContext& context_;
  ReadOptions options_;
  SymbolTable table_;
  std::uint64_t memory_;
  PieceSource source_;
  std::vector<ParsedPiece> pieces_;  ///< of the workers
  std::uint64_t bytes_ = 0;          ///< of content
  std::uint64_t reported_ = 0;
};

}  // namespace

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options) {
  return read_fasta(context, path, options, piece_bytes);
}

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options,
                std::size_t piece) {
  PhaseTimer timer(context, "read");
  PieceReader reader(context, path, options, piece, threads_of(context));
  Text text = reader.read();
  timer.set_bytes(reader.bytes());
  return text;
}

Text parse_fasta(const std::string& name, std::span<const char> content,
                 const ReadOptions& options) {
  const SymbolTable table(options);
  RecordParser parser(name, options, table, content.size(),
                      std::numeric_limits<std::uint64_t>::max());
  parser.feed(content);
  return parser.finish();
}

void write_fasta(const std::string& path, const Text& text, std::size_t width) {
  WholeFile file(path);
  std::string buffer;
  const auto flush = [&](std::size_t limit) {
    if (buffer.size() <= limit) return;
    file.write(std::string_view(buffer));
    buffer.clear();
  };
  for (const Record& record : text.records) {
    buffer.append(1, '>').append(record.name).append(1, '\n');
    const auto* symbols = reinterpret_cast<const char*>(text.symbols.data()) + record.offset;
    const std::size_t line = width == 0 ? std::max<std::size_t>(record.length, 1) : width;
    for (std::size_t begin = 0; begin < record.length; begin += line) {
      buffer.append(symbols + begin, std::min<std::size_t>(line, record.length - begin));
      buffer.append(1, '\n');
      flush(written_bytes);
    }
  }
  flush(0);
  file.commit();
}

}  // namespace sortie::sequences
