// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The parameters that determine the memory of a construction in ranges.
struct TextShape {
  std::uint64_t symbols = 0;  ///< at least 1
  std::uint64_t separators = 0;
  int bits = 9;  ///< bits of a symbol of the packed text: 1 to 9
  /// Bytes that the receiver of a range keeps for each of its suffixes while the next is sorted.
  int kept = 0;
};

/// How a suffix array is built in ranges: consecutive parts of it, each sorted independently.
struct RangePlan {
  std::uint32_t cover_order = 0;  ///< order of the DifferenceCover
  std::uint64_t members = 0;      ///< most suffixes of a range, at least 1
};

/// Orders of covers that plans use. The least one needs the fewest symbols for a comparison, 181;
/// the greatest, 5221 symbols, ranks 1.7 % of all suffixes.
inline constexpr std::uint32_t least_cover_order = 2;
inline constexpr std::uint32_t greatest_cover_order = 14;

/// A range has at least 1/64 of all suffixes, since each range takes a pass over the text.
inline constexpr std::uint64_t most_ranges_wanted = 64;

/// The members of a range are searched in this many chunks of the text, one after the other, and in
/// fewer if these would be shorter than the least chunk.
inline constexpr std::uint64_t searched_chunks = 4;
inline constexpr std::uint64_t least_searched_chunk = std::uint64_t{1} << 20;

/// Most bytes of device memory that the steps of build_in_ranges() take (range_build.hpp has the
/// table). Pure arithmetic.
[[nodiscard]] std::uint64_t bytes_to_pack(const TextShape& shape);
template <Position Index>
[[nodiscard]] std::uint64_t bytes_to_rank(const TextShape& shape, std::uint32_t cover_order);
template <Position Index>
[[nodiscard]] std::uint64_t bytes_to_sort(const TextShape& shape, const RangePlan& plan);

/// The least budget that plan_ranges() accepts.
template <Position Index>
[[nodiscard]] std::uint64_t least_bytes(const TextShape& shape);

/// The least cover order and the largest ranges that a budget allows.
/// \throws Error (out_of_memory)  the budget is below least_bytes()
template <Position Index>
[[nodiscard]] RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget);

/// Joins consecutive counts to sums of at most `most`. Returns where each sum ends, or nothing if a
/// count is greater than `most`. Sums of 0 are joined with a neighbour.
[[nodiscard]] std::vector<std::size_t> join_counts(const std::vector<std::uint64_t>& counts,
                                                   std::uint64_t most);

}  // namespace sortie::suffix_array::cuda
