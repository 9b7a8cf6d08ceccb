#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/tile_sort.cuh"
#include "sortie/segsort/cuda/work_lists.cuh"

/// Segments beyond the tile of a warp: one block each.
namespace sortie::segsort {

/// Sorts `length` items from index `begin` of the input arrays to the same place of the output.
template <class T>
__device__ __forceinline__ void sort_in_block(T& tile, const Arguments<typename T::Word>& arguments,
                                              std::uint64_t begin, int length) {
  using Word = typename T::Word;
  Word keys[T::items];
  std::uint32_t words[T::items];
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + T::thread();
    const int read = min(e, length - 1);
    keys[r] = arguments.keys_in[begin + static_cast<std::uint64_t>(read)];
    fetch_value(tile, e, arguments.values_in, begin + static_cast<std::uint64_t>(read));
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  keep_keys(tile, keys, arguments.codec);
  if (sort_tile(tile, keys, words, length, 0, length, arguments.codec)) {
    for (int e = T::thread(); e < length; e += T::threads)
      fetch_value(tile, e, arguments.values_in, begin + static_cast<std::uint64_t>(e));
  }
  finish_values(tile);
  store_tile(tile, arguments, length, 0,
             [&](std::uint32_t, int place) { return begin + static_cast<std::uint64_t>(place); });
  T::synchronise();
}

/// Blocks that should run on a multiprocessor at once: as many warps as hide the latencies.
constexpr int resident_blocks(int warps) {
  return warps == 16 ? 2 : 24 / warps;
}

/// Sorts the segments of one block class: one block, one segment at a time.
///
///   shared memory           the segment's tile: keys, values, words
///   registers of thread t   while loading and storing, items t, threads + t, 2 threads + t, ...;
///                           while sorting, the words of positions items t .. items t + items - 1
template <class Word, int ValueBytes, int Class>
__global__ void __launch_bounds__(32 * block_warps(Class), resident_blocks(block_warps(Class)))
    block_sort_kernel(Arguments<Word> arguments, WorkLists lists) {
  using T = Tile<Word, ValueBytes, block_warps(Class), block_items(Class)>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T& tile = *reinterpret_cast<T*>(shared_bytes);
  wait_for_kernels_before();
  const unsigned int count = lists.counters->segments[Class];
  for (unsigned int i = blockIdx.x; i < count; i += gridDim.x) {
    const SegmentExtent segment = extent(arguments, lists.segment(Class, i));
    sort_in_block(tile, arguments, segment.begin, static_cast<int>(segment.length));
  }
}

/// Sorts the groups of neighbouring buckets that partitions leave, one block a group, held as in
/// block_sort_kernel. A group may be in the output already: its block has read all of it before it
/// writes.
template <class Word, int ValueBytes, int Class>
__global__ void __launch_bounds__(32 * group_warps(Class), resident_blocks(group_warps(Class)))
    group_sort_kernel(Arguments<Word> arguments, WorkLists lists) {
  using T = Tile<Word, ValueBytes, group_warps(Class), warp_tile_items>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T& tile = *reinterpret_cast<T*>(shared_bytes);
  wait_for_kernels_before();
  const unsigned int count = lists.counters->groups[Class];
  for (unsigned int i = blockIdx.x; i < count; i += gridDim.x) {
    const Group group = lists.group(Class, i);
    Arguments<Word> from = arguments;
    from.keys_in = arguments.keys_of(group.buffer());
    from.values_in = arguments.values_of(group.buffer());
    sort_in_block(tile, from, group.begin(), group.length());
  }
}

}  // namespace sortie::segsort
