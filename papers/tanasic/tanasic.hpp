// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multisort/cuda/chunk_sort.hpp"

namespace sortie::papers {

/// The merge sort over devices as Tanasic et al. (GPGPU 2013, section 3) published it. Sorted halves
/// of the devices are merged in stages. A pivot, found by bisection with the mirrored index, is the
/// number of items at the end of one half that are exchanged with as many at the begin of the other;
/// then each device merges its items. Unlike the paper's, chunks may differ in size. Stable. A
/// ChunkSort.
///
/// With G devices log2(G) (log2(G) + 1) / 2 exchanges. Extra memory as merge_sort_chunks().
///
/// \throws Error (usage) the number of chunks is no power of two; and as merge_sort_chunks()
void tanasic_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                         const multisort::ChunkRequest& request);

/// tanasic_sort_chunks() for keys and values of one width (stages_sort.cuh). CMake generates a source
/// file for each.
template <class Word, class Value>
void tanasic_sort_typed(const Context& context, const multisort::DeviceGroup& group,
                        const multisort::ChunkRequest& request);

}  // namespace sortie::papers
