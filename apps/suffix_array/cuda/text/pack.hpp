// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/prefix_code.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/device_suffix_array.hpp"

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

/// A text in device memory, which must outlive it, with a bit for every position that is set at
/// separators. There are no bits when there are no separators.
struct MarkedText : TextReader {
  DeviceBuffer<std::uint32_t> bits;
};
[[nodiscard]] MarkedText mark_separators(const DeviceText& text, cudaStream_t stream);

/// The code for the letters of the text whose keys have at most `bits` bits. Waits for the stream.
[[nodiscard]] PrefixCode plan_first_sort(const TextReader& text, int bits, cudaStream_t stream);

/// Writes the key and the position of every suffix, in text order.
template <class Key, Position Index>
void write_first_keys(const TextReader& text, const PrefixCode& code, Key* keys, Index* positions,
                      cudaStream_t stream);

/// A SymbolStream and its memory: bits / 8 bytes a symbol, and an eighth more when there are rare
/// letters.
struct PackedText {
  DeviceBuffer<std::uint64_t> words;
  DeviceBuffer<std::uint32_t> rare;
  DeviceBuffer<std::uint32_t> rare_blocks;
  SymbolStream stream{};
};

/// Bits of a symbol in texts that are packed by a code.
[[nodiscard]] int symbol_bits(const PrefixCode& code);

[[nodiscard]] PackedText pack_text(const TextReader& text, const PrefixCode& code,
                                   cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
