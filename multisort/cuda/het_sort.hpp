// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sortie/sort.hpp"

namespace sortie::multisort {

/// What is done with the sorted chunks.
enum class SecondPass {
  /// Host threads merge all runs in one pass with loser trees; exact splits divide the work among
  /// them (Gowanlock and Karsin, IPDPSW 2018).
  merge_on_host,
  /// Exact splits cut all runs into parts of a chunk's size, which the GPUs sort again. This takes
  /// twice the copies, but the host does not merge, which it does at a fraction of the bus speed.
  sort_again,
};

/// Sorts host memory that the GPUs need not hold: chunk by chunk, then as a whole.
///
/// Each logical device has four workers. A worker is a thread with its own streams and memory for
/// one chunk, so one chunk is sorted while others are copied. Chunks have equal sizes, as large as
/// the worker's share of the memory allows: of the context's budget, or of the free memory. Host
/// memory: one copy of keys and values, allocated before anything is sorted. Stable with values.
///
/// Report: phases "sort chunks", "merge" or "sort parts"; figure "sorted_chunks".
/// \param ordinals  CUDA device of each logical device
/// \throws Error (out_of_memory) for a chunk on a GPU, or for the copy
void het_sort(const Context& context, const std::vector<int>& ordinals, const Request& request,
              SecondPass second_pass);

/// Upper bound of the bytes on a GPU for a radix sort of `items` items there, the items included.
[[nodiscard]] std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes);

}  // namespace sortie::multisort
