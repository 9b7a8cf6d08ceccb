// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// Chooses a sample for every suffix of a group, as host/samples/sampling.hpp does and explains, with
/// another hash and another window: of `hashed` symbols among p .. p + window - 1. For DNA the window
/// is 17 positions after one round of 32-bit keys (11 % of all positions are samples), 26 after one
/// round of 64-bit keys (7 %) and 54 after three of these (4 %).
///
/// The members of a group agree in SymbolStream::first_depth() symbols and `depth` more. The window
/// of p ends `hashed` symbols before the end of these, or of most_context symbols if that is less.
/// As `hashed` is at most `depth`, the window contains at least the symbols that the first sort has
/// compared: so a sample never lies within a long run, unless the suffix itself does.
struct Sampling {
  /// Most bits of a hash's input, so that a hash takes one multiplication.
  static constexpr int most_hashed_bits = 32;
  /// Distances are the lowest bits of a word whose highest bits are the hash: the least word is the
  /// first position of the least hash.
  static constexpr int distance_bits = 8;
  static constexpr int most_window = (1 << distance_bits) - 1;

  /// Most symbols that the choice of a sample depends on. More would make fewer samples, but each
  /// suffix has to read all of them.
  static constexpr int most_context = 64;
  static_assert(most_context <= most_window);

  SymbolStream text;
  int depth;   ///< symbols compared since the first sort, or most_context of them
  int hashed;  ///< symbols that a hash covers, 2..depth

  /// The number of positions from which the suffix at `position`, a member of a group, chooses.
  [[nodiscard]] __host__ __device__ int window(std::uint64_t position) const {
    const int context = text.first_depth(position) + depth;
    return (context < most_context ? context : most_context) - hashed;
  }

  /// The sample of p and that of p + 1.
  template <class Index>
  __device__ void samples(Index position, Index& own, Index& next) const {
    const int window = this->window(position);
    const int hashed_bits = hashed * text.bits;
    // The number of positions that have all their symbols within 64 bits read at once.
    const int served = (64 - hashed_bits) / text.bits + 1;
    std::uint32_t first = 0;
    std::uint32_t inner = ~0U;  // least choice among the positions in both windows
    std::uint32_t last = 0;
    for (int begin = 0; begin <= window; begin += served) {
      std::uint64_t ahead = text.bits_from(std::uint64_t{position} + static_cast<unsigned>(begin));
      const int end = begin + served <= window ? begin + served : window + 1;
      for (int i = begin; i < end; ++i) {
        const std::uint32_t choice =
            (hash_of(static_cast<std::uint32_t>(ahead >> 32), hashed_bits) &
             ~static_cast<std::uint32_t>(most_window)) |
            static_cast<std::uint32_t>(i);
        ahead <<= text.bits;
        if (i == 0) {
          first = choice;
        } else if (i == window) {
          last = choice;
        } else {
          inner = choice < inner ? choice : inner;
        }
      }
    }
    constexpr auto distance = static_cast<std::uint32_t>(most_window);
    own = position + ((first < inner ? first : inner) & distance);
    next = position + ((last < inner ? last : inner) & distance);
  }

 private:
  /// The hash of the highest `hashed_bits` bits of `ahead`.
  __device__ std::uint32_t hash_of(std::uint32_t ahead, int hashed_bits) const {
    const bool repeated = (ahead ^ ahead << text.bits) >> (32 - text.bits) == 0;
    const std::uint32_t symbols = ahead >> (32 - hashed_bits);
    // Multiplicative hashing by 2^32 / golden ratio; the fold mixes the highest bits, which depend
    // on all symbols, into the others.
    const std::uint32_t product = (symbols + 1) * 0x9e3779b9U;
    const std::uint32_t hash = (product ^ product >> 15) * 0x85ebca6bU;
    return repeated ? ~0U : hash >> 1;
  }
};

}  // namespace sortie::suffix_array::cuda
