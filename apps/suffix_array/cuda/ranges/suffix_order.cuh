#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// The ranks of the suffixes that start at positions of a DifferenceCover, as kernels see them.
/// They are numbered in the order of their positions, a period of the text after the other.
template <class Index>
struct CoverRanks {
  const Index* ranks;  ///< by number
  const std::uint16_t* places;
  const std::uint16_t* starts;
  std::uint32_t period;
  std::uint32_t elements;

  /// \pre `position` is one of the cover
  __host__ __device__ Index number(Index position) const {
    return position / period * elements + places[position % period];
  }
  /// A distance at which both positions have one of the cover; less than the period.
  __host__ __device__ std::uint32_t distance(Index left, Index right) const {
    const auto left_residue = static_cast<std::uint32_t>(left % period);
    const auto right_residue = static_cast<std::uint32_t>(right % period);
    const std::uint32_t start = starts[wrapped(right_residue + period - left_residue)];
    return wrapped(start + period - left_residue);
  }

 private:
  __host__ __device__ std::uint32_t wrapped(std::uint32_t residue) const {
    return residue >= period ? residue - period : residue;
  }
};

/// Any two suffixes of a text in the order of TextView, after at most one period of symbols and
/// one.
template <class Index>
struct SuffixOrder {
  SymbolStream text;
  CoverRanks<Index> cover;

  /// Whether the suffix at `left` comes before the one at `right`, another or the same.
  /// \param depth  letters that both are known to start with, no end among them
  ///
  /// Both have a position of the cover at one distance. If they agree in the letters as far as
  /// there and in one more, these are positions of letters, and their ranks tell which is first.
  /// Suffixes that agree up to their ends are ordered by position.
  __host__ __device__ bool before(Index left, Index right, std::uint64_t depth = 0) const {
    const std::uint32_t distance = cover.distance(left, right);
    const auto symbols = static_cast<std::uint64_t>(text.window_symbols(64));
    for (; depth <= distance; depth += symbols) {
      const auto left_window = text.window<std::uint64_t>(left + depth);
      const auto right_window = text.window<std::uint64_t>(right + depth);
      if (left_window != right_window) return left_window < right_window;
      if ((left_window & text.last_symbol_mask()) == 0) return left < right;
    }
    return cover.ranks[cover.number(left + distance)] < cover.ranks[cover.number(right + distance)];
  }
};

}  // namespace sortie::suffix_array::cuda
