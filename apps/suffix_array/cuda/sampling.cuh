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
/// 1, the first of them if there are several (a minimizer). Neighbouring suffixes mostly share one:
/// some 2 / (window + 1) of all positions are samples.
///
/// Positions whose symbol is the same as the next are taken only when there are no others in the
/// window, that is in a run. So a sample never lies within a long run, unless the suffix itself
/// does.
struct Sampling {
  SymbolStream text;
  int window;  ///< positions to choose from, 1..255
  int hashed;  ///< symbols that a hash looks at, at least 2

  /// Symbols that decide about the sample of p and that of p + 1.
  [[nodiscard]] __host__ __device__ int context() const { return window + hashed; }

  /// The sample of p and that of p + 1.
  template <class Index>
  __device__ void samples(Index position, Index& own, Index& next) const {
    const std::uint64_t first = std::uint64_t{position} * static_cast<std::uint64_t>(text.bits);
    const std::uint64_t* word = text.words + first / 64;
    int shift = static_cast<int>(first % 64);
    std::uint64_t high = word[0];
    std::uint64_t low = word[1];
    std::uint32_t least_own = ~0U;
    std::uint32_t least_next = ~0U;
    int own_at = 0;
    int next_at = 1;
    for (int i = 0; i <= window; ++i) {
      const std::uint64_t ahead = shift == 0 ? high : high << shift | low >> (64 - shift);
      const std::uint32_t hash = hash_of(ahead);
      if (i < window && hash < least_own) {
        least_own = hash;
        own_at = i;
      }
      if (i > 0 && hash < least_next) {
        least_next = hash;
        next_at = i;
      }
      shift += text.bits;
      if (shift >= 64) {
        shift -= 64;
        ++word;
        high = low;
        low = word[1];
      }
    }
    own = position + static_cast<Index>(own_at);
    next = position + static_cast<Index>(next_at);
  }

 private:
  __device__ std::uint32_t hash_of(std::uint64_t ahead) const {
    constexpr std::uint32_t last_choice = 0xfffffffeU;
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio
    if ((ahead ^ ahead << text.bits) >> (64 - text.bits) == 0) return last_choice;
    const std::uint64_t symbols = ahead >> (64 - hashed * text.bits);
    const std::uint64_t mixed = (symbols ^ symbols >> 29) * odd;
    return static_cast<std::uint32_t>(mixed >> 33);
  }
};

}  // namespace sortie::suffix_array::cuda
