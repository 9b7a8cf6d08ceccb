// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

/// Minimizers of texts that are compared by codes: what kernels compute for each suffix, which also
/// runs on the host, for tests.
namespace sortie::suffix_array::cuda {

/// Chooses a position for every suffix, its minimizer, from the first `bits` bits of its code: the
/// first position with the least hash of two symbols, among those whose two symbols end within
/// these bits.
///
///   text     b u f f e r [ i ] = 0 ;          bits of the suffix at p end within "0"
///            p     m               e          e(p): the last position to choose from
///
/// Suffixes that agree in `bits` bits have their minimizers at the same distance, so the minimizers
/// order them. e(p) does not decrease with p, because all codes of context 0 have one length.
/// Therefore the least position of the union of the windows of consecutive suffixes is a minimizer,
/// too: Sampling relies on that.
///
/// Source: Schleimer, Wilkerson, Aiken (SIGMOD 2003), Roberts et al. (Bioinformatics 2004).
struct MinimizerChoice {
  static constexpr int hashed = 2;  ///< symbols that a hash covers
  /// Most positions that a suffix chooses from: more occur in runs of frequent letters only.
  static constexpr int most_window = 32;
  /// Words that are compared are a hash with the distance in the lowest bits.
  static constexpr std::uint32_t distance_mask = 255;

  SymbolStream text;
  CodedText coded;
  int bits = 0;

  /// The word of the position at `distance` whose symbols are the highest bits of `ahead`.
  __host__ __device__ static std::uint32_t word(std::uint32_t ahead, int symbol_bits,
                                                std::uint32_t distance) {
    const std::uint32_t symbols = ahead >> (32 - hashed * symbol_bits);
    // Two equal symbols come last: in a run, every position would be a minimizer.
    const bool repeated = (ahead ^ ahead << symbol_bits) >> (32 - symbol_bits) == 0;
    const std::uint32_t product = (symbols + 1) * 0x9e3779b9U;
    const std::uint32_t hash = repeated ? ~0U : (product ^ product >> 15) * 0x85ebca6bU >> 1;
    return (hash & ~distance_mask) | distance;
  }

  /// Positions that the suffix of a letter chooses from, at least 1. The text may end among them.
  __host__ __device__ int window(std::uint64_t position) const {
    const int symbols =
        coded.whole_symbols(position, static_cast<std::uint64_t>(bits), most_window + hashed - 1);
    return symbols > hashed ? symbols - hashed + 1 : 1;
  }

  /// Distance of the minimizer of the suffix at a letter.
  __host__ __device__ std::uint32_t distance(std::uint64_t position) const {
    const std::uint64_t end = coded.start(position) + static_cast<std::uint64_t>(bits);
    std::uint32_t least = ~0U;
    std::uint64_t ahead = 0;
    int left = 0;  // positions whose symbols are in `ahead`
    for (unsigned i = 0; i < static_cast<unsigned>(most_window); ++i) {
      const std::uint64_t at = position + i;
      if (i != 0 && coded.begin(at + hashed) > end) break;
      if (left == 0) {
        ahead = text.bits_from(at);
        left = (64 - hashed * text.bits) / text.bits + 1;
      }
      if (i != 0 && ahead >> (64 - text.bits) == 0) break;  // a suffix with a whole end is alone
      const std::uint32_t found = word(static_cast<std::uint32_t>(ahead >> 32), text.bits, i);
      least = found < least ? found : least;
      ahead <<= text.bits;
      --left;
    }
    return least & distance_mask;
  }

  /// Neighbouring suffixes whose minimizers are chosen together: their windows share most positions.
  static constexpr unsigned together = 4;
  /// The distances of the minimizers of suffixes position .. position + together - 1, each as
  /// distance() gives it.
  /// \return false, and no distances, if one of these is no letter, or a record ends in a window, or
  ///         a window is as long as most_window
  __host__ __device__ bool distances(std::uint64_t position,
                                     std::uint32_t (&found)[together]) const {
    // Bits are counted from the begin of the block of the first suffix, so that 32 bits suffice. No
    // window goes beyond the next block.
    static_assert(most_window + together + hashed <= CodedText::block_symbols);
    const std::uint64_t block = position / CodedText::block_symbols;
    const std::uint64_t origin = coded.begins[block];
    const auto next_block = static_cast<std::uint32_t>(coded.begins[block + 1] - origin);
    const std::uint16_t* const symbols = coded.symbols + position;
    const auto in_block = static_cast<unsigned>(position % CodedText::block_symbols);
    const auto begin = [&](unsigned i) {
      return (symbols[i] & 0xfffU) + (in_block + i < CodedText::block_symbols ? 0U : next_block);
    };
    std::uint32_t ends[together];
    for (unsigned k = 0; k < together; ++k) {
      ends[k] = static_cast<std::uint32_t>(coded.start(position + k) - origin) +
                static_cast<std::uint32_t>(bits);
      found[k] = ~0U;
    }
    std::uint64_t ahead = 0;
    int left = 0;
    const auto next_word = [&](unsigned i) {
      if (left == 0) {
        ahead = text.bits_from(position + i);
        left = (64 - hashed * text.bits) / text.bits + 1;
      }
      const auto own = static_cast<std::uint32_t>(ahead >> 32);
      ahead <<= text.bits;
      --left;
      return own;
    };
    for (unsigned i = 0; i < together; ++i) {
      const std::uint32_t symbols_ahead = next_word(i);
      if (symbols_ahead >> (32 - text.bits) == 0) return false;
      const std::uint32_t own = word(symbols_ahead, text.bits, i);
      const std::uint32_t end = begin(i + hashed);
      for (unsigned k = 0; k <= i; ++k)
        if ((k == i || end <= ends[k]) && own < found[k]) found[k] = own;
    }
    for (unsigned i = together;; ++i) {
      const std::uint32_t end = begin(i + hashed);
      if (end > ends[together - 1]) break;
      if (i == static_cast<unsigned>(most_window)) return false;
      const std::uint32_t symbols_ahead = next_word(i);
      if (symbols_ahead >> (32 - text.bits) == 0) return false;
      const std::uint32_t own = word(symbols_ahead, text.bits, i);
      for (unsigned k = 0; k < together; ++k)
        if (end <= ends[k] && own < found[k]) found[k] = own;
    }
    for (unsigned k = 0; k < together; ++k) found[k] = (found[k] & distance_mask) - k;
    return true;
  }
};

}  // namespace sortie::suffix_array::cuda
