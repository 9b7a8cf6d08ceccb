#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// What the memory of a construction in ranges depends on.
struct TextShape {
  std::uint64_t symbols = 0;  ///< at least 1
  std::uint64_t separators = 0;
  int bits = 9;  ///< of a symbol of the packed text: 1 to 9
  /// Bytes that the receiver of a range keeps for each of its suffixes while the next is sorted.
  int kept = 0;
};

/// How a suffix array is made of ranges: parts that follow each other, each sorted by itself.
struct RangePlan {
  std::uint32_t cover_order = 0;  ///< of the DifferenceCover
  std::uint64_t members = 0;      ///< most suffixes of a range, at least 1
};

/// Orders of covers that plans use. The least one takes the fewest symbols to compare, 181; the
/// greatest, 5221 symbols, ranks 1.7 % of all suffixes.
inline constexpr std::uint32_t least_cover_order = 2;
inline constexpr std::uint32_t greatest_cover_order = 14;

/// A range has at least a 64th of all suffixes, since each is found by a pass over the text.
inline constexpr std::uint64_t most_ranges_wanted = 64;

/// The members of a range are searched for in so many pieces of the text, one after the other, and
/// in fewer where these would be shorter than the least piece.
inline constexpr std::uint64_t searched_pieces = 4;
inline constexpr std::uint64_t least_searched_piece = std::uint64_t{1} << 20;

/// Bytes of device memory that the steps of build_in_ranges take at most (range_build.hpp has the
/// table). Pure arithmetic.
[[nodiscard]] std::uint64_t bytes_to_pack(const TextShape& shape);
template <Position Index>
[[nodiscard]] std::uint64_t bytes_to_rank(const TextShape& shape, std::uint32_t cover_order);
template <Position Index>
[[nodiscard]] std::uint64_t bytes_to_sort(const TextShape& shape, const RangePlan& plan);

/// The least budget of plan_ranges().
template <Position Index>
[[nodiscard]] std::uint64_t least_bytes(const TextShape& shape);

/// The least cover and the largest ranges that a budget allows.
/// \throws Error (out_of_memory)  the budget is below least_bytes()
template <Position Index>
[[nodiscard]] RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget);

/// Joins counts, in order, to sums of at most `most`: returns where each sum ends, or nothing if a
/// count is greater than `most`. Sums of 0 are joined with a neighbour.
[[nodiscard]] std::vector<std::size_t> join_counts(const std::vector<std::uint64_t>& counts,
                                                   std::uint64_t most);

}  // namespace sortie::suffix_array::cuda
