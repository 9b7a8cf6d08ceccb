// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

/// Classic GPU sorting algorithms of lectures and papers, as baselines (Garland: Parallel Sorting,
/// slides; and the source named for each). The code is written for clarity: one idea, few kernels,
/// no further tuning. Each is instantiated for keys and for pairs.
namespace sortie::papers::classics {

/// Items in the memory of the current device; sorted in place. An item is a key or a pair.
template <class Item>
struct Array {
  Item* data = nullptr;
  std::uint64_t n = 0;
};
using Keys = Array<std::uint32_t>;
/// A pair is one word with its key in the upper half and its value in the lower one. Sorts by comparison
/// compare the whole word, radix sorts look at the bits of the key alone.
using Pairs = Array<std::uint64_t>;

/// The stream of the work, and the counter of memory transactions.
///
/// Transactions are counted as in the K-model (Capannini, Silvestri, Baraglia 2011, section 4.3):
/// one per load or store of a warp and aligned segment of 32 keys. Counting slows the kernels down.
struct Run {
  cudaStream_t stream = nullptr;
  unsigned long long* transactions = nullptr;  ///< device counter to add to; null: do not count
};

/// Selection sort (Knuth, volume 3, 5.2.3): each round appends the smallest remaining key. One block,
/// since rounds depend on each other. O(n^2) comparisons. In place. \pre n < 2^32
template <class Item>
void selection(Array<Item> keys, const Run& run);

/// Insertion sort (Knuth, volume 3, 5.2.1): each round inserts the next key into the sorted ones. One
/// block. O(n^2) moves. In place.
template <class Item>
void insertion(Array<Item> keys, const Run& run);

/// Odd-even transposition (Knuth, volume 3, exercise 5.3.4-37; Habermann 1972): n phases that
/// compare neighbours, alternately from even and from odd places. O(n^2) comparisons. In place.
template <class Item>
void odd_even_transposition(Array<Item> keys, const Run& run);

/// Odd-even merge network (Batcher 1968; Knuth, volume 3, 5.2.2, algorithm M): about (log2 n)^2 / 2
/// steps, each a pass over memory. In place, any n.
template <class Item>
void odd_even_merge(Array<Item> keys, const Run& run);

/// Comparison counting sort (Knuth, volume 3, 5.2, algorithm C): the position of a key is the
/// number of keys before it in sorted order, counted by comparing it with all keys. O(n^2)
/// comparisons. Extra memory: n keys.
template <class Item>
void counting(Array<Item> keys, const Run& run);

/// Counting sort by offset (Garland's alternative): counts how far each key moves. The same cost.
template <class Item>
void counting_by_offset(Array<Item> keys, const Run& run);

/// Radix sort by binary split (Blelloch 1990; Harris, Sengupta, Owens 2007): for each bit, from the
/// lowest up, moves keys with a 0 before keys with a 1 by a prefix sum over the bits. 32 passes.
/// Extra memory: n keys.
template <class Item>
void binary_split(Array<Item> keys, const Run& run);

/// Radix sort with 4 bits per pass (Satish, Harris, Garland 2009): a block sorts its tile of 1024
/// keys by four binary splits in shared memory, then moves runs of equal digits. 8 passes. Extra
/// memory: n keys, and 16 counts per tile.
template <class Item>
void tiled_radix(Array<Item> keys, const Run& run);

/// Tiled merge sort (Satish, Harris, Garland 2009): sorts tiles of 256 keys by a network in shared
/// memory, then merges pairs of runs; the position of each key is found by binary search in the
/// other run.
/// Extra memory: n keys.
template <class Item>
void tiled_merge(Array<Item> keys, const Run& run);

/// GPU quicksort (Cederman, Tsigas 2008): many blocks split each sequence around a pivot until the
/// sequences are short; then one block splits each sequence further and sorts the shortest parts by
/// a bitonic network. Extra memory: n keys. The host reads the lengths after every round of the
/// first phase.
template <class Item>
void quicksort(Array<Item> keys, const Run& run);

/// Sample sort (Leischner, Osipov, Sanders 2010): splitters from a sorted sample divide each sequence
/// into 128 buckets, and as many of keys equal to a splitter, until the sequences are short; quicksort
/// sorts these. Extra memory: n keys, and a count for each bucket and 2^14 keys. The host reads the
/// bounds of the buckets after every round.
template <class Item>
void sample_sort(Array<Item> keys, const Run& run);

/// A classic algorithm.
struct Classic {
  const char* name;
  void (*sort)(Keys, const Run&);
  void (*sort_pairs)(Pairs, const Run&);
  std::uint64_t most_items;  ///< maximum length for which it is measured
};

/// All algorithms, the slowest first.
[[nodiscard]] std::span<const Classic> all();

}  // namespace sortie::papers::classics
