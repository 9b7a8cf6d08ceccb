// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  ZstdDecoder(InputFile& file, std::string_view head)
      : file_(file), stream_(ZSTD_createDStream()), buffer_(ZSTD_DStreamInSize()) {
    if (stream_ == nullptr)
      throw out_of_memory_error("the zstd decoder", buffer_.size(), host_memory_available());
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
  /// Reads compressed bytes when the buffer is empty. Returns false at the end of the file.
  bool refill() {
    if (input_.pos < input_.size) return true;
    const std::size_t got = file_.read(buffer_);
    fetched_ += got;
    input_ = {buffer_.data(), got, 0};
    return got > 0;
  }

  InputFile& file_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> buffer_;  ///< compressed bytes
  ZSTD_inBuffer input_ = {};  ///< those of them that are left
  std::uint64_t fetched_ = 0;
  bool between_frames_ = false;
  bool held_back_ = false;  ///< the decoder may have content that it has not returned yet
};

}  // namespace

std::unique_ptr<StreamDecoder> make_zstd_decoder(InputFile& file, std::string_view head) {
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

std::unique_ptr<StreamDecoder> make_zstd_decoder(InputFile& file, std::string_view) {
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
