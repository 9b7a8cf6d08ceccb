#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

/// The sorting algorithms that lectures on GPUs begin with, as baselines (Garland: Parallel
/// Sorting, slides; and the sources named beside each). Each is written to be read: one idea, few
/// kernels, no tuning beyond that idea.
namespace sortie::bench::classics {

/// Keys in the memory of the current device, sorted in place.
struct Keys {
  std::uint32_t* data = nullptr;
  std::uint64_t n = 0;
};

/// Where the work runs, and whether its memory transactions are counted.
///
/// A transaction is what the K-model counts (Capannini, Silvestri, Baraglia 2011, section 4.3): a
/// load or store of one warp to one aligned segment of 32 keys. Counting takes its time.
struct Run {
  cudaStream_t stream = nullptr;
  unsigned long long* transactions = nullptr;  ///< in device memory, added to; null: do not count
};

/// Odd-even transposition (Knuth, volume 3, exercise 5.3.4-37; Habermann 1972): n phases that
/// compare neighbours, alternately from even and from odd places. O(n^2) comparisons. In place.
void odd_even_transposition(Keys keys, const Run& run);

/// Odd-even merge network (Batcher 1968; Knuth, volume 3, 5.2.2, algorithm M): about (log2 n)^2 / 2
/// steps, each a pass over memory. In place, any n.
void odd_even_merge(Keys keys, const Run& run);

/// Sorting by counting (Knuth, volume 3, 5.2, algorithm C): the place of a key is the number of
/// keys before it, counted by comparing it with all of them. O(n^2) comparisons. Extra memory: n
/// keys.
void counting(Keys keys, const Run& run);

/// Radix sort by binary split (Blelloch 1990; Harris, Sengupta, Owens 2007): for each bit, from the
/// lowest up, keys with a 0 move before keys with a 1, by a prefix sum over the bits. 32 passes.
/// Extra memory: n keys.
void binary_split(Keys keys, const Run& run);

/// Radix sort of 4 bits a pass (Satish, Harris, Garland 2009): a block sorts its tile of 1024 keys
/// by four binary splits in shared memory, then moves runs of equal digits. 8 passes. Extra memory:
/// n keys, and 16 counts a tile.
void tiled_radix(Keys keys, const Run& run);

/// Tiled merge sort (Satish, Harris, Garland 2009): tiles of 256 keys sorted by a network in shared
/// memory, then runs merged in pairs; each key finds its place by a binary search in the other run.
/// Extra memory: n keys.
void tiled_merge(Keys keys, const Run& run);

/// GPU quicksort (Cederman, Tsigas 2008): sequences are split around a pivot by many blocks until
/// they are short, then each by one block, and sorted by a bitonic network in the end. Extra
/// memory: n keys. The host reads the lengths after every round of the first phase.
void quicksort(Keys keys, const Run& run);

/// One of them.
struct Classic {
  const char* name;
  void (*sort)(Keys, const Run&);
  std::uint64_t most_items;  ///< beyond it takes longer than anybody waits
};

/// All, the slowest first.
[[nodiscard]] std::span<const Classic> all();

}  // namespace sortie::bench::classics
