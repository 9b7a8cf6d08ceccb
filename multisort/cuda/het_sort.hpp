#pragma once

#include <vector>

#include "sortie/multisort/multisort.hpp"

namespace sortie::multisort {

/// Sorts host memory that the GPUs need not hold (Gowanlock and Karsin, IPDPSW 2018): chunks are
/// sorted on the GPUs, and the host's threads merge them, in one pass of a tournament of all runs,
/// divided among them by exact splits.
///
/// Each GPU has three lanes, each a thread with streams and room for a chunk of its own, so that
/// while one lane's chunk is sorted, one comes in and one goes out. Chunks are of equal size, as
/// large as the lanes' share of the memory allows: the budget of the context, else what is free.
/// Host memory: one copy of keys and values for the merge, taken before anything is sorted.
///
/// Report: phases "sort chunks", "merge"; figure "sorted_chunks".
/// \param ordinals  CUDA device of each logical device
/// \throws Error (out_of_memory) no room for a chunk, or for the merge
void het_sort(const Context& context, const std::vector<int>& ordinals, const Request& request);

/// Bytes on a GPU, with the items themselves, that a radix sort of so many items there takes at
/// most.
[[nodiscard]] std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes);

}  // namespace sortie::multisort
