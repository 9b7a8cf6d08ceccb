#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// Sorts one chunk in place by a bitonic network: for arrays that leave no room for a second one. A
/// ChunkSort.
///
/// Where there is room, the radix sort is about five times as fast.
///
/// No extra device memory at all. Not stable. Any length: nothing is padded. A network of
/// ceil(log2 n) stages, cut into passes that read and write every item once
/// (plan/bitonic_passes.hpp); 2^31 keys of four bytes take 42 of them, 2^35 take 55.
///
/// Source: Capannini, Silvestri, Baraglia: Sorting on GPUs for large scale datasets (2011), section
/// 5. Theirs compares in both directions, for powers of two; here stages begin with a mirrored
/// step, so that all comparisons point one way and lengths are free.
///
/// \throws Error (usage) more than one chunk that is not empty; (device)
void bitonic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request);

}  // namespace sortie::multisort
