// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/ranges/borders.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {

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
