// SPDX-License-Identifier: Apache-2.0
#include "sortie/fasta.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
#include "sequences/symbol_blocks.hpp"
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

/// One call of read_fasta(), or of read_fasta_blocks().
class PieceReader {
 public:
  /// \param blocks  receives the symbols; null: `pieces`, or the text does
  PieceReader(const HostContext& context, const std::string& path, const ReadOptions& options,
              std::size_t piece, int threads, SymbolBlocks* blocks, const SymbolPieces* pieces)
      : context_(context),
        options_(options),
        table_(options),
        memory_(HostMemoryBudget(context).left()),
        blocks_(blocks),
        pieces_(pieces),
        // The content of a file is not held as a whole beside blocks, which take less.
        source_(path, {threads, piece, blocks != nullptr ? 0 : memory_}),
        workers_(static_cast<std::size_t>(threads)) {
    if (pieces == nullptr) return;
    for (Worker& worker : workers_) worker.piece.keep_last_start();
  }

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
  struct Worker {
    ParsedPiece piece;
    std::vector<std::uint8_t> symbols;            ///< of blocks to be packed, or of a piece
    std::vector<SymbolBlocks::Block*> to_blocks;  ///< for them
    bool is_apart = false;                        ///< the symbols of the piece are not in `symbols`
  };
  [[nodiscard]] Worker& state_of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }

  [[nodiscard]] std::uint64_t expected_bytes() const {
    if (blocks_ != nullptr || pieces_ != nullptr) return 0;
    if (source_.held_bytes() != 0) return source_.held_bytes();
    return source_.size_hint() * (source_.compressed() ? usual_compression : 1);
  }

  Text read_once() {
    const std::uint64_t total = source_.compressed() ? 0 : source_.size_hint();
    RecordParser parser(source_.name(), options_, table_, expected_bytes(),
                        memory_ - source_.held_bytes());
    if (blocks_ != nullptr) blocks_->start(context_, source_.name());
    if (pieces_ != nullptr) pieces_->start();
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
      ParsedPiece& piece = state_of(worker).piece;
      const std::span<const char> loaded = source_.load(worker);
      if (format == Format::fasta && block != 0) return piece.parse_fasta(table_, loaded);
      if (format == Format::fastq && block != 0) return piece.parse_fastq(table_, loaded);
      piece.hold(loaded);
      // Nothing precedes the first piece, so the text takes it at once.
      if (block == 0) parser.feed(loaded);
    };
    steps.pass = [&](int worker, std::uint64_t block) {
      Worker& state = state_of(worker);
      state.to_blocks.clear();
      state.symbols.clear();
      state.is_apart = false;
      if (ended) return;
      ParsedPiece& piece = state.piece;
      if (pieces_ != nullptr && pieces_->may_be_apart && block != 0) {
        state.is_apart = parser.join_without_symbols(piece);
      } else if (block != 0) {
        parser.join(piece);
      }
      if (blocks_ != nullptr) {
        parser.take_blocks(blocks_->block_symbols(), state.symbols);
        for (std::size_t at = 0; at < state.symbols.size(); at += blocks_->block_symbols())
          state.to_blocks.push_back(&blocks_->add());
      }
      if (pieces_ != nullptr) parser.take_symbols(pieces_->overlap, state.symbols);
      ended = source_.is_last(worker);
      bytes_ += piece.bytes().size();
      // Callbacks belong to the calling thread.
      if (worker == 0) report(bytes_, total);
    };
    steps.finish = [&](int worker, std::uint64_t) {
      if (pieces_ != nullptr) {
        Worker& state = state_of(worker);
        if (state.is_apart) pieces_->take(worker, state.piece.symbols());
        return pieces_->take(worker, state.symbols);
      }
      std::span<const std::uint8_t> symbols = state_of(worker).symbols;
      for (SymbolBlocks::Block* const block : state_of(worker).to_blocks) {
        blocks_->store(*block, symbols.first(blocks_->block_symbols()));
        symbols = symbols.subspan(blocks_->block_symbols());
      }
    };
    run_blocks(source_.workers(), steps);
    report(bytes_, total);
    Text text = parser.finish();
    if (blocks_ != nullptr) blocks_->append(std::exchange(text.symbols, {}));
    return text;
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
  SymbolBlocks* blocks_;
  const SymbolPieces* pieces_;
  PieceSource source_;
  std::vector<Worker> workers_;
  std::uint64_t bytes_ = 0;  ///< of content
  std::uint64_t reported_ = 0;
};

Text read(const HostContext& context, const std::string& path, const ReadOptions& options,
          std::size_t piece, SymbolBlocks* blocks) {
  PhaseTimer timer(context, "read");
  PieceReader reader(context, path, options, piece, threads_of(context), blocks, nullptr);
  Text text = reader.read();
  timer.set_bytes(reader.bytes());
  return text;
}

}  // namespace

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options) {
  return read(context, path, options, piece_bytes, nullptr);
}

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options,
                std::size_t piece) {
  return read(context, path, options, piece, nullptr);
}

std::vector<Record> read_fasta_blocks(const HostContext& context, const std::string& path,
                                      const ReadOptions& options, SymbolBlocks& blocks) {
  return read_fasta_blocks(context, path, options, blocks, piece_bytes);
}

std::vector<Record> read_fasta_blocks(const HostContext& context, const std::string& path,
                                      const ReadOptions& options, SymbolBlocks& blocks,
                                      std::size_t piece) {
  return read(context, path, options, piece, &blocks).records;
}

std::uint64_t read_symbol_pieces(const HostContext& context, const std::string& path,
                                 const ReadOptions& options, const SymbolPieces& pieces,
                                 std::size_t piece) {
  PieceReader reader(context, path, options, piece, threads_of(context), nullptr, &pieces);
  static_cast<void>(reader.read());
  return reader.bytes();
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
