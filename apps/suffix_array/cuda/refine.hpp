#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"

namespace sortie::suffix_array::cuda {

/// Finds the groups among all suffixes, sorted by `keys`. Waits for the stream.
/// \param positions     of the sorted suffixes: the suffix array so far
/// \param most_members  that groups can have in all: room for as many is made
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
[[nodiscard]] SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                               const DeviceBuffer<Index>& positions,
                                               std::uint64_t most_members, cudaStream_t stream);

/// Splits groups that are sorted by keys: places all suffixes in the suffix array, and keeps those
/// that are not alone. Waits for the stream.
/// \param end_mask  see GroupItems
template <class Key, Position Index>
void refine_suffixes(SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys, Key end_mask,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream);

/// The same for samples: gives each item its new rank.
template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream);

/// Bytes of scratch that any of them takes, at most.
template <Position Index>
[[nodiscard]] std::size_t refine_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
