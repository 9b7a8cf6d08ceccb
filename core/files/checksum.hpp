// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Checksums of results in reports, and of arrays in files.
///
/// The checksum of an array is the XXH3 hash of 64 bits of the XXH3 hashes of its blocks, each a
/// little-endian number of 8 bytes. So the blocks are hashed on several threads, while they are
/// read or written. Source: xxHash 0.8, https://xxhash.com
namespace sortie {

/// Bytes per block; the last one may be shorter. Divisible by 1, 4, 5 and 8, so that every number
/// in a file is in one block.
inline constexpr std::size_t checksum_block_bytes = 1'310'720;

/// The definition of checksums, for the descriptions of files.
inline constexpr const char* checksum_definition =
    "64-bit XXH3 of the 64-bit XXH3, little-endian, of each block of 1310720 bytes";

/// The hash of one block.
[[nodiscard]] std::uint64_t block_checksum(std::span<const std::byte> block);

/// The checksum of an array from the hashes of its blocks.
[[nodiscard]] std::uint64_t checksum_of_blocks(std::span<const std::uint64_t> blocks);

/// A checksum in reports and descriptions: 16 hexadecimal digits.
[[nodiscard]] std::string checksum_text(std::uint64_t checksum);

/// The hashes of the blocks of `bytes`, appended to `blocks`. The last block may be short.
void append_block_checksums(int workers, std::span<const std::byte> bytes,
                            std::vector<std::uint64_t>& blocks);

/// The checksum of the elements of several arrays, one after the other. Each begins a new block.
/// \param workers  threads
template <class... Arrays>
[[nodiscard]] std::string checksum_of(int workers, const Arrays&... arrays) {
  std::vector<std::uint64_t> blocks;
  (append_block_checksums(workers, std::as_bytes(std::span(arrays)), blocks), ...);
  return checksum_text(checksum_of_blocks(blocks));
}

/// The 64-bit XXH3 hash of bytes that come in parts: as block_checksum() of all of them.
class StreamChecksum {
 public:
  StreamChecksum();
  ~StreamChecksum();
  StreamChecksum(const StreamChecksum&) = delete;
  StreamChecksum& operator=(const StreamChecksum&) = delete;

  void extend(std::span<const char> bytes);
  /// Of the bytes so far.
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Initial value of extend_fnv1a().
inline constexpr std::uint64_t fnv1a_seed = 0xcbf29ce484222325ULL;

/// Extends a 64-bit FNV-1a hash by further bytes: the checksum in files of format version 1.
[[nodiscard]] inline std::uint64_t extend_fnv1a(std::uint64_t seed, const void* data,
                                                std::size_t bytes) {
  constexpr std::uint64_t prime = 0x100000001b3ULL;
  const auto* const first = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ first[i]) * prime;
  return seed;
}

}  // namespace sortie
