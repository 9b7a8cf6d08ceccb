// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "apps/suffix_array/part_builder.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// A difference cover: a set of residues of a period such that every difference modulo the period
/// is that of two of them. For any two positions of a text there is a distance, less than the
/// period, at which both have a position of the cover.
///
/// The covers of Colbourn and Ling: for r = 0, 1, 2, ... one of 6 r + 4 residues for the period 24
/// r^2 + 36 r + 13, so that 1.22 / sqrt(period) of all positions are in it.
///
/// Source: Colbourn, Ling: Quorums from difference covers (Information Processing Letters 2000);
/// that ranks at such positions suffice for sorting: Burkhardt, Karkkainen (CPM 2003).
struct DifferenceCover {
  /// \param order  r, 0 to most_order: periods from 13 to 36037
  explicit DifferenceCover(std::uint32_t order);

  static constexpr std::uint32_t most_order = 38;

  [[nodiscard]] static constexpr std::uint32_t period(std::uint32_t order) {
    return 24 * order * order + 36 * order + 13;
  }
  [[nodiscard]] static constexpr std::uint32_t residues(std::uint32_t order) {
    return 6 * order + 4;
  }
  /// Upper bound of the positions of the cover below `positions`: those of whole periods.
  [[nodiscard]] static constexpr std::uint64_t most_positions(std::uint32_t order,
                                                              std::uint64_t positions) {
    return (positions + period(order) - 1) / period(order) * residues(order);
  }

  [[nodiscard]] std::uint32_t period() const { return static_cast<std::uint32_t>(places.size()); }
  /// The number of positions of the cover below `positions`.
  [[nodiscard]] std::uint64_t positions_below(std::uint64_t positions) const;

  std::vector<std::uint16_t> elements;  ///< the residues, ascending; 0 is the first
  /// By residue: the number of elements that are smaller, which is its index if it is an element.
  std::vector<std::uint16_t> places;
  /// By difference d: an element a such that a + d, modulo the period, is also an element.
  std::vector<std::uint16_t> starts;
};

/// The ranks of the suffixes that start at positions of a DifferenceCover: the view for kernels.
/// Positions of the cover are numbered in ascending order, period after period.
template <class Index>
struct CoverRanks {
  const Index* ranks;  ///< indexed by number
  const std::uint16_t* places;
  const std::uint16_t* starts;
  std::uint32_t period;
  std::uint32_t elements;

  /// The number of a position. \pre `position` is in the cover
  __host__ __device__ Index number(Index position) const {
    return position / period * elements + places[position % period];
  }
  /// A distance, less than the period, at which both positions have a position of the cover.
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

/// CoverRanks and their memory: sizeof(Index) bytes for each position of the cover.
template <Position Index>
struct RankedCover {
  DeviceBuffer<Index> ranks;
  DeviceBuffer<std::uint16_t> places;
  DeviceBuffer<std::uint16_t> starts;
  CoverRanks<Index> view{};
  std::uint64_t rounds = 0;  ///< rounds of doubling that the ranking took
};

/// Ranks the suffixes that start at positions of a cover: by a period of symbols of the text, then
/// by prefix doubling with steps of a period in place of symbols. Of several devices, each sorts a
/// part by the text: the suffixes whose first symbols lie between two borders, which all devices
/// choose alike. One call after the other, in the order of the declarations. All wait for the
/// stream.
///
/// Memory: bytes_a_sample() of range_build.cu.
template <Position Index>
class CoverRanking {
 public:
  /// \param symbols      symbols of the text, at least 1
  /// \param cover_order  see DifferenceCover
  CoverRanking(const SymbolStream& text, std::uint64_t symbols, std::uint32_t cover_order,
               cudaStream_t stream);

  /// Sorts a part by a period of symbols.
  CoverCounts sort(const TextPart& part);
  /// Allocates memory for all parts, and moves the own one there. \param counts  of all parts
  void join(std::span<const CoverCounts> counts);
  /// Memory of part `number`.
  [[nodiscard]] CoverMemory part(std::uint64_t number);
  /// \pre all part() are filled
  [[nodiscard]] RankedCover<Index> rank();

 private:
  SymbolStream text_;
  DifferenceCover cover_;
  std::uint64_t count_;  ///< suffixes of the cover
  cudaStream_t stream_;
  std::uint64_t number_ = 0;               ///< of the own part
  std::vector<std::uint64_t> suffixes_{};  ///< begin of each part's suffixes, and the end
  std::vector<std::uint64_t> members_{};   ///< the same of members
  DeviceBuffer<Index> sorted_;
  SuffixGroups<Index> groups_;
};

/// Compares any two suffixes of a text in the order of TextView, by at most one symbol more than a
/// period.
template <class Index>
struct SuffixOrder {
  SymbolStream text;
  CoverRanks<Index> cover;

  /// Whether the suffix at `left` comes before the one at `right`; both may be the same.
  /// \param depth  letters in which both are known to agree, without an end
  ///
  /// Both have a position of the cover at one distance. If they agree in the letters up to there
  /// and in one more, these are positions of letters, and their ranks decide. Suffixes that agree
  /// up to their ends are ordered by position.
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
