// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sortie::genomes {

/// Numbers of `bits` bits each, the first in the lowest bits of the first byte: eight of them begin
/// and end with a byte.
class PackedNumbers {
 public:
  /// \param bits   1 to 64
  /// \param count  most numbers that are appended
  PackedNumbers(int bits, std::uint64_t count)
      : bits_(static_cast<unsigned>(bits)), bytes_(bytes_of(bits, count) + sizeof(std::uint64_t)) {}

  /// \pre number < 2^bits
  void append(std::uint64_t number) {
    word_ |= number << filled_;
    filled_ += bits_;
    if (filled_ < 64) return;
    store();
    size_ += sizeof word_;
    filled_ -= 64;
    // A shift by 64 bits, of a number that ended with the word, is not defined.
    word_ = filled_ == 0 ? 0 : number >> (bits_ - filled_);
  }

  /// All bytes; the last one may be a part of a number's. Nothing can be appended later.
  [[nodiscard]] const std::vector<char>& finish() {
    store();
    bytes_.resize(size_ + (filled_ + 7) / 8);
    return bytes_;
  }

  [[nodiscard]] static std::uint64_t bytes_of(int bits, std::uint64_t count) {
    return (count * static_cast<std::uint64_t>(bits) + 7) / 8;
  }

 private:
  void store() {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(bytes_.data() + size_, &word_, sizeof word_);
  }

  unsigned bits_;
  std::uint64_t word_ = 0;
  unsigned filled_ = 0;
  std::vector<char> bytes_;
  std::size_t size_ = 0;  ///< of whole words
};

}  // namespace sortie::genomes
