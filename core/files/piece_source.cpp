// SPDX-License-Identifier: Apache-2.0
#include "core/files/piece_source.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/files/byte_buffer.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/gzip_file.hpp"
#include "core/files/input_file.hpp"

namespace sortie {
namespace {

/// Compressed bytes of a bgzf file that are read at a time: the ratio is 3 to 5 for genomes.
constexpr std::size_t packed_per_content = 4;
/// At least one block of the greatest size.
constexpr std::size_t least_packed = std::size_t{64} << 10;

}  // namespace

/// One of the ways to read a file in pieces.
class PieceSource::Pieces {
 public:
  Pieces() = default;
  virtual ~Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  virtual bool take(std::size_t worker) = 0;
  virtual std::span<const char> load(std::size_t worker) = 0;
  [[nodiscard]] virtual bool is_last(std::size_t) const { return false; }
  [[nodiscard]] virtual bool is_stream() const { return false; }
};

/// Ranges of a plain file.
class PieceSource::FileRanges : public Pieces {
 public:
  FileRanges(const InputFile& file, const Options& options)
      : file_(file), piece_bytes_(options.piece_bytes), ranges_(count(options)) {}

  bool take(std::size_t worker) override {
    Range& range = ranges_[worker];
    range.bytes.resize(piece_bytes_);
    range.begin = next_;
    range.is_last = false;
    range.loaded = next_ >= file_.size();
    if (range.loaded) {
      // The file has grown, or this is its end.
      range.size = file_.read_at(next_, range.bytes);
    } else {
      range.size =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes_, file_.size() - next_));
    }
    next_ += range.size;
    return range.size != 0;
  }

  std::span<const char> load(std::size_t worker) override {
    Range& range = ranges_[worker];
    if (!range.loaded) {
      const std::size_t got = file_.read_at(range.begin, std::span(range.bytes).first(range.size));
      range.is_last = got < range.size;
      range.size = got;
      range.loaded = true;
    }
    return std::span(range.bytes).first(range.size);
  }

  [[nodiscard]] bool is_last(std::size_t worker) const override { return ranges_[worker].is_last; }

 private:
  struct Range {
    std::vector<char> bytes;
    std::uint64_t begin = 0;
    std::size_t size = 0;
    bool loaded = false;
    bool is_last = false;
  };

  static std::size_t count(const Options& options) {
    return static_cast<std::size_t>(options.workers);
  }

  const InputFile& file_;
  std::size_t piece_bytes_;
  std::vector<Range> ranges_;  ///< of the workers
  std::uint64_t next_ = 0;
};

/// Runs of blocks of a bgzf file.
class PieceSource::BgzfBlocks : public Pieces {
 public:
  BgzfBlocks(const InputFile& file, const Options& options)
      : file_(file), options_(options), runs_(static_cast<std::size_t>(options.workers)) {}

  bool take(std::size_t worker) override {
    Run& run = runs_[worker];
    run.packed.resize(std::max(least_packed, options_.piece_bytes / packed_per_content));
    run.packed_size = file_.read_at(next_, run.packed);
    run.content_size = 0;
    run.loaded = false;
    const auto packed = std::span<const char>(run.packed).first(run.packed_size);
    std::size_t taken = 0;
    while (taken < packed.size() && run.content_size < options_.piece_bytes) {
      const std::optional<BgzfBlock> block = bgzf_block(packed.subspan(taken));
      if (!block) break;
      taken += block->bytes;
      run.content_size += block->content;
      ended_ = block->content == 0;
    }
    // The end marker is missing, or these bytes are no whole block.
    if (packed.empty() ? !ended_ : taken == 0) throw NotWellFormed();
    run.packed_size = taken;
    next_ += taken;
    return taken != 0;
  }

  std::span<const char> load(std::size_t worker) override {
    Run& run = runs_[worker];
    if (!run.loaded) {
      if (run.content.size() < run.content_size) run.content.resize(run.content_size);
      const auto packed = std::span<const char>(run.packed).first(run.packed_size);
      char* into = run.content.data();
      for (std::size_t at = 0; at < packed.size();) {
        const BgzfBlock block = bgzf_block(packed.subspan(at)).value();
        if (!run.inflater.inflate_block(packed.subspan(at, block.bytes), {into, block.content}))
          throw NotWellFormed();
        at += block.bytes;
        into += block.content;
      }
      run.loaded = true;
    }
    return std::span(run.content).first(run.content_size);
  }

