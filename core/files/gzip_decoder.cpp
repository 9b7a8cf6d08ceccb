// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/files/input_file.hpp"
#include "core/files/stream_decoder.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie {
namespace {

/// Compressed bytes read at a time: enough to make the cost of the system call negligible beside
/// inflate, few enough to stay in the L2 cache.
constexpr std::size_t compressed_chunk = std::size_t{256} << 10;

constexpr Bytef first_byte_of_a_member = 0x1f;

class GzipDecoder : public StreamDecoder {
 public:
  GzipDecoder(InputFile& file, std::string_view head) : file_(file) {
    constexpr int gzip_window = 15 + 16;  // largest window, gzip wrapper only
    if (inflateInit2(&stream_, gzip_window) != Z_OK)
      throw out_of_memory_error("the gzip decoder", compressed_chunk, host_memory_available());
    buffer_.resize(compressed_chunk);
    std::copy(head.begin(), head.end(), buffer_.begin());
    fetched_ = head.size();
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(head.size());
    first_header_.extra = extra_field_.data();
    first_header_.extra_max = static_cast<uInt>(extra_field_.size());
    inflateGetHeader(&stream_, &first_header_);
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  std::size_t read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size() && !finished_) {
      if (!refill()) {
        throw input_error(file_.name(), 0,
                          fmt::format("gzip stream cut off after {} bytes", fetched_),
                          "its end with checksum and length");
      }
      const std::size_t wanted =
          std::min<std::size_t>(into.size() - filled, std::numeric_limits<uInt>::max());
      stream_.next_out = reinterpret_cast<Bytef*>(into.data() + filled);
      stream_.avail_out = static_cast<uInt>(wanted);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t got = wanted - stream_.avail_out;
      filled += got;
      member_size_ += got;
      if (status == Z_STREAM_END) {
        end_member();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw damaged(stream_.msg != nullptr ? stream_.msg : "unreadable");
      }
    }
    return filled;
  }

 private:
  /// Reads compressed bytes when the buffer is empty. Returns false at the end of the file.
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const std::size_t got = file_.read(buffer_);
    fetched_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  [[nodiscard]] Error damaged(std::string_view why) const {
    return input_error(
        file_.name(), 0,
        fmt::format("damaged gzip stream at byte {} ({})", fetched_ - stream_.avail_in, why),
        "valid deflate data");
  }

  /// True if only zero bytes follow: padding of tapes and blocks, which gzip accepts as well.
  bool only_zeros_left() {
    while (refill()) {
      const auto* const end = stream_.next_in + stream_.avail_in;
      const auto* const other = std::find_if(stream_.next_in, stream_.next_in + stream_.avail_in,
                                             [](Bytef b) { return b != 0; });
      stream_.avail_in = static_cast<uInt>(end - other);
      if (other != end) return false;
    }
    return true;
  }

  /// Handles the bytes after a complete member: another member, zero padding or the end of the file.
  void end_member() {
    const bool last_was_empty = member_size_ == 0;
    // The extra field "BC" (which holds the block size) identifies bgzf.
    if (first_header_.done == 1 && first_header_.extra_len >= 2)
      blocked_ = extra_field_[0] == 'B' && extra_field_[1] == 'C';
    member_size_ = 0;
    if (!refill() || *stream_.next_in == 0) {
      if (!only_zeros_left()) throw damaged("data after the zero padding");
      // A bgzf file truncated between two blocks is valid gzip. Only the missing end marker shows it.
      if (blocked_ && !last_was_empty)
        throw input_error(file_.name(), 0,
                          fmt::format("bgzf stream cut off after {} bytes", fetched_),
                          "its end marker, an empty block");
      finished_ = true;
      return;
    }
    if (*stream_.next_in != first_byte_of_a_member)
      throw damaged("trailing bytes that are not gzip");
    inflateReset(&stream_);
  }

  InputFile& file_;
  z_stream stream_ = {};
  std::vector<char> buffer_;       ///< compressed bytes; stream_.next_in points into it
  std::uint64_t fetched_ = 0;      ///< compressed bytes read from the file
  std::uint64_t member_size_ = 0;  ///< bytes decompressed from the current member
  bool finished_ = false;
  gz_header first_header_ = {};  ///< its extra field identifies bgzf
  std::array<unsigned char, 64> extra_field_ = {};
  bool blocked_ = false;  ///< the file is bgzf, which ends with an empty member
};

}  // namespace

std::unique_ptr<StreamDecoder> make_gzip_decoder(InputFile& file, std::string_view head) {
  return std::make_unique<GzipDecoder>(file, head);
}

}  // namespace sortie
