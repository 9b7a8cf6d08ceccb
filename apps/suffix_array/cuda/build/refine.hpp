// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// Finds the groups among all suffixes, sorted by `keys`. Waits for the stream.
/// \param positions     positions of the sorted suffixes: the suffix array so far
/// \param most_members  upper bound of the members of all groups: the capacity of the list
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
[[nodiscard]] SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                               const DeviceBuffer<Index>& positions,
                                               std::uint64_t most_members, cudaStream_t stream);

/// A round that compares text: sorts the suffixes of every group by the next symbols that a word of
/// type Key holds, writes all suffixes to the suffix array, and keeps those whose group still has
/// other members. Waits for the stream.
/// \param depth  symbols compared since the first sort, that is besides SymbolStream::first_depth();
///               incremented
template <class Key, Position Index>
void compare_windows(const SymbolStream& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream);

/// Splits groups that are sorted by keys, writes the new rank of each item, and keeps the items
/// whose group has other members. Waits for the stream.
/// \param keys  none is 0
template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream);

/// Most bytes of scratch that these calls take.
template <Position Index>
[[nodiscard]] std::size_t refine_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
