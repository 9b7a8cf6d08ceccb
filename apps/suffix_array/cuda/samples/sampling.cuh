// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "apps/suffix_array/cuda/samples/minimizers.cuh"
#include "apps/suffix_array/cuda/text/coded_text.hpp"
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
  int depth;          ///< symbols compared since the first sort, or most_context of them
  int hashed;         ///< symbols that a hash covers, 1..depth; fewer in suffixes of few symbols
  CodedText coded{};  ///< null if symbols were compared
  std::uint64_t coded_bits = 0;  ///< compared, of codes
  /// Of a text whose minimizers alone are sorted: samples are some of these. No bits otherwise.
  MinimizerChoice minimizers{};

  /// The symbols in which the members of the group of the suffix at `position` agree, at least 2.
  [[nodiscard]] __host__ __device__ int context(std::uint64_t position) const {
    if (coded.words != nullptr) return coded.whole_symbols(position, coded_bits, most_context);
    const int compared = text.first_depth(position) + depth;
    return compared < most_context ? compared : most_context;
  }

  /// The sample of p and that of p + 1.
  template <class Index>
  __host__ __device__ void samples(Index position, Index& own, Index& next) const {
    if (minimizers.bits != 0) return minimizer_samples(position, own, next);
    const int context = this->context(position);
    const int used = hashed < context ? hashed : context - 1;
    // The number of positions from which the suffix chooses.
    const int window = context - used;
    const int hashed_bits = used * text.bits;
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
  /// The least minimizer of the windows of the suffixes from p + 1 on whose bits are all among the
  /// compared ones of p, and the same or p. Both are minimizers: the least position of consecutive
  /// windows is the least of one that contains it.
  /// \pre p is a minimizer; more bits were compared than those of a minimizer and a longest code
  template <class Index>
  __host__ __device__ void minimizer_samples(Index position, Index& own, Index& next) const {
    const std::uint64_t first = position;
    // The codes of p and of another suffix begin with symbols of one length.
    const auto own_bits =
        coded.context_free ? 0 : static_cast<std::uint64_t>(coded.symbols[first] >> 12);
    const auto bits = static_cast<std::uint64_t>(minimizers.bits);
    const int symbols = coded.whole_symbols(first, coded_bits - bits + own_bits, most_context);
    const int windows = coded.context_free ? symbols : symbols - 1;
    const std::uint64_t last = first + static_cast<unsigned>(windows);
    const int end = windows + minimizers.window(last);
    std::uint32_t least = ~0U;
    std::uint32_t word_of_own = 0;
    std::uint64_t ahead = 0;
    int left = 0;
    for (int i = 0; i < end; ++i) {
      if (left == 0) {
        ahead = text.bits_from(first + static_cast<unsigned>(i));
        left = (64 - MinimizerChoice::hashed * text.bits) / text.bits + 1;
      }
      const std::uint32_t word = MinimizerChoice::word(static_cast<std::uint32_t>(ahead >> 32),
                                                       text.bits, static_cast<std::uint32_t>(i));
      if (i == 0) {
        word_of_own = word;
      } else {
        least = word < least ? word : least;
      }
      ahead <<= text.bits;
      --left;
    }
    next = position + static_cast<Index>(least & MinimizerChoice::distance_mask);
    own = word_of_own < least ? position : next;
  }

  /// The hash of the highest `hashed_bits` bits of `ahead`.
  __host__ __device__ std::uint32_t hash_of(std::uint32_t ahead, int hashed_bits) const {
    const bool repeated = (ahead ^ ahead << text.bits) >> (32 - text.bits) == 0;
    const std::uint32_t symbols = ahead >> (32 - hashed_bits);
    // Multiplicative hashing by 2^32 / golden ratio; the fold mixes the highest bits, which depend
    // on all symbols, into the others.
    const std::uint32_t product = (symbols + 1) * 0x9e3779b9U;
    const std::uint32_t hash = (product ^ product >> 15) * 0x85ebca6bU;
    return repeated ? ~0U : hash >> 1;
  }
};

/// Fewest symbols whose hash separates samples well enough. Fewer than the symbols of any
/// text-round window.
inline constexpr int least_hashed = 3;

inline Sampling plan_sampling(const SymbolStream& text, std::uint64_t depth) {
  const int compared = static_cast<int>(std::min<std::uint64_t>(depth, Sampling::most_context));
  const int context = std::min(text.first_symbols + compared, Sampling::most_context);
  // A third of the context is hashed; the rest is the window.
  const int hashed =
      std::min(std::max(context / 3, least_hashed), Sampling::most_hashed_bits / text.bits);
  return {text, compared, std::min(hashed, compared)};
}

/// The same where `bits` bits of codes were compared.
/// \param minimizers  of the text, if only these are sorted
inline Sampling plan_sampling(const SymbolStream& text, const CodedText& coded, std::uint64_t bits,
                              const MinimizerChoice& minimizers) {
  return {text, 0, Sampling::most_hashed_bits / text.bits, coded, bits, minimizers};
}

}  // namespace sortie::suffix_array::cuda
