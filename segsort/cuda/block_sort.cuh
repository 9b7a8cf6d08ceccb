#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/tile_sort.cuh"
#include "sortie/segsort/cuda/work_lists.cuh"

/// Segments beyond the tile of a warp: one block each.
namespace sortie::segsort {

/// The block asks for the lines of some items of the input.
template <int ValueBytes, class Word>
__device__ __forceinline__ void prefetch_items(const Arguments<Word>& arguments,
                                               std::uint64_t begin, std::uint64_t length) {
  prefetch_lines(arguments.keys_in + begin, length * sizeof(Word));
  if constexpr (ValueBytes != 0)
    prefetch_lines(static_cast<const char*>(arguments.values_in) + begin * ValueBytes,
                   length * ValueBytes);
}

/// Sorts `length` items from index `begin` of the input arrays to the same place of the output.
/// `meanwhile` is called when the items are on their way.
template <class T, class Meanwhile>
__device__ __forceinline__ void sort_in_block(T& tile, const Arguments<typename T::Word>& arguments,
                                              std::uint64_t begin, int length,
                                              const Meanwhile& meanwhile) {
  using Value = typename T::Value;
  const int thread = T::thread();
  const Value* const values_in = value_at<T>(arguments.values_in, begin);
  typename T::Word keys[T::items];
  std::uint32_t words[T::items];
  load_items(tile, keys, arguments.keys_in + begin, values_in, length);
  meanwhile();
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  keep_keys(tile, keys, arguments.codec);
  if (sort_tile(tile, keys, words, length, 0, segments_anywhere(length, T::items),
                arguments.codec)) {
    for (int e = thread; e < length; e += T::threads) fetch_value(tile, e, values_in + e);
  }
  finish_values(tile);
  store_items(tile, arguments.codec, length, arguments.keys_out + begin,
              value_at<T>(arguments.values_out, begin));
  T::synchronise();
}

/// Sorts the block's share of `count` segments, whose extents `extent_of` gives, one after the
/// other; the next one is brought near meanwhile.
template <class T, class ExtentOf>
__device__ __forceinline__ void sort_each_in_block(T& tile,
                                                   const Arguments<typename T::Word>& arguments,
                                                   std::uint64_t count, const ExtentOf& extent_of) {
  SegmentExtent next{};
  if (blockIdx.x < count) next = extent_of(blockIdx.x);
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const SegmentExtent segment = next;
    next = i + gridDim.x < count ? extent_of(i + gridDim.x) : SegmentExtent{};
    sort_in_block(tile, arguments, segment.begin, static_cast<int>(segment.length),
                  [&] { prefetch_items<T::value_bytes>(arguments, next.begin, next.length); });
  }
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
  sort_each_in_block(tile, arguments, lists.counters->segments[Class], [&](std::uint64_t i) {
    return extent(arguments, lists.segment(Class, static_cast<std::uint32_t>(i)));
  });
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
  const auto arguments_for = [&](const Group& group) {
    Arguments<Word> from = arguments;
    from.keys_in = arguments.keys_of(group.buffer());
    from.values_in = arguments.values_of(group.buffer());
    return from;
  };
  Group next{};
  if (blockIdx.x < count) next = lists.group(Class, blockIdx.x);
  for (unsigned int i = blockIdx.x; i < count; i += gridDim.x) {
    const Group group = next;
    const bool is_last = count - i <= gridDim.x;
    if (!is_last) next = lists.group(Class, i + gridDim.x);
    sort_in_block(tile, arguments_for(group), group.begin(), group.length(), [&] {
      if (!is_last)
        prefetch_items<ValueBytes>(arguments_for(next), next.begin(),
                                   static_cast<std::uint64_t>(next.length()));
    });
  }
}

}  // namespace sortie::segsort
