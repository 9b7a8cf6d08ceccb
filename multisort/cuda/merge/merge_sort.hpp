// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

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

/// The merge sort as Tanasic et al. (GPGPU 2013, section 3) published it. Sorted halves of the
/// devices are merged in stages. A pivot, found by bisection with the mirrored index, is the number
/// of items at the end of one half that are exchanged with as many at the begin of the other; then
/// each device merges its items. Unlike the paper's, chunks may differ in size. Stable. A
/// ChunkSort.
///
/// With G devices log2(G) (log2(G) + 1) / 2 exchanges. Extra memory as merge_sort_chunks().
///
/// \throws Error (usage) the number of chunks is no power of two; and as merge_sort_chunks()
void tanasic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request);

namespace merge {

enum class Method { one_exchange, stages };

/// The merge sort of keys of this width, which CMake compiles in a source file each.
void sort_keys8(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys16(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys32(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys64(const Context&, const DeviceGroup&, const ChunkRequest&, Method);

}  // namespace merge
}  // namespace sortie::multisort
