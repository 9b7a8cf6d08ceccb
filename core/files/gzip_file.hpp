// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/files/byte_buffer.hpp"
#include "core/files/input_file.hpp"

struct libdeflate_decompressor;

/// Gzip in memory, by libdeflate, which takes well-formed files only. It says nothing of what is
/// wrong with others: these are read by make_gzip_decoder() (core/files/stream_decoder.hpp).
namespace sortie {

/// Content of the largest bgzf block.
inline constexpr std::size_t most_bgzf_content = std::size_t{64} << 10;

/// A block of a bgzf file: a gzip member whose header holds its compressed size.
struct BgzfBlock {
  std::size_t bytes = 0;    ///< compressed, with header and trailer
  std::size_t content = 0;  ///< bytes that its trailer declares, at most most_bgzf_content
};

/// The block at the start of `bytes`; nothing if there is no block, or only a part of one.
[[nodiscard]] std::optional<BgzfBlock> bgzf_block(std::span<const char> bytes);

/// Whether `bytes` start with the header of a bgzf block.
[[nodiscard]] bool starts_as_bgzf(std::span<const char> bytes);

/// Decompresses gzip members in memory. One thread at a time.
class MemberInflater {
 public:
  MemberInflater();
  ~MemberInflater();
  MemberInflater(const MemberInflater&) = delete;
  MemberInflater& operator=(const MemberInflater&) = delete;

  enum class Status { done, small_buffer, unusual };
  struct Result {
    Status status = Status::unusual;
    std::size_t taken = 0;   ///< compressed bytes of the member
    std::size_t filled = 0;  ///< bytes of its content
  };
  /// Decompresses the member at the start of `packed`, checksum and length checked. `unusual` is a
  /// member that is damaged, cut off, or has a header checksum.
  [[nodiscard]] Result inflate(std::span<const char> packed, std::span<char> into);
  /// Decompresses a block whose content has the size of `into`. Returns false if it is damaged.
  [[nodiscard]] bool inflate_block(std::span<const char> packed, std::span<char> into);

 private:
  libdeflate_decompressor* decoder_;
};

/// The whole content of a gzip file, in parallel if it is bgzf. Nothing if the file is not
/// well-formed or changes, or if the memory does not suffice; it has to be read as a stream then.
/// \param guess   estimate of the content's size; any number gives the same result
/// \param memory  bytes that the compressed and the decompressed file may take together
/// \pre file.is_regular()
/// \throws Error (input) the file cannot be read
[[nodiscard]] std::optional<ByteBuffer> inflate_gzip_file(const InputFile& file,
                                                          std::uint64_t guess, std::uint64_t memory,
                                                          int threads);

}  // namespace sortie
