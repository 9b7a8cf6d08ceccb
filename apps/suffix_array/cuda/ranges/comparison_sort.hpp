#pragma once

#include <cuda_runtime_api.h>

#include "sortie/apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/apps/suffix_array/cuda/ranges/text_sort.hpp"

namespace sortie::suffix_array::cuda {

/// Brings what is left in groups to its order, by comparisons of two suffixes at a time: in groups
/// of up to most_counted members, most of which have two, every member finds its place by comparing
/// itself with all others; larger ones are sorted by merging.
/// \param sorted  its groups are used up
/// \throws Error (out_of_memory, device)
/// Waits for the stream once if there are large groups. Complexity: O(g log g) comparisons for g
/// suffixes in groups, each of a period of the cover in symbols at most. Memory: range_plan.cpp,
/// bytes_a_member.
template <Position Index>
void sort_by_comparisons(const SuffixOrder<Index>& order, TextSorted<Index>& sorted,
                         cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
