// SPDX-License-Identifier: Apache-2.0
#include "texts/compressed_output.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

#if SORTIE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sortie::texts {

/// Deflate without the header and the trailer of a file.
struct PackedBlock::Deflater {
  Deflater() {
    constexpr int raw_window = -15;
    constexpr int memory_level = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw out_of_memory_error("the gzip encoder", std::size_t{1} << 18, host_memory_available());
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::span<const char> deflate_all(std::span<const char> bytes) {
    constexpr std::size_t most_at_a_time = std::size_t{1} << 30;
    constexpr std::size_t least_free = std::size_t{64} << 10;
    deflateReset(&stream);
    std::size_t filled = 0;
    for (bool is_done = false; !is_done;) {
      if (stream.avail_in == 0 && !bytes.empty()) {
        const auto part = bytes.first(std::min(bytes.size(), most_at_a_time));
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
        stream.avail_in = static_cast<uInt>(part.size());
        bytes = bytes.subspan(part.size());
      }
      if (packed.size() - filled < least_free)
        packed.resize(std::max(2 * packed.size(), least_free + filled));
      const std::size_t free = std::min(packed.size() - filled, most_at_a_time);
      stream.next_out = reinterpret_cast<Bytef*>(packed.data() + filled);
      stream.avail_out = static_cast<uInt>(free);
      deflate(&stream, bytes.empty() ? Z_SYNC_FLUSH : Z_NO_FLUSH);
      filled += free - stream.avail_out;
      is_done = bytes.empty() && stream.avail_in == 0 && stream.avail_out != 0;
    }
    return std::span(packed).first(filled);
  }

  z_stream stream = {};
  std::vector<char> packed;
};

PackedBlock::PackedBlock() = default;
PackedBlock::~PackedBlock() = default;
PackedBlock::PackedBlock(PackedBlock&&) noexcept = default;
PackedBlock& PackedBlock::operator=(PackedBlock&&) noexcept = default;

void PackedBlock::pack(Compression compression, std::span<const char> bytes) {
  content_size_ = bytes.size();
  bytes_ = bytes;
  if (compression != Compression::gzip || bytes.empty()) return;
  if (!deflater_) deflater_ = std::make_unique<Deflater>();
  checksum_ = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  bytes_ = deflater_->deflate_all(bytes);
}

#if SORTIE_HAVE_ZSTD

namespace {

/// Threads of libzstd take jobs of 8 MiB at its usual level.
constexpr std::uint64_t least_for_threads = std::uint64_t{16} << 20;

}  // namespace

struct CompressedFile::ZstdEncoder {
  ZstdEncoder(const std::string& path, int workers, std::uint64_t expected)
      : path(path), context(ZSTD_createCCtx()), buffer(ZSTD_CStreamOutSize()) {
    if (context == nullptr)
      throw out_of_memory_error("the zstd encoder", buffer.size(), host_memory_available());
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    // With any number of workers, the result is the same. A library without threads refuses it.
    if (expected >= least_for_threads)
      ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, std::max(workers, 1));
  }
  ~ZstdEncoder() { ZSTD_freeCCtx(context); }
  ZstdEncoder(const ZstdEncoder&) = delete;
  ZstdEncoder& operator=(const ZstdEncoder&) = delete;

  void encode(std::span<const char> bytes, ZSTD_EndDirective end, WholeFile& file) {
    ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer output = {buffer.data(), buffer.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context, &output, &input, end);
      if (ZSTD_isError(left) != 0)
        throw Error(ErrorKind::output,
                    fmt::format("{}: cannot be compressed: {}", path, ZSTD_getErrorName(left)));
      file.write(std::span<const char>(buffer).first(output.pos));
      if (end == ZSTD_e_end ? left == 0 : input.pos == input.size) return;
    }
  }

  std::string path;
  ZSTD_CCtx* context;
  std::vector<char> buffer;
};

#else

struct CompressedFile::ZstdEncoder {
  ZstdEncoder(const std::string& path, int, std::uint64_t) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: found zstd asked for, expected none, since this build of Sortie "
                            "has no libzstd",
                            path));
  }
};

#endif

CompressedFile::CompressedFile(const std::string& path, Compression compression, int workers,
                               std::uint64_t expected)
    : file_(path), compression_(compression) {
  using namespace std::string_view_literals;
  if (compression == Compression::zstd)
    encoder_ = std::make_unique<ZstdEncoder>(path, workers, expected);
  // No name, no time, system "unknown".
  if (compression == Compression::gzip) file_.write("\x1f\x8b\x08\0\0\0\0\0\0\xff"sv);
}

CompressedFile::~CompressedFile() = default;

void CompressedFile::append(const PackedBlock& block) {
  if (block.content_size_ == 0) return;
#if SORTIE_HAVE_ZSTD
  if (encoder_) return encoder_->encode(block.bytes_, ZSTD_e_continue, file_);
#endif
  file_.write(block.bytes_);
  if (compression_ != Compression::gzip) return;
  checksum_ = crc32_combine(checksum_, block.checksum_, static_cast<z_off_t>(block.content_size_));
  content_size_ += block.content_size_;
}

void CompressedFile::commit() {
#if SORTIE_HAVE_ZSTD
  if (encoder_) encoder_->encode({}, ZSTD_e_end, file_);
#endif
  if (compression_ == Compression::gzip) {
    std::array<char, 10> end = {3, 0};  // an empty block, which is the last
    for (std::size_t i = 0; i < 4; ++i) {
      end[2 + i] = static_cast<char>(checksum_ >> (8 * i));
      end[6 + i] = static_cast<char>(content_size_ >> (8 * i));
    }
    file_.write(end);
  }
  file_.commit();
}

}  // namespace sortie::texts
