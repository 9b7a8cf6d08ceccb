#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// Chooses, for every suffix, a sample a little further on, by nothing but the symbols in between:
/// suffixes that agree in context() symbols have their samples at equal distances, so that the
/// order of the samples is the order of the suffixes.
///
/// The sample of p is the position with the least hash of `hashed` symbols among p .. p + window -
/// 1, the first of them if there are several (a minimizer; Roberts et al., Bioinformatics 2004).
/// Neighbouring suffixes mostly share one: some 2 / (window + 1) of all positions are samples.
///
/// Positions whose symbol is the same as the next are taken only when there are no others in the
/// window, that is in a run. So a sample never lies within a long run, unless the suffix itself
/// does.
struct Sampling {
  /// Bits that a hash looks at, at most, so that it takes one multiplication.
  static constexpr int most_hashed_bits = 32;
  /// Distances are the lowest bits of a word whose highest are the hash: the least word is the
  /// first position of the least hash.
  static constexpr int distance_bits = 8;
  static constexpr int most_window = (1 << distance_bits) - 1;

  SymbolStream text;
  int window;  ///< positions to choose from, 1..most_window
  int hashed;  ///< symbols that a hash looks at, at least 2

  /// Symbols that decide about the sample of p and that of p + 1.
  [[nodiscard]] __host__ __device__ int context() const { return window + hashed; }

  /// The sample of p and that of p + 1.
  template <class Index>
  __device__ void samples(Index position, Index& own, Index& next) const {
    const int hashed_bits = hashed * text.bits;
    // Of 64 bits that are read, as many positions are served as have all their symbols there.
    const int served = (64 - hashed_bits) / text.bits + 1;
    std::uint32_t first = 0;
    std::uint32_t inner = ~0U;  // those that both have to choose from
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
  /// Of the highest `hashed_bits` bits of `ahead`.
  __device__ std::uint32_t hash_of(std::uint32_t ahead, int hashed_bits) const {
    const bool repeated = (ahead ^ ahead << text.bits) >> (32 - text.bits) == 0;
    const std::uint32_t symbols = ahead >> (32 - hashed_bits);
    // Multiplicative hashing by 2^32 / golden ratio; the fold lets the highest bits, which depend
    // on all symbols, mix with the others once more.
    const std::uint32_t product = (symbols + 1) * 0x9e3779b9U;
    const std::uint32_t hash = (product ^ product >> 15) * 0x85ebca6bU;
    return repeated ? ~0U : hash >> 1;
  }
};

}  // namespace sortie::suffix_array::cuda
