#pragma once

#include <vector>

#include "sortie/multisort/multisort.hpp"

namespace sortie::multisort {

/// What happens to the chunks that have been sorted.
enum class SecondPass {
  /// The host's threads merge them, in one pass of a tournament of all runs, divided among them by
  /// exact splits (Gowanlock and Karsin, IPDPSW 2018).
  merge_on_host,
  /// Exact splits cut all runs into parts of a chunk's size, which are sorted on the GPUs once
  /// more:
  /// twice the copies, and no work for the host, which merges at a small part of the bus's speed.
  sort_again,
};

/// Sorts host memory that the GPUs need not hold: chunk by chunk, then whole.
///
/// Each GPU has four lanes, each a thread with streams and room for a chunk of its own, so that
/// while one lane's chunk is sorted, others come in and go out. Chunks are of equal size, as large
/// as the lanes' share of the memory allows: the budget of the context, else what is free. Host
/// memory: one copy of keys and values, taken before anything is sorted. Stable with values.
///
/// Report: phases "sort chunks", "merge" or "sort parts"; figure "sorted_chunks".
/// \param ordinals  CUDA device of each logical device
/// \throws Error (out_of_memory) no room for a chunk, or for the copy
void het_sort(const Context& context, const std::vector<int>& ordinals, const Request& request,
              SecondPass second_pass);

/// Bytes on a GPU, with the items themselves, that a radix sort of so many items there takes at
/// most.
[[nodiscard]] std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes);

}  // namespace sortie::multisort
