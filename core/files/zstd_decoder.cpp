// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/files/input_file.hpp"
#include "core/files/stream_decoder.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

#if SORTIE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sortie {

#if SORTIE_HAVE_ZSTD
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

/// Frames follow each other; libzstd skips skippable ones. A frame has a checksum if its writer
/// added one, which `zstd` does.
class ZstdDecoder : public StreamDecoder {
 public:
  /// Frames from an offset of a file on. \pre in_any_order()
  ZstdDecoder(InputFile& file, std::uint64_t offset)
      : file_(file),
        stream_(ZSTD_createDStream()),
        buffer_(ZSTD_DStreamInSize()),
        fetched_(offset),
        seeks_(true),
        between_frames_(offset != 0) {
    require_stream();
  }
  ZstdDecoder(InputFile& file, std::string_view head)
      : file_(file), stream_(ZSTD_createDStream()), buffer_(ZSTD_DStreamInSize()) {
    require_stream();
    std::copy(head.begin(), head.end(), buffer_.begin());
    fetched_ = head.size();
    input_ = {buffer_.data(), head.size(), 0};
  }

  std::size_t read(std::span<char> into) override {
    ZSTD_outBuffer output = {into.data(), into.size(), 0};
    while (output.pos < output.size) {
      // A frame may have ended, or its last bytes may still be in the decoder.
      if (!refill() && (between_frames_ || !held_back_)) {
        if (between_frames_) break;
        throw input_error(file_.name(), 0,
                          fmt::format("zstd stream cut off after {} bytes", fetched_),
                          "the end of its last frame");
      }
      const std::size_t before = output.pos;
      const std::size_t result = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(result) != 0)
        throw input_error(
            file_.name(), 0,
            fmt::format("damaged zstd stream at byte {} ({})",
                        fetched_ - (input_.size - input_.pos), ZSTD_getErrorName(result)),
            "valid zstd data");
      between_frames_ = result == 0;
      held_back_ = output.pos == output.size || output.pos > before;
    }
    return output.pos;
  }

 private:
  void require_stream() const {
    if (stream_ == nullptr)
      throw out_of_memory_error("the zstd decoder", buffer_.size(), host_memory_available());
  }

  /// Reads compressed bytes when the buffer is empty. Returns false at the end of the file.
  bool refill() {
    if (input_.pos < input_.size) return true;
    const std::size_t got = seeks_ ? file_.read_at(fetched_, buffer_) : file_.read(buffer_);
    fetched_ += got;
    input_ = {buffer_.data(), got, 0};
    return got > 0;
  }

  InputFile& file_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> buffer_;  ///< compressed bytes
  ZSTD_inBuffer input_ = {};  ///< those of them that are left
  std::uint64_t fetched_ = 0;
  bool seeks_ = false;
  bool between_frames_ = false;
  bool held_back_ = false;  ///< the decoder may have content that it has not returned yet
};

/// Decompresses a file of several frames, as pzstd writes them, a batch at a time: each thread takes a
/// frame, while the caller copies the batch before. Frames are found by the headers of their blocks.
/// From a frame on that is large, has no known size or is damaged, ZstdDecoder goes on.
/// Memory: up to 256 MiB of content, and 128 of the file.
class FrameDecoder : public StreamDecoder {
 public:
  /// \pre file.in_any_order()
  FrameDecoder(InputFile& file, int threads) : file_(file), threads_(threads) {}

  [[nodiscard]] bool has_several_frames() const {
    const auto first = frame_at(0);
    return first && first->packed < file_.size();
  }