 private:
  struct Run {
    std::vector<char> packed;
    std::size_t packed_size = 0;
    std::vector<char> content;
    std::size_t content_size = 0;
    bool loaded = false;
    MemberInflater inflater;
  };

  const InputFile& file_;
  Options options_;
  std::vector<Run> runs_;  ///< of the workers
  std::uint64_t next_ = 0;
  bool ended_ = false;  ///< the last block taken is empty, as the end marker is
};

/// Ranges of a content that is in memory.
class PieceSource::MemoryRanges : public Pieces {
 public:
  MemoryRanges(ByteBuffer content, const Options& options)
      : content_(std::move(content)),
        piece_bytes_(options.piece_bytes),
        ranges_(static_cast<std::size_t>(options.workers)) {}

  bool take(std::size_t worker) override {
    const auto rest = content_.span().subspan(next_);
    ranges_[worker] = rest.first(std::min(piece_bytes_, rest.size()));
    next_ += ranges_[worker].size();
    return !ranges_[worker].empty();
  }

  std::span<const char> load(std::size_t worker) override { return ranges_[worker]; }

 private:
  ByteBuffer content_;
  std::size_t piece_bytes_;
  std::vector<std::span<const char>> ranges_;  ///< of the workers
  std::size_t next_ = 0;
};

/// A content that can only be read from front to back.
class PieceSource::Stream : public Pieces {
 public:
  Stream(ByteSource& source, const Options& options)
      : source_(source), bytes_(options.piece_bytes) {}

  bool take(std::size_t) override {
    size_ = ended_ ? 0 : source_.read(bytes_);
    ended_ = size_ < bytes_.size();
    return size_ != 0;
  }

  std::span<const char> load(std::size_t) override { return std::span(bytes_).first(size_); }

  [[nodiscard]] bool is_stream() const override { return true; }

 private:
  ByteSource& source_;
  std::vector<char> bytes_;  ///< of the piece
  std::size_t size_ = 0;
  bool ended_ = false;
};

struct PieceSource::State {
  State(const std::string& path, const Options& wanted)
      : options(wanted), source(path), pieces(choose()) {}

  std::unique_ptr<Pieces> choose() {
    const InputFile& file = source.file();
    if (!file.in_any_order() || source.encoding() == Encoding::zstd)
      return std::make_unique<Stream>(source, options);
    if (!source.compressed()) return std::make_unique<FileRanges>(file, options);
    std::vector<char> start(least_packed);
    start.resize(file.read_at(0, start));
    if (starts_as_bgzf(start)) return std::make_unique<BgzfBlocks>(file, options);
    const std::uint64_t content = source.content_size_hint();
    if (content < options.memory) {
      if (auto whole =
              inflate_gzip_file(file, content, options.memory - content, options.workers)) {
        held = whole->size;
        return std::make_unique<MemoryRanges>(std::move(*whole), options);
      }
    }
    return std::make_unique<Stream>(source, options);
  }

  Options options;
  ByteSource source;
  std::uint64_t held = 0;
  std::unique_ptr<Pieces> pieces;
};

PieceSource::PieceSource(const std::string& path, const Options& options)
    : state_(std::make_unique<State>(path, options)) {}
PieceSource::~PieceSource() = default;

const std::string& PieceSource::name() const {
  return state_->source.name();
}
std::uint64_t PieceSource::size_hint() const {
  return state_->source.size_hint();
}
bool PieceSource::compressed() const {
  return state_->source.compressed();
}
int PieceSource::workers() const {
  return state_->pieces->is_stream() ? 1 : state_->options.workers;
}
std::uint64_t PieceSource::held_bytes() const {
  return state_->held;
}

bool PieceSource::take(int worker) {
  return state_->pieces->take(static_cast<std::size_t>(worker));
}
std::span<const char> PieceSource::load(int worker) {
  return state_->pieces->load(static_cast<std::size_t>(worker));
}
bool PieceSource::is_last(int worker) const {
  return state_->pieces->is_last(static_cast<std::size_t>(worker));
}

void PieceSource::read_in_order() {
  state_->pieces = std::make_unique<Stream>(state_->source, state_->options);
}

}  // namespace sortie
