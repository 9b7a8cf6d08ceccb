// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sortie/sort.hpp"

namespace sortie::papers {

/// Sorts host memory on GPUs and CPU (Gowanlock and Karsin: Sorting Large Datasets with
/// Heterogeneous CPU/GPU Architectures, IPDPSW 2018): GPUs sort chunks, which need not fit their
/// memory together, and host threads merge all sorted chunks in one pass with loser trees; exact
/// splits divide the merge among the threads. Stable with values. A HostMemorySort.
///
/// Host memory: one copy of keys and values, allocated before anything is sorted. Report: phases
/// "sort chunks", "merge"; figure "sorted_chunks".
/// \param ordinals  CUDA device of each logical device
/// \throws Error (out_of_memory) for a chunk on a GPU, or for the copy
void het_sort(const Context& context, const std::vector<int>& ordinals,
              const multisort::Request& request);

}  // namespace sortie::papers