  std::size_t read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      if (taken_ == now_.size && !rest_ && !take_batch())
        rest_ = std::make_unique<ZstdDecoder>(file_, offset_);
      if (rest_) return filled + rest_->read(into.subspan(filled));
      const std::size_t count = std::min(into.size() - filled, now_.size - taken_);
      std::copy_n(now_.content.get() + taken_, count, into.data() + filled);
      taken_ += count;
      filled += count;
    }
    return filled;
  }

 private:
  struct Frame {
    std::uint64_t begin = 0;
    std::uint64_t packed = 0;   ///< bytes in the file
    std::uint64_t content = 0;  ///< bytes
  };
  struct Batch {
    std::vector<Frame> frames;
    HostArray<char> content;
    std::size_t capacity = 0;
    std::size_t size = 0;               ///< bytes of content
    std::vector<char> is_done;          ///< of each frame
    std::vector<std::jthread> threads;  ///< last, so that they end first
  };
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  ///< of a frame

  /// The frame at an offset, if it is a whole one of known and moderate size.
  [[nodiscard]] std::optional<Frame> frame_at(std::uint64_t begin) const {
    std::array<unsigned char, 18> header = {};
    const auto read_at = [&](std::uint64_t offset, std::size_t size) {
      return file_.read_at(offset, {reinterpret_cast<char*>(header.data()), size});
    };
    const std::size_t got = read_at(begin, header.size());
    const unsigned long long content = ZSTD_getFrameContentSize(header.data(), got);
    const auto number_at = [&](std::size_t at, unsigned bytes) {
      std::uint64_t number = 0;
      for (unsigned i = 0; i < bytes; ++i) number |= std::uint64_t{header[at + i]} << 8 * i;
      return number;
    };
    // Skippable frames, which pzstd writes before others, are frames without content.
    if ((number_at(0, 4) & ~std::uint64_t{15}) == 0x184d2a50) {
      const std::uint64_t packed = 8 + number_at(4, 4);
      const bool is_whole = packed <= most_bytes && begin + packed <= file_.size();
      return is_whole ? std::optional(Frame{begin, packed, 0}) : std::nullopt;
    }
    if (number_at(0, 4) != 0xfd2fb528 || content > most_bytes)
      return std::nullopt;  // unknown sizes are large numbers
    // Magic number, descriptor, window, dictionary, size (RFC 8878, section 3.1.1.1).
    const unsigned descriptor = header[4];
    const bool is_single = (descriptor >> 5 & 1U) != 0;
    constexpr std::array<unsigned, 4> dictionary_bytes = {0, 1, 2, 4};
    const std::array<unsigned, 4> size_bytes = {is_single ? 1U : 0U, 2, 4, 8};
    std::uint64_t end = begin + 5 + (is_single ? 0 : 1) + dictionary_bytes[descriptor & 3U] +
                        size_bytes[descriptor >> 6];
    for (bool is_last = false; !is_last;) {
      if (read_at(end, 3) != 3) return std::nullopt;
      const std::uint64_t block = number_at(0, 3);
      is_last = (block & 1U) != 0;
      const bool is_run = (block >> 1 & 3U) == 1;
      end += 3 + (is_run ? 1 : block >> 3);
      if (end - begin > most_bytes) return std::nullopt;
    }
    end += (descriptor >> 2 & 1U) != 0 ? 4 : 0;  // checksum
    if (end > file_.size()) return std::nullopt;
    return Frame{begin, end - begin, content};
  }

  /// Takes the batch that is being decompressed, and starts the next one. Returns false if the next
  /// frame cannot be decompressed here: it is at offset_.
  bool take_batch() {
    taken_ = 0;
    if (is_first_) start_next();
    is_first_ = false;
    std::swap(now_, next_);
    next_.size = 0;
    next_.frames.clear();
    next_.is_done.clear();
    now_.threads.clear();
    const auto failed =
        static_cast<std::size_t>(std::ranges::find(now_.is_done, 0) - now_.is_done.begin());
    if (failed == now_.frames.size()) {
      if (!now_.frames.empty()) start_next();
      return !now_.frames.empty();
    }
    // The decoder that goes on says what is wrong.
    offset_ = now_.frames[failed].begin;
    now_.size = 0;
    for (std::size_t i = 0; i < failed; ++i) now_.size += now_.frames[i].content;
    return now_.size != 0;
  }

  /// Starts to decompress the frames from offset_ on.
  void start_next() {
    while (next_.size < most_bytes && next_.frames.size() < static_cast<std::size_t>(threads_)) {
      const auto frame = frame_at(offset_);
      if (!frame) break;
      next_.frames.push_back(*frame);
      offset_ += frame->packed;
      next_.size += frame->content;
    }
    if (next_.size > next_.capacity) {
      next_.content = allocate_array<char>(next_.size);
      next_.capacity = next_.size;
    }
    next_.is_done.resize(next_.frames.size());
    char* into = next_.content.get();
    for (std::size_t i = 0; i < next_.frames.size(); ++i) {
      const auto decode = [this, into, &frame = next_.frames[i], &done = next_.is_done[i]] {
        done = decode_frame(frame, into) ? 1 : 0;
      };
      into += next_.frames[i].content;
      try {
        next_.threads.emplace_back(decode);
      } catch (const std::system_error&) {
        decode();  // the system has no more threads
      }
    }
  }

  [[nodiscard]] bool decode_frame(const Frame& frame, char* into) const noexcept {
    try {
      const auto packed = std::make_unique_for_overwrite<char[]>(frame.packed);
      return file_.read_at(frame.begin, {packed.get(), frame.packed}) == frame.packed &&
             ZSTD_decompress(into, frame.content, packed.get(), frame.packed) == frame.content;
    } catch (...) {
      return false;
    }
  }

  InputFile& file_;
  int threads_;
  std::uint64_t offset_ = 0;  ///< behind the frames of both batches
  bool is_first_ = true;
  Batch now_;
  Batch next_;             ///< in work
  std::size_t taken_ = 0;  ///< bytes of `now_` that were read
  std::unique_ptr<ZstdDecoder> rest_;
};

}  // namespace

std::unique_ptr<StreamDecoder> make_zstd_decoder(InputFile& file, std::string_view head,
                                                 int threads) {
  if (threads > 1 && file.in_any_order()) {
    auto decoder = std::make_unique<FrameDecoder>(file, threads);
    if (decoder->has_several_frames()) return decoder;
  }
  return std::make_unique<ZstdDecoder>(file, head);
}

std::string zstd_version() {
  return ZSTD_versionString();
}

std::uint64_t zstd_content_size(const InputFile& file) {
  constexpr std::size_t longest_header = 18;
  std::array<char, longest_header> header = {};
  const std::size_t size = file.read_at(0, header);
  const unsigned long long declared = ZSTD_getFrameContentSize(header.data(), size);
  const bool known = declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR;
  return known ? declared : 0;
}

#else

std::unique_ptr<StreamDecoder> make_zstd_decoder(InputFile& file, std::string_view, int) {
  throw Error(ErrorKind::unavailable,
              fmt::format("{}: found zstd data, expected a plain or gzip file, since this build of "
                          "Sortie has no libzstd",
                          file.name()));
}

std::string zstd_version() {
  return "none";
}

std::uint64_t zstd_content_size(const InputFile&) {
  return 0;
}

#endif

}  // namespace sortie
