// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/prefix_code.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "apps/suffix_array/part_builder.hpp"
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
/// \param first  that position of the text is the first of `text.symbols`
[[nodiscard]] MarkedText mark_separators(const DeviceText& text, cudaStream_t stream,
                                         std::uint64_t first = 0);

/// The letters of a text. Waits for the stream.
[[nodiscard]] LetterSet find_letters(const TextReader& text, cudaStream_t stream);

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

/// Symbols that are packed together, into whole words.
inline constexpr std::uint64_t packed_block = SymbolStream::rare_block;

/// Bits of a symbol in texts that are packed by a code.
[[nodiscard]] int symbol_bits(const PrefixCode& code);

[[nodiscard]] PackedText pack_text(const TextReader& text, const PrefixCode& code,
                                   cudaStream_t stream);

/// Memory for a text of so many symbols, of which only the words behind the last one are written.
/// \pre the code has no rare letters
[[nodiscard]] PackedText packed_memory(std::uint64_t symbols, const PrefixCode& code,
                                       cudaStream_t stream);
/// Packs blocks of packed_block symbols, from number `first_block` on.
/// \param part  the symbols of these blocks; zeros follow them
void pack_blocks(const TextReader& part, const PrefixCode& code, std::uint64_t first_block,
                 std::uint64_t blocks, PackedText& packed, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
