// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "multisort/cuda/chunk_sort.hpp"

namespace sortie::papers {

/// Sorts one chunk in place by a bitonic network, for arrays that leave no memory for a copy. A
/// ChunkSort.
///
/// If there is memory for a copy, the radix sort is about five times as fast.
///
/// No extra device memory. Not stable. Any length; nothing is padded. The network has ceil(log2 n)
/// stages, cut into passes that read and write every item once (passes.hpp); 2^31
/// keys of four bytes take 42 passes, 2^35 take 55.
///
/// Source: Capannini, Silvestri, Baraglia: Sorting on GPUs for large scale datasets (2011), section
/// 5. Their network compares in both directions and sorts powers of two. Here each stage begins
/// with a mirrored step, so all comparisons have one direction and any length works.
///
/// \throws Error (usage) more than one chunk that is not empty; (device)
void bitonic_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                         const multisort::ChunkRequest& request);

/// Sorts one chunk on the current device, with keys and values of one width (network_kernels.cuh).
/// CMake generates a source file for each. \throws Error (device)
template <class Word, class Value>
void bitonic_sort_typed(const multisort::DeviceChunk& chunk, KeyType key_type, Order order,
                        cudaStream_t stream);

}  // namespace sortie::papers
