// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/first_of_tile.cuh"
#include "segsort/cuda/top_k_arguments.cuh"

/// Segments that exceed the tile of a warp, as block_sort.cuh sorts them, for
/// selections and narrow keys: ItemArrays says how keys are loaded and where
/// items are written.
namespace sortie::segsort {

/// Sorts a segment in the tile of a team, and writes its first s.wanted items
/// from s.out on. Calls `meanwhile` once the loads have been issued.
template <class T, class Arrays, class Meanwhile>
__device__ __forceinline__ void select_in_team(T& tile, const Arrays& arrays, const Selection& s,
                                               const Meanwhile& meanwhile) {
  using Value = typename T::Value;
  const int thread = T::thread();
  const auto length = static_cast<int>(s.length);
  const auto& codec = arrays.codec;
  const auto load_values = [&] {
    if constexpr (T::value_bytes != 0) {
      const bool has_positions = Arrays::selects && arrays.values_in == nullptr;
      const Value* const values_in = value_at<T>(arrays.values_in, has_positions ? 0 : s.begin);
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
  const auto* const keys_in = in_global_memory(arrays.keys_in) + s.begin;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    keys[r] = keys_in[min(e, length - 1)];
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  load_values();
  meanwhile();
  keep_keys(tile, keys, codec);
  const auto wanted = static_cast<int>(s.wanted);
  bool is_sorted = false;
  if constexpr (Arrays::selects && sorts_first<T>) {
    const bool are_few = wanted <= most_first<T> && 2 * wanted <= length;
    is_sorted = are_few && sort_first(tile, keys, length, wanted, codec);
    if (are_few && !is_sorted) {
      T::synchronise();  // key_range() in sort_tile() uses the bounds again
#pragma unroll
      for (int r = 0; r < T::items; ++r)
        keys[r] = tile.keys[min(r * T::threads + thread, length - 1)] & codec.compare_mask;
    }
  }
  if (!is_sorted && sort_tile(tile, keys, words, length, 0, codec)) load_values();
  finish_values(tile);
  store_selected(tile, arrays, wanted, [&](std::uint32_t, int p, std::uint64_t& place) {
    place = s.out + static_cast<std::uint64_t>(p);
    return true;
  });
  T::synchronise();
}

/// Sorts the block's share of `count` segments, which read(i) returns, in tiles T: each team, as far
/// as shared memory suffices for tiles, sorts one after the other. The next segment is read twice: to
/// prefetch it, and to sort it, since registers that kept it meanwhile would be spilled.
template <class T, class Arrays, class Read>
__device__ __forceinline__ void select_by_teams(const Arrays& arrays, unsigned int shared_size,
                                                std::uint64_t count, const Read& read) {
  if (count == 0) return;
  __syncthreads();  // teams with other tiles no longer use the shared memory
  unsigned int team = 0;
  unsigned int teams = 1;
  if constexpr (T::is_of_team) {
    team = static_cast<unsigned int>(T::team());
    teams = min(blockDim.x / T::threads, shared_size / static_cast<unsigned int>(sizeof(T)));
    if (team >= teams) return;
  }
  T& tile = reinterpret_cast<T*>(dynamic_shared_memory())[team];
  const std::uint64_t step = std::uint64_t{teams} * gridDim.x;
  std::uint64_t i = std::uint64_t{team} * gridDim.x + blockIdx.x;
  for (; i < count; i += step) {
    select_in_team(tile, arrays, read(i), [&] {
      if (count - i <= step) return;
      const Selection next = read(i + step);
      const auto thread = static_cast<unsigned int>(T::thread());
      prefetch_lines(arrays.keys_in + next.begin, next.length * sizeof(*arrays.keys_in), thread,
                     T::threads);
      if (T::value_bytes != 0 && arrays.values_in != nullptr)
        prefetch_lines(static_cast<const char*>(arrays.values_in) + next.begin * T::value_bytes,
                       next.length * T::value_bytes, thread, T::threads);
    });
  }
}

}  // namespace sortie::segsort
