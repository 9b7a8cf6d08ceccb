// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/prefix_code.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// One bit for every position of the text, set at separators. Empty when there are none.
[[nodiscard]] DeviceBuffer<std::uint32_t> mark_separators(const DeviceText& text,
                                                          cudaStream_t stream);

/// The code for the letters of the text whose keys have at most `bits` bits. Waits for the stream.
/// \param separator_bits  result of mark_separators(), null when there are no separators
[[nodiscard]] PrefixCode plan_first_sort(const DeviceText& text,
                                         const std::uint32_t* separator_bits, int bits,
                                         cudaStream_t stream);

/// Writes the key and the position of every suffix, in text order.
/// \param keys, positions  one item for every symbol of the text
template <class Key, Position Index>
void write_first_keys(const DeviceText& text, const std::uint32_t* separator_bits,
                      const PrefixCode& code, Key* keys, Index* positions, cudaStream_t stream);

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

[[nodiscard]] PackedText pack_text(const DeviceText& text, const std::uint32_t* separator_bits,
                                   const PrefixCode& code, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
