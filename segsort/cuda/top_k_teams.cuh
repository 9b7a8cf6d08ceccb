// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/top_k_tiles.cuh"

/// Selection of many items from segments that exceed the tile of a warp: a team of warps sorts one
/// segment as block_sort.cuh does, and writes its first items to their final places.
namespace sortie::segsort {

/// Sorts the segment of a selection in the tile of a team. Calls `meanwhile` once the loads have
/// been issued.
template <class T, class Meanwhile>
__device__ __forceinline__ void select_in_team(T& tile,
                                               const TopKArguments<typename T::Word>& arguments,
                                               const Selection& s, const Meanwhile& meanwhile) {
  using Value = typename T::Value;
  const int thread = T::thread();
  const auto length = static_cast<int>(s.length);
  const BitRangeCodec<typename T::Word> codec = arguments.tile_codec();
  const bool has_positions = arguments.values_in == nullptr;
  const auto load_values = [&] {
    if constexpr (T::value_bytes != 0) {
      const Value* const values_in = value_at<T>(arguments.values_in, has_positions ? 0 : s.begin);
      for (int e = thread; e < length; e += T::threads) {
        if (has_positions) {
          tile.values[e] = static_cast<Value>(s.begin + static_cast<std::uint64_t>(e));
        } else {
          fetch_value(tile, e, values_in + e);
        }
      }
    }
  };
  typename T::Word keys[T::items];
  std::uint32_t words[T::items];
  const auto* const keys_in = in_global_memory(arguments.keys_in) + s.begin;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    keys[r] = keys_in[min(e, length - 1)];
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  load_values();
  meanwhile();
  keep_keys(tile, keys, codec);
  if (sort_tile(tile, keys, words, length, 0, codec)) load_values();
  finish_values(tile);
  const SelectedArrays<typename T::Word> arrays{arguments.keys_in, arguments.keys_out,
                                                arguments.values_in, arguments.values_out, codec};
  store_selected(tile, arrays, static_cast<int>(s.wanted),
                 [&](std::uint32_t, int p, std::uint64_t& place) {
                   place = s.out + static_cast<std::uint64_t>(p);
                   return true;
                 });
  T::synchronise();
}

/// Selects from the block's share of the segments of a list of teams.
template <class Word, int ValueBytes, int List>
__device__ __forceinline__ void select_by_teams(const TopKArguments<Word>& arguments,
                                                unsigned int shared_size) {
  using T = TileOfClass<Word, ValueBytes, team_class(List)>;
  const TopKLists& lists = arguments.lists;
  const std::uint64_t count = lists.counters->team_segments[List];
  if (count == 0) return;
  __syncthreads();  // the teams of the previous list no longer use the shared memory
  const auto team = static_cast<unsigned int>(T::team());
  const unsigned int teams =
      min(blockDim.x / T::threads, shared_size / static_cast<unsigned int>(sizeof(T)));
  if (team >= teams) return;
  T& tile = reinterpret_cast<T*>(dynamic_shared_memory())[team];
  const std::uint64_t step = std::uint64_t{teams} * gridDim.x;
  const auto read = [&](std::uint64_t i) {
    return selection_of(arguments, lists.team_segments[List][i]);
  };
  std::uint64_t i = std::uint64_t{team} * gridDim.x + blockIdx.x;
  Selection next = i < count ? read(i) : Selection{};
  for (; i < count; i += step) {
    const Selection s = next;
    const bool is_last = count - i <= step;
    if (!is_last) next = read(i + step);
    select_in_team(tile, arguments, s, [&] {
      if (is_last) return;
      const auto thread = static_cast<unsigned int>(T::thread());
      prefetch_lines(arguments.keys_in + next.begin, next.length * sizeof(Word), thread,
                     T::threads);
      if (ValueBytes != 0 && arguments.values_in != nullptr)
        prefetch_lines(static_cast<const char*>(arguments.values_in) + next.begin * ValueBytes,
                       next.length * ValueBytes, thread, T::threads);
    });
  }
}

/// Shared memory and registers are those of block_sort_kernel. Longest segments first.
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(32 * top_k_team_warps, 1)
    top_k_team_kernel(const TopKArguments<Word> arguments, unsigned int shared_size) {
  select_by_teams<Word, ValueBytes, 2>(arguments, shared_size);
  select_by_teams<Word, ValueBytes, 1>(arguments, shared_size);
  select_by_teams<Word, ValueBytes, 0>(arguments, shared_size);
}

}  // namespace sortie::segsort
