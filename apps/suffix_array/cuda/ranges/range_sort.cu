// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/suffix_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_merge_sort.cuh>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/numbered_set.cuh"
#include "apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"
#include "apps/suffix_array/cuda/samples/group_slots.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Tests whether a suffix lies in a range; mostly by one read of the text.
template <class Index>
struct InRange {
  SuffixOrder<Index> order;
  SuffixRange range;

  __device__ bool operator()(std::uint64_t position) const {
    const auto window = order.text.template window<std::uint64_t>(position);
    const auto suffix = static_cast<Index>(position);
    if (!range.first) {
      if (window < range.begin_window) return false;
      if (window == range.begin_window && order.before(suffix, static_cast<Index>(range.begin))) {
        return false;
      }
    }
    if (!range.last) {
      if (window > range.end_window) return false;
      if (window == range.end_window && !order.before(suffix, static_cast<Index>(range.end))) {
        return false;
      }
    }
    return true;
  }
};

/// Positions of the suffixes of a range, ascending. Waits for the stream up to four times.
template <class Index>
DeviceBuffer<Index> gather(const InRange<Index>& in_range, std::uint64_t symbols,
                           cudaStream_t stream) {
  const std::uint64_t wanted = in_range.range.members;
  DeviceBuffer<Index> positions(wanted, stream);
  const std::uint64_t chunk =
      std::max(least_searched_chunk, (symbols + searched_chunks - 1) / searched_chunks);
  std::uint64_t found = 0;
  for (std::uint64_t first = 0; first < symbols; first += chunk) {
    const std::uint64_t count = std::min(chunk, symbols - first);
    NumberedSetBuffer<Index> members(count, stream);
    const auto is_member = [in_range, first] __device__(Index j) { return in_range(first + j); };
    fill_set(members.set(), count, is_member, stream);
    const std::uint64_t here = members.number_and_count(stream);
    if (here > wanted - found) break;
    const auto list_member = [first, positions = positions.data() + found] __device__(Index j,
                                                                                      Index rank) {
      positions[rank] = static_cast<Index>(first + j);
    };
    for_each_element(members.set(), count, list_member, stream);
    found += here;
    if (found == wanted && first + count == symbols) return positions;
  }
  throw Error(
      ErrorKind::device,
      "suffix array: found other suffixes in a range than were counted, " + std::to_string(wanted));
}

/// The number of low bits of the first keys in which suffixes of a range may differ.
int key_bits_of(const SymbolStream& text, const SuffixRange& range) {
  const WindowKey key{text};
  if (range.first || range.last) return key.bits();
  const int shift = (text.window_symbols(64) - key.symbols()) * text.bits;
  return static_cast<int>(std::bit_width((range.begin_window ^ range.end_window) >> shift)) + 1;
}

// Thread j handles member j of the list. In a small group it counts the members that precede its
// own, which gives its slot. The members of larger groups, and the first of each, are recorded in
// `large`, by their index in the list.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    place_in_small_groups_kernel(SuffixOrder<Index> order, std::uint64_t depth, const Index* items,
                                 const Index* slots, const std::uint8_t* heads,
                                 std::uint64_t members, Index* suffixes,
                                 GroupSlotsView<Index> large) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - lane >= members) return;  // the whole warp
  const auto group = group_bounds<Index>(heads, members, thread);
  const bool is_member = thread < members;
  const unsigned in_large = __ballot_sync(full_warp, is_member && !group.small);
  const unsigned begins = __ballot_sync(full_warp, is_member && !group.small && heads[thread] != 0);
  if (lane == 0 && in_large != 0) {
    large.members.words[thread / 32].bits = in_large;
    large.heads.words[thread / 32].bits = begins;
  }
  if (!is_member || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const Index own = items[j];
  Index place = group.begin;
  for (Index i = group.begin; i < group.end; ++i) {
    if (i != j && order.before(items[i], own, depth)) ++place;
  }
  suffixes[slots[place]] = own;
}

/// A member of a large group. Groups are numbered in order.
template <class Index>
struct Member {
  Index group;
  Index position;
};

template <class Index>
struct IsBefore {
  SuffixOrder<Index> order;
  std::uint64_t depth;  ///< letters in which the members of each group agree

  // Not inlined: a merge sort contains dozens of comparisons, and the code of before() is long.
  __device__ __noinline__ bool operator()(const Member<Index>& left,
                                          const Member<Index>& right) const {
    if (left.group != right.group) return left.group < right.group;
    return order.before(left.position, right.position, depth);
  }
};

/// Sorts the remaining groups by comparisons of two suffixes at a time: in groups of up to
/// most_counted members, most of which have two, every member compares itself with all others;
/// larger groups are sorted by merge sort. Releases the groups. Waits for the stream once if there
/// are large groups.
template <Position Index>
void sort_by_comparisons(const SuffixOrder<Index>& order, TextSorted<Index>& sorted,
                         cudaStream_t stream) {
  SuffixGroups<Index> list = std::move(sorted.groups);
  sorted.groups = {};
  if (list.members == 0) return;
  list.offsets.reset();
  NumberedSetBuffer<Index> large_members(list.members, stream);
  NumberedSetBuffer<Index> large_heads(list.members, stream);
  const GroupSlotsView<Index> large{large_members.set(), large_heads.set()};
  place_in_small_groups_kernel<<<blocks_for(list.members), element_threads, 0, stream>>>(
      order, sorted.depth, list.items.data(), list.slots.data(), list.heads.data(), list.members,
      sorted.suffixes.data(), large);
  check_cuda(cudaGetLastError());
  if (list.large_groups == 0) return;

  large_heads.number(stream);
  const std::uint64_t count = large_members.number_and_count(stream);
  DeviceBuffer<Member<Index>> members(count, stream);
  DeviceBuffer<Index> slots(count, stream);
  const auto list_large_member = [large, list = list.view(), members = members.data(),
                                  slots = slots.data()] __device__(Index j, Index at) {
    members[at] = {large.groups_up_to(j), list.items[j]};
    slots[at] = list.slots[j];
  };
  for_each_element(large.members, list.members, list_large_member, stream);
  const IsBefore<Index> is_before{order, sorted.depth};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, members.data(), count, is_before, stream);
  });
  const auto place_member = [members = members.data(), slots = slots.data(),
                             suffixes = sorted.suffixes.data()] __device__(Index j) {
    suffixes[slots[j]] = members[j].position;
  };
  for_each_item<Index>(count, place_member, stream);
}

}  // namespace

template <Position Index>
DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                               const SuffixRange& range, RangeFigures& figures,
                               cudaStream_t stream) {
  if (range.members == 0) return {};
  TextSorted<Index> sorted =
      sort_by_text(order.text, gather(InRange<Index>{order, range}, symbols, stream),
                   key_bits_of(order.text, range), TextSortEnd{order.cover.period, true}, stream);
  figures.unresolved_after_first_sort += sorted.unresolved;
  figures.compared += sorted.groups.members;
  sort_by_comparisons(order, sorted, stream);
  return std::move(sorted.suffixes);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(sort_range);

}  // namespace sortie::suffix_array::cuda
