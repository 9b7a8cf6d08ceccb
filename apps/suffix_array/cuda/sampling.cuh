#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// Chooses, for every suffix, a sample a little further on, by nothing but symbols in which all
/// members of its group agree: they have their samples at equal distances, so that the order of the
/// samples is the order of the suffixes.
///
/// The sample of p is the position with the least hash of `hashed` symbols among p .. p + window -
/// 1, the first of them if there are several (a minimizer; Roberts et al., Bioinformatics 2004).
/// Neighbouring suffixes mostly share one: some 2 / (window + 1) of all positions are samples.
///
/// The members of a group agree in SymbolStream::first_depth() symbols and `depth` more, and the
/// window of p ends `hashed` before the end of these, or of most_context. As `hashed` is at most
/// `depth`, it contains at least the symbols that the first sort has seen.
///
/// Positions whose symbol is the same as the next are taken only when there are no others in the
/// window, that is in a run. So a sample never lies within a long run, unless the suffix itself
/// does: one that does not starts with a run no longer than the first sort has seen.
struct Sampling {
  /// Bits that a hash looks at, at most, so that it takes one multiplication.
  static constexpr int most_hashed_bits = 32;
  /// Distances are the lowest bits of a word whose highest are the hash: the least word is the
  /// first position of the least hash.
  static constexpr int distance_bits = 8;
  static constexpr int most_window = (1 << distance_bits) - 1;

  /// Most symbols that the choice of a sample looks at. More would make fewer samples, but each
  /// suffix has to look at all of them.
  static constexpr int most_context = 64;
  static_assert(most_context <= most_window);

  SymbolStream text;
  int depth;   ///< symbols compared since the first sort, or most_context of them
  int hashed;  ///< symbols that a hash looks at, 2..depth

  /// Positions that the suffix at `position`, a member of a group, has to choose from.
  [[nodiscard]] __host__ __device__ int window(std::uint64_t position) const {
    const int context = text.first_depth(position) + depth;
    return (context < most_context ? context : most_context) - hashed;
  }

  /// The sample of p and that of p + 1.
  template <class Index>
  __device__ void samples(Index position, Index& own, Index& next) const {
    const int window = this->window(position);
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
