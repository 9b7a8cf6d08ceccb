// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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

/// Prepares the merge of runs that will lie one behind the other in the arrays of `request`, with
/// keys encoded as KeyCodec does, and allocates what it takes: a copy of keys and values.
/// The function returned merges them, by all threads, and decodes the keys. Of equal keys those of
/// earlier runs come first. Needs no CUDA.
///
/// \param run_sizes  they add up to request.num_items
/// \throws Error (out_of_memory)
[[nodiscard]] std::function<void()> prepare_merge(const Context& context,
                                                  const multisort::Request& request,
                                                  const std::vector<std::uint64_t>& run_sizes);

}  // namespace sortie::papers
