#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// Merge sort of chunks: each device sorts its chunk, the borders between the chunks are found in
/// all of them by one exact selection, and each device merges what belongs to it. Any number of
/// devices, chunks of any sizes. Stable: equal keys stay in the order of chunks and places. A
/// ChunkSort.
///
/// Where every device reaches every other, pieces are merged from where they lie, so that no
/// exchange comes before the merge; else they are copied. merge/devices_sort.cuh tells more.
///
/// Complexity O(n log n): with 4-byte keys a pass over tiles of 2^14, and one pass over memory for
/// each doubling from there. Extra memory on each device: one copy of its chunk and 8 bytes for
/// each 3840 keys (2816 of 8 bytes).
///
/// Source: Tanasic et al. (GPGPU 2013), sections 3.1 and 4; merge path: Green, McColl, Bader
/// (2012).
///
/// \throws Error (out_of_memory) before anything is moved; (device)
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request);

/// The merge sort as Tanasic et al. (GPGPU 2013, section 3) published it: sorted halves of the
/// devices are merged in stages; a pivot found by bisection with the mirrored index says how many
/// items from the end of one change places with as many from the begin of the other, and each
/// device merges what it has then. Chunks may differ in size, which the paper's do not. Stable. A
/// ChunkSort.
///
/// With G devices log2(G) (log2(G) + 1) / 2 exchanges. Extra memory as merge_sort_chunks().
///
/// \throws Error (usage) chunks whose number is no power of two; and as merge_sort_chunks()
void tanasic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request);

}  // namespace sortie::multisort
