// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sortie::suffix_array::cuda {

/// The bytes of a text in device memory, and the separators among them.
struct TextReader {
  const std::uint8_t* symbols;
  const std::uint32_t* separator_bits;  ///< null when there are no separators
  std::uint64_t size;

  /// True for a letter: within the text and no separator.
  __host__ __device__ bool is_letter(std::uint64_t position) const {
    return position < size && (separator_bits == nullptr ||
                               (separator_bits[position / 32] >> (position % 32) & 1U) == 0);
  }
};

/// 16 consecutive symbols from a position that is a multiple of 16, in registers; read as one word
/// if the text's address is aligned.
class TextChunk {
 public:
  static constexpr int symbols = 16;

  __device__ TextChunk(const TextReader& text, std::uint64_t position) {
    const std::uint64_t left = position < text.size ? text.size - position : 0;
    const std::uint8_t* from = text.symbols + position;
    if (left >= symbols && reinterpret_cast<std::uintptr_t>(text.symbols) % symbols == 0) {
      const uint4 read = *reinterpret_cast<const uint4*>(from);
      words_[0] = read.x;
      words_[1] = read.y;
      words_[2] = read.z;
      words_[3] = read.w;
    } else {
#pragma unroll
      for (int i = 0; i < symbols; ++i) {
        const std::uint32_t byte = static_cast<std::uint64_t>(i) < left ? from[i] : 0U;
        words_[i / 4] = (i % 4 == 0 ? 0U : words_[i / 4]) | byte << (8 * (i % 4));
      }
    }
    letters_ = left >= symbols ? 0xffffU : (1U << left) - 1;
    if (text.separator_bits != nullptr && left != 0) {
      letters_ &= ~(text.separator_bits[position / 32] >> (position % 32));
    }
  }

  /// Byte i; 0 beyond the text. \p i must be a constant after unrolling, to stay in registers.
  __device__ unsigned byte(int i) const {
    return words_[i / 4] >> (8 * (i % 4)) & 0xffU;
  }
  __device__ bool is_letter(int i) const {
    return (letters_ >> i & 1U) != 0;
  }

 private:
  std::uint32_t words_[4];
  std::uint32_t letters_;  ///< a bit for each symbol, set for letters
};

}  // namespace sortie::suffix_array::cuda
