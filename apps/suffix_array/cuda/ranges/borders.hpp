#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Suffixes that follow each other in the suffix array: from the one at `begin` on, and before the
/// one at `end`.
struct SuffixRange {
  std::uint64_t begin = 0;  ///< a position
  std::uint64_t end = 0;
  std::uint64_t begin_window = 0;  ///< the 64-bit windows of both
  std::uint64_t end_window = 0;
  bool first = false;  ///< from the first suffix of all on; `begin` is of no use
  bool last = false;   ///< up to the last one; `end` is of no use
  std::uint64_t members = 0;
};

/// Cuts the suffix array, not made yet, into ranges of at most `most_members`.
///
/// Some suffixes are drawn at random, one from each of equal stretches of the text, and sorted.
/// Every suffix is counted between its neighbours among them, and neighbouring counts are joined.
/// All suffixes differ, so no text makes a range that cannot be cut, one letter repeated neither.
///
/// \param symbols  of the text, at least 1
/// \throws Error (out_of_memory, device)
/// Waits for the stream twice, and again in the unlikely case that a range is too large.
/// Complexity: O(n log c) for c suffixes drawn. Memory: less than 512 KiB.
template <Position Index>
[[nodiscard]] std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order,
                                                   std::uint64_t symbols,
                                                   std::uint64_t most_members, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
