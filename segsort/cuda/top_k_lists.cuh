// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/top_k_arguments.cuh"
#include "segsort/cuda/top_k_threshold.cuh"

/// How a warp reads segments, and passes on those that other kernels select from.
namespace sortie::segsort {

/// Lists the lane's segment for the blocks. All lanes of the warp take part.
template <class Key>
__device__ __forceinline__ void list_for_blocks(const TopKArguments<Key>& arguments,
                                                std::uint64_t segment, const Selection& s) {
  const TopKLists& lists = arguments.lists;
  const bool listed = s.wanted != 0 && s.length > arguments.warp_longest;
  const bool is_long = listed && s.length > longest_of_block;
  const unsigned int of_block = __ballot_sync(full_warp, listed && !is_long);
  if (of_block != 0) {
    unsigned long long place = 0;
    if (lane() == 0) place = atomicAdd(&lists.counters->block_segments, lanes_of(of_block));
    place = __shfl_sync(full_warp, place, 0);
    if (listed && !is_long) lists.block_segments[place + rank_among(of_block)] = segment;
  }
  for (unsigned int rest = __ballot_sync(full_warp, is_long); rest != 0; rest &= rest - 1) {
    const int owner = first_lane(rest);
    const Parts parts(__shfl_sync(full_warp, s.length, owner));
    unsigned long long index = 0;
    unsigned long long first_part = 0;
    if (static_cast<int>(lane()) == owner) {
      index = atomicAdd(&lists.counters->long_segments, 1);
      first_part = atomicAdd(&lists.counters->parts, static_cast<unsigned long long>(parts.count));
      const auto first_group =
          atomicAdd(&lists.counters->groups, static_cast<unsigned long long>(parts.groups));
      lists.long_segments[index] = {segment, first_part, first_group};
    }
    index = __shfl_sync(full_warp, index, owner);
    first_part = __shfl_sync(full_warp, first_part, owner);
    for (std::uint64_t p = lane(); p < parts.count; p += 32)
      lists.part_owner[first_part + p] = static_cast<std::uint32_t>(index);
  }
}

/// Prefetches the keys of the lanes' segments, and values of which many will be wanted.
/// \param together  the lanes' segments are short and mostly consecutive: the warp prefetches the
///                  lines from the first to the last of them
template <class Key>
__device__ __forceinline__ void prefetch_selection(const TopKArguments<Key>& arguments,
                                                   const Selection& s, bool together) {
  const bool mine = s.wanted != 0 && s.length <= longest_of_warp;
  std::uint64_t begin = mine ? s.begin : 0;
  std::uint64_t length = mine ? s.length : 0;
  bool has_values = arguments.values_in != nullptr && 8 * s.wanted >= s.length;
  unsigned int thread = 0;
  unsigned int threads = 1;
  if (together) {
    const unsigned int lanes = __ballot_sync(full_warp, mine);
    begin = __shfl_sync(full_warp, begin, first_lane(lanes) & 31);
    const std::uint64_t end = __shfl_sync(full_warp, s.begin + s.length, highest_bit(lanes) & 31);
    constexpr std::uint64_t most = 32 * longest_of_thread<WordOf<Key>>;
    length = lanes != 0 && end > begin ? min(end - begin, most) : 0;
    has_values = __any_sync(full_warp, has_values && mine) != 0;
    thread = lane();
    threads = 32;
  }
  prefetch_lines(arguments.keys_in + begin, length * sizeof(Key), thread, threads);
  if (has_values) {
    const auto bytes = static_cast<std::uint64_t>(arguments.value_bytes);
    prefetch_lines(static_cast<const char*>(arguments.values_in) + begin * bytes, length * bytes,
                   thread, threads);
  }
}

/// Of the lane's segment: its selection, and the extent of its results if wanted.
template <class Key>
__device__ __forceinline__ Selection read_selection(const TopKArguments<Key>& arguments,
                                                    std::uint64_t segment) {
  const Selection s = selection_of(arguments, segment);
  if (arguments.lists.begins != nullptr) {
    arguments.lists.begins[segment] = s.out;
    arguments.lists.ends[segment] = s.out + s.wanted;
  }
  return s;
}

/// Lists the extent of the lane's results for a sort of them, if it takes part. All lanes call.
template <class Key>
__device__ __forceinline__ void list_results(const TopKArguments<Key>& arguments, bool takes_part,
                                             const Selection& s) {
  const TopKLists& lists = arguments.lists;
  const unsigned int all = __ballot_sync(full_warp, takes_part);
  if (lists.begins == nullptr || all == 0) return;
  unsigned long long place = 0;
  if (lane() == 0) place = atomicAdd(&lists.counters->results, lanes_of(all));
  place = __shfl_sync(full_warp, place, 0) + rank_among(all);
  if (!takes_part) return;
  lists.begins[place] = s.out;
  lists.ends[place] = s.out + s.wanted;
}

/// Lists the lane's segment, which no tile of a warp takes, for teams, or for warps and blocks with
/// the extent of its results. All lanes call.
template <class Key>
__device__ __forceinline__ void list_beyond_tiles(const TopKArguments<Key>& arguments,
                                                  std::uint64_t segment, Selection s,
                                                  bool is_listed) {
  const bool of_team = is_listed && s.length <= arguments.team_longest;
#pragma unroll
  for (int list = 0; list < team_lists; ++list) {
    const bool fits = s.length <= block_capacity(team_class(list));
    const bool mine =
        of_team && fits && (list == 0 || s.length > block_capacity(team_class(max(list - 1, 0))));
    const unsigned int all = __ballot_sync(full_warp, mine);
    if (all == 0) continue;
    unsigned long long first = 0;
    if (lane() == 0)
      first = atomicAdd(&arguments.lists.counters->team_segments[list], lanes_of(all));
    first = __shfl_sync(full_warp, first, 0);
    if (mine) arguments.lists.team_segments[list][first + rank_among(all)] = segment;
  }
  if (of_team) {
    is_listed = false;
    s.wanted = 0;
  }
  list_results(arguments, is_listed, s);
  list_for_blocks(arguments, segment, s);
  const bool of_warp = is_listed && s.length <= arguments.warp_longest;
  const unsigned int listed = __ballot_sync(full_warp, of_warp);
  if (listed == 0) return;
  const TopKLists& lists = arguments.lists;
  unsigned long long place = 0;
  if (lane() == 0) place = atomicAdd(&lists.counters->warp_segments, lanes_of(listed));
  place = __shfl_sync(full_warp, place, 0);
  if (of_warp) lists.warp_segments[place + rank_among(listed)] = segment;
}

}  // namespace sortie::segsort
