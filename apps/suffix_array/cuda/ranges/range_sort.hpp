#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/ranges/borders.hpp"
#include "sortie/apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// What sorting a range met.
struct RangeFigures {
  std::uint64_t unresolved_after_first_sort = 0;
  std::uint64_t compared = 0;  ///< suffixes that were left to comparisons of two
};

/// The suffixes of a range, in order: those of the text that lie in it are gathered, sorted by text
/// while that tells most of them apart (text_sort.hpp), and the rest by a merge sort of each group
/// that compares two suffixes at a time by SuffixOrder.
/// \param symbols  of the text
/// \param figures  are added to
/// \throws Error (out_of_memory, device)
/// Waits for the stream some times. Complexity: O(n) for the text, O(m) for the members of the
/// range, and O(g log g) comparisons for g of them left, each of a period of symbols at most.
/// Memory: bytes_to_sort() of range_plan.hpp, text and ranks of the cover counted.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                             const SuffixRange& range, RangeFigures& figures,
                                             cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
