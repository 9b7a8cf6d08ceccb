// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"

namespace sortie::suffix_array::cuda {

/// Finds the groups among all suffixes, sorted by `keys`. Waits for the stream.
/// \param positions     positions of the sorted suffixes: the suffix array so far
/// \param most_members  upper bound of the members of all groups: the capacity of the list
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
[[nodiscard]] SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                               const DeviceBuffer<Index>& positions,
                                               std::uint64_t most_members, cudaStream_t stream);

/// Splits groups that are sorted by keys: writes all suffixes to the suffix array, and keeps those
/// whose group has other members. Waits for the stream.
/// \param end_mask  see GroupItems
template <class Key, Position Index>
void refine_suffixes(SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys, Key end_mask,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream);

/// The same for samples: writes the new rank of each item.
template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream);

/// Most bytes of scratch that these calls take.
template <Position Index>
[[nodiscard]] std::size_t refine_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
