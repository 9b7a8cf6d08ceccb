// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_merge_sort.cuh>
#include "apps/suffix_array/cuda/build/group_bounds.cuh"
#include "apps/suffix_array/cuda/ranges/range_sort.hpp"
#include "primitives/cuda/warp.cuh"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/numbered_set.cuh"
#include "apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"
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

// Thread j tests the suffix at first + j; a warp writes one word of the set by a vote.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    mark_members_kernel(InRange<Index> in_range, std::uint64_t first, std::uint64_t count,
                        NumberedSet<Index> members) {
  const std::uint64_t j = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const unsigned votes = __ballot_sync(full_warp, j < count && in_range(first + j));
  if (threadIdx.x % 32 == 0 && j < count) members.words[j / 32].bits = votes;
}

template <class Index>
struct ListMembers {
  NumberedSet<Index> members;
  std::uint64_t first;
  Index* positions;

  __device__ void operator()(Index j) const {
    const NumberedWord<Index> word = members.word(j);
    if (word.contains(j)) positions[word.rank(j)] = static_cast<Index>(first + j);
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
    mark_members_kernel<<<blocks_for(count), element_threads, 0, stream>>>(in_range, first, count,
                                                                           members.set());
    check_cuda(cudaGetLastError());
    const std::uint64_t here = members.number_and_count(stream);
    if (here > wanted - found) break;
    for_each_item<Index>(count, ListMembers<Index>{members.set(), first, positions.data() + found},
                         stream);
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

/// The members of groups of more than most_counted, and the first member of each of these groups,
/// as sets of indices in the list.
template <class Index>
struct LargeSets {
  NumberedSet<Index> members;
  NumberedSet<Index> heads;
};

// Thread j handles member j of the list. In a small group it counts the members that precede its
// own, which gives its slot; large groups are recorded.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    place_in_small_groups_kernel(SuffixOrder<Index> order, std::uint64_t depth, const Index* items,
                                 const Index* slots, const std::uint8_t* heads,
                                 std::uint64_t members, Index* suffixes, LargeSets<Index> large) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - lane >= members) return;  // the whole warp
  const auto group = HeadVotes(heads, members, thread - lane, lane).bounds<Index>();
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
struct ListLargeMembers {
  LargeSets<Index> large;
  const Index* items;
  const Index* slots;
  Member<Index>* members;
  Index* member_slots;

  __device__ void operator()(Index j) const {
    const NumberedWord<Index> word = large.members.word(j);
    if (!word.contains(j)) return;
    const Index at = word.rank(j);
    const NumberedWord<Index> begins = large.heads.word(j);
    members[at] = {static_cast<Index>(begins.rank(j) + (begins.contains(j) ? 1 : 0)), items[j]};
    member_slots[at] = slots[j];
  }
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

template <class Index>
struct PlaceMembers {
  const Member<Index>* members;
  const Index* slots;
  Index* suffixes;

  __device__ void operator()(Index j) const { suffixes[slots[j]] = members[j].position; }
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
  const LargeSets<Index> large{large_members.set(), large_heads.set()};
  place_in_small_groups_kernel<<<blocks_for(list.members), element_threads, 0, stream>>>(
      order, sorted.depth, list.items.data(), list.slots.data(), list.heads.data(), list.members,
      sorted.suffixes.data(), large);
  check_cuda(cudaGetLastError());
  if (list.large_groups == 0) return;

  static_cast<void>(large_heads.number(stream));
  const std::uint64_t count = large_members.number_and_count(stream);
  DeviceBuffer<Member<Index>> members(count, stream);
  DeviceBuffer<Index> slots(count, stream);
  for_each_item<Index>(list.members,
                       ListLargeMembers<Index>{large, list.items.data(), list.slots.data(),
                                               members.data(), slots.data()},
                       stream);
  const IsBefore<Index> is_before{order, sorted.depth};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, members.data(), count, is_before, stream);
  });
  for_each_item<Index>(
      count, PlaceMembers<Index>{members.data(), slots.data(), sorted.suffixes.data()}, stream);
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

template decltype(sort_range<std::uint32_t>) sort_range<std::uint32_t>;
template decltype(sort_range<std::uint64_t>) sort_range<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
