// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multisort/backends.hpp"
#include "multisort/cuda/device_group.hpp"

namespace sortie::multisort {

/// The function of an algorithm. \throws Error (usage) if the algorithm does not sort chunks
[[nodiscard]] ChunkSort chunk_sort(SortAlgorithm algorithm);

/// merge_sort_chunks() for keys and values of one width (devices_sort.cuh). CMake generates a source
/// file for each.
template <class Word, class Value>
void merge_sort_typed(const Context& context, const DeviceGroup& group,
                      const ChunkRequest& request);

/// Merge sort of chunks: each device sorts its chunk, one exact selection finds the borders in all
/// sorted chunks, and each device merges its ranges. Any number of devices, chunks of any sizes.
/// Stable. A ChunkSort.
///
/// With two chunks and peer access the exchange overlaps with the merge; otherwise ranges are
/// copied before the merge (merge/devices_sort.cuh).
///
/// Complexity O(n log n): with 4-byte keys one pass over tiles of 2^14, and one pass over memory
/// for each doubling from there. Extra memory on each device: one copy of its chunk and 8 bytes for
/// each 3840 keys (2816 keys of 8 bytes).
///
/// Source: Tanasic et al. (GPGPU 2013), sections 3.1 and 4; merge path: Green, McColl, Bader
/// (2012).
///
/// \throws Error (out_of_memory) before anything is moved; (device)
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request);

}  // namespace sortie::multisort
