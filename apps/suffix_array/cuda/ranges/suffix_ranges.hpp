// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Consecutive suffixes of the suffix array: from the one at `begin` on, and before the one at
/// `end`.
struct SuffixRange {
  std::uint64_t begin = 0;  ///< a position
  std::uint64_t end = 0;
  std::uint64_t begin_window = 0;  ///< the 64-bit windows of both
  std::uint64_t end_window = 0;
  bool first = false;  ///< begins with the first suffix of all; `begin` is not used
  bool last = false;   ///< ends with the last suffix of all; `end` is not used
  std::uint64_t members = 0;
};

/// Divides the suffix array, before it is built, into ranges of at most `most_members`.
///
/// Candidates are drawn at random, one from each of equal ranges of the text, and sorted. All
/// suffixes between two neighbouring candidates are counted, and neighbouring counts are joined.
/// All suffixes differ, so every text can be divided, also one of a single repeated letter.
///
/// \param symbols  symbols of the text, at least 1
/// \throws Error (out_of_memory, device)
/// Waits for the stream twice, and again in the unlikely case that a range is too large.
/// Complexity: O(n log c) for c candidates. Memory: less than 512 KiB.
template <Position Index>
[[nodiscard]] std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order,
                                                   std::uint64_t symbols,
                                                   std::uint64_t most_members, cudaStream_t stream);

/// Figures of the sort of a range.
struct RangeFigures {
  std::uint64_t unresolved_after_first_sort = 0;
  std::uint64_t compared = 0;  ///< suffixes sorted by comparisons
};

/// The suffixes of a range, in order: the suffixes of the text that lie in the range are gathered,
/// sorted by text as long as each round separates most of them (text_sort.hpp), and the rest by a
/// merge sort of each group that compares two suffixes at a time by SuffixOrder.
/// \param symbols  symbols of the text
/// \param figures  incremented
/// \throws Error (out_of_memory, device)
/// Waits for the stream several times. Complexity: O(n) for the text, O(m) for the m members of the
/// range, and O(g log g) comparisons for the g remaining ones, each of at most a period of symbols.
/// Memory: bytes_to_sort() of range_plan.hpp, which includes the text and the ranks of the cover.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                             const SuffixRange& range, RangeFigures& figures,
                                             cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
