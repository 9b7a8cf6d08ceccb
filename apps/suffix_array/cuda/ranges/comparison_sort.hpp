// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"

namespace sortie::suffix_array::cuda {

/// Sorts the remaining groups by comparisons of two suffixes at a time: in groups of up to
/// most_counted members, most of which have two, every member compares itself with all others;
/// larger groups are sorted by merge sort.
/// \param sorted  its groups are released
/// \throws Error (out_of_memory, device)
/// Waits for the stream once if there are large groups. Complexity: O(g log g) comparisons for g
/// suffixes in groups, each of at most a period of the cover in symbols. Memory: range_plan.cpp,
/// bytes_a_member.
template <Position Index>
void sort_by_comparisons(const SuffixOrder<Index>& order, TextSorted<Index>& sorted,
                         cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
