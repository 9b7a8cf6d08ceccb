// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/context_code.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// A text on the device as a stream of the codes of ContextCode: the view for kernels.
///
/// The stream holds the code of each symbol behind the symbol before, then that of the end of the
/// text. The code of an end is followed by the number of the record as `number_bits` bits, so that
/// no two suffixes have equal codes, and those that are equal up to their ends are in the order of
/// their positions. The code of a suffix is that of its first symbol in context 0, and then the
/// stream. Suffixes compare as the bits of their codes do, wherever a symbol ends among these.
struct CodedText {
  static constexpr std::uint64_t block_symbols = 64;
  /// Bits before the first symbol: an own code may be longer than that in the stream.
  static constexpr std::uint64_t first_bit = 64;

  const std::uint64_t* words;
  const std::uint64_t* begins;  ///< by block of symbols: bit in the stream at which it begins
  /// By symbol: distance of its first bit from that of its block, and in the highest four bits the
  /// length of its code in context 0. A block takes less than 64 (14 + 32) bits, of tokens at most
  /// 64 * 36.
  const std::uint16_t* symbols;
  /// A symbol has one code, whatever is before it: the code of a suffix is the stream from it on.
  bool context_free = false;

  /// The first bit of symbol `position`; behind the end of the text, the end of the stream.
  __host__ __device__ std::uint64_t begin(std::uint64_t position) const {
    return begins[position / block_symbols] + (symbols[position] & 0xfffU);
  }
  /// The 64 bits from bit `first` on.
  __host__ __device__ std::uint64_t bits_from(std::uint64_t first) const {
    const std::uint64_t* const word = words + first / 64;
    const int shift = static_cast<int>(first % 64);
    return shift == 0 ? word[0] : word[0] << shift | word[1] >> (64 - shift);
  }
  /// The bit of the stream that is `own code` bits before the second symbol of a suffix.
  /// \pre `position` is that of a letter
  __host__ __device__ std::uint64_t start(std::uint64_t position) const {
    if (context_free) return begin(position);
    return begin(position + 1) - (symbols[position] >> 12);
  }
  /// 64 bits of the code of a suffix, from bit `depth` on. \pre as start(); the own code is shorter
  /// than `depth`
  __host__ __device__ std::uint64_t window(std::uint64_t position, std::uint64_t depth) const {
    return bits_from(start(position) + depth);
  }
  /// The symbols, at most `most`, whose codes end within the first `depth` bits of a suffix's code.
  /// \pre as window(); there is no end among them
  __host__ __device__ int whole_symbols(std::uint64_t position, std::uint64_t depth,
                                        int most) const {
    const std::uint64_t end = start(position) + depth;
    int count = 1;
    int too_many = most + 1;
    while (too_many - count > 1) {
      const int middle = (count + too_many) / 2;
      if (begin(position + static_cast<unsigned>(middle)) <= end) {
        count = middle;
      } else {
        too_many = middle;
      }
    }
    return count;
  }
};

/// A symbol in the stream of codes. No bits behind the end of the text.
struct SymbolInStream {
  std::uint64_t bits = 0;  ///< its code, right-aligned
  int length = 0;
  int own_length = 0;   ///< of its code as first symbol of a suffix, if that is another; below 16
  bool is_end = false;  ///< of a record; its number follows the code
};

/// Two neighbours, which a lane handles.
struct TwoSymbolsInStream {
  SymbolInStream first;
  SymbolInStream second;
};

/// A CodedText and its memory: for each symbol 2.125 bytes and its code.
struct CodedTextBuffer {
  DeviceBuffer<std::uint64_t> words;
  DeviceBuffer<std::uint64_t> begins;
  DeviceBuffer<std::uint16_t> symbols;
  DeviceBuffer<ContextCode::Entry> entries;
  DeviceBuffer<std::uint16_t> letters;  ///< symbol of each byte
  std::uint32_t alphabet = 0;           ///< symbols of the code
  int number_bits = 0;
  bool context_free = false;

  [[nodiscard]] CodedText view() const {
    return {words.data(), begins.data(), symbols.data(), context_free};
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return words.bytes() + begins.bytes() + symbols.bytes();
  }
};

/// Most bits of a record's number: the distances within a block have 12 bits.
inline constexpr int most_number_bits = 32;

/// Counts the pairs of neighbouring letters in a sample of the text, and plans their codes. Waits
/// for the stream.
[[nodiscard]] ContextCode plan_context_code(const TextReader& text, const PrefixCode& letters,
                                            cudaStream_t stream);

/// Codes a text. Waits for the stream once.
/// \param separators  of the text; at most 2^32 - 2
[[nodiscard]] CodedTextBuffer code_text(const TextReader& text, std::uint64_t separators,
                                        const PrefixCode& letters, const ContextCode& code,
                                        cudaStream_t stream);

/// Writes for each suffix, in text order, the first `bits` - 1 bits of its code above a bit that is
/// 0, and its position.
/// \param bits  at least ContextCode::longest + text.number_bits + 1, so that separators are alone
template <class Key, Position Index>
void write_coded_keys(const TextReader& text, const CodedTextBuffer& coded, int bits, Key* keys,
                      Index* positions, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
