#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// Merge sort of chunks: each device sorts its chunk, the borders between the chunks are found in
/// all of them by one exact selection, one exchange brings each device a run of every other, and it
/// merges them. Stable. A ChunkSort.
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request);

/// The same as Tanasic et al. (GPGPU 2013) do it: pairs of devices exchange halves and merge, in
/// log2(G) stages. A ChunkSort. \throws Error (usage) chunks whose number is no power of two or
/// whose sizes differ
void tanasic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request);

}  // namespace sortie::multisort
