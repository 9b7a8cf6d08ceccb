// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "segsort/cuda/tile_sort.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Segments that exceed the tile of a warp: each is sorted by a team of warps. A block has one team
/// or several.
namespace sortie::segsort {

/// Range of items that a tile sorts at once, from the input, output or scratch buffer to the same
/// range of the output: a segment, or neighbouring buckets of a partition.
struct TileRange {
  std::uint64_t begin;
  std::uint32_t length;
  Buffer buffer;
};

/// Sorts a range. Calls `meanwhile` once the loads have been issued.
template <class T, class Meanwhile>
__device__ __forceinline__ void sort_in_block(T& tile, const Arguments<typename T::Word>& arguments,
                                              const TileRange& range, const Meanwhile& meanwhile) {
  const int thread = T::thread();
  const std::uint64_t begin = range.begin;
  const auto length = static_cast<int>(range.length);
  const typename T::Value* const values_in = value_at<T>(arguments.values_of(range.buffer), begin);
  typename T::Word keys[T::items];
  std::uint32_t words[T::items];
  load_items(tile, keys, arguments.keys_of(range.buffer) + begin, values_in, length);
  meanwhile();
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  keep_keys(tile, keys, arguments.codec);
  if (sort_tile(tile, keys, words, length, 0, arguments.codec)) {
    for (int e = thread; e < length; e += T::threads) fetch_value(tile, e, values_in + e);
  }
  finish_values(tile);
  store_items(tile, arguments.codec, length, arguments.keys_out + begin,
              value_at<T>(arguments.values_out, begin));
  T::synchronise();
}

/// Sorts ranges `first`, `first` + `step`, ... of `count`, which `range_of` returns, one after the
/// other, and prefetches the next range meanwhile. A range may be in the output already: all of it
/// is read before any of it is written. \pre `count` + `step` < 2^32
template <class T, class RangeOf>
__device__ __forceinline__ void sort_each_in_tile(T& tile,
                                                  const Arguments<typename T::Word>& arguments,
                                                  unsigned int first, unsigned int step,
                                                  unsigned int count, const RangeOf& range_of) {
  TileRange next{};
  if (first < count) next = range_of(first);
  for (unsigned int i = first; i < count; i += step) {
    const TileRange range = next;
    const bool is_last = count - i <= step;
    if (!is_last) next = range_of(i + step);
    sort_in_block(tile, arguments, range, [&] {
      if (!is_last)
        prefetch_items<T::value_bytes>(arguments.keys_of(next.buffer),
                                       arguments.values_of(next.buffer), next.begin, next.length,
                                       static_cast<unsigned int>(T::thread()), T::threads);
    });
  }
}

/// Sorts the block's share of `count` ranges. Each of its teams has one tile T, as far as shared
/// memory suffices for tiles, and sorts one range after another. T::is_of_team is false if the
/// block is a single team.
template <class T, class RangeOf>
__device__ __forceinline__ void sort_by_teams(unsigned int shared_size,
                                              const Arguments<typename T::Word>& arguments,
                                              unsigned int count, const RangeOf& range_of) {
  T* const tiles = reinterpret_cast<T*>(dynamic_shared_memory());
  if constexpr (T::is_of_team) {
    const auto team = static_cast<unsigned int>(T::team());
    const unsigned int teams =
        min(blockDim.x / T::threads, shared_size / static_cast<unsigned int>(sizeof(T)));
    if (team >= teams) return;
    sort_each_in_tile(tiles[team], arguments, team * gridDim.x + blockIdx.x, teams * gridDim.x,
                      count, range_of);
  } else {
    sort_each_in_tile(*tiles, arguments, blockIdx.x, gridDim.x, count, range_of);
  }
}

template <class Word, int ValueBytes, int Class>
using TileOfClass = Tile<Word, ValueBytes, team_warps(Class), team_items(Class),
                         warps_of_block<Word>(Class) != team_warps(Class)>;

/// Sorts the block's share of what is listed for a block class: groups of buckets and segments.
template <class Word, int ValueBytes, int Class>
__device__ __forceinline__ void sort_class(const Arguments<Word>& arguments, const WorkLists& lists,
                                           unsigned int shared_size) {
  constexpr int group_class = group_class_of(Class);
  unsigned int groups = 0;
  if constexpr (group_class < group_classes) groups = lists.counters->groups[group_class];
  if constexpr (Class == block_class_of_runs) groups = lists.counters->runs;
  const unsigned int count = groups + lists.counters->segments[Class];
  if (count == 0) return;
  __syncthreads();  // the teams of the previous class no longer use the shared memory
  sort_by_teams<TileOfClass<Word, ValueBytes, Class>>(
      shared_size, arguments, count, [&](unsigned int place) -> TileRange {
        if constexpr (group_class < group_classes || Class == block_class_of_runs) {
          if (place < groups) {
            const Group group = lists.group(Class == block_class_of_runs ? 0 : group_class, place);
            return {group.begin(), group.length(), group.buffer()};
          }
        }
        const auto [begin, length] = extent(arguments, lists.segment(Class, place - groups));
        return {begin, static_cast<std::uint32_t>(length), Buffer::input};
      });
}

/// Sorts the segments and groups listed for the block classes whose blocks have BlockWarps warps,
/// longest first. A team takes one segment or group at a time.
///
///   shared memory           the tiles of the teams: keys, values, words
///   registers of thread t   of a team; while loading and storing: items t, threads + t,
///                           2 threads + t, ...; while sorting: the words of positions
///                           items t .. items t + items - 1
template <class Word, int ValueBytes, int BlockWarps>
__global__ void __launch_bounds__(32 * BlockWarps, resident_warps / BlockWarps)
    block_sort_kernel(Arguments<Word> arguments, WorkLists lists, unsigned int shared_size) {
  wait_for_preceding_kernels();
  const auto sort = [&]<int Class>() {
    if constexpr (warps_of_block<Word>(Class) == BlockWarps)
      sort_class<Word, ValueBytes, Class>(arguments, lists, shared_size);
  };
  [&]<int... Before>(std::integer_sequence<int, Before...>) {
    (sort.template operator()<block_classes - 1 - Before>(), ...);
  }
  (std::make_integer_sequence<int, block_classes>{});
}

}  // namespace sortie::segsort
