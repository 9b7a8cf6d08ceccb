// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/build/large_groups.cuh"
#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/read_value.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Up to this many tiles, each warp sums the totals before its tile itself, which takes less time
/// than the launches of a scan.
constexpr std::uint64_t most_tiles_added = 2048;

constexpr std::uint64_t tiles_of(std::uint64_t items) {
  return (items + refinement_tile - 1) / refinement_tile;
}

/// The counts of a list in device memory, which are copied to the host in one copy.
template <class Index>
struct ListCounts {
  RefinementTotals<Index> all;
  /// Large groups, above large_member_bits bits for their members: one atomic addition finds the
  /// number of a group and the members before it.
  unsigned long long large;
  unsigned long long large_pairs;
};
/// No device holds 2^28 large groups, of more than 64 members each, or 2^36 members.
constexpr int large_member_bits = 36;
constexpr unsigned long long one_large_group = 1ULL << large_member_bits;

/// Fills large_begins and large_ends from offsets and sets the counts of the list. Waits for the
/// stream.
/// \param counts       those of large groups are 0, and are counted
/// \param most_groups  upper bound of the number of groups
template <Position Index>
void finish_list(SuffixGroups<Index>& list, DeviceBuffer<ListCounts<Index>>& counts,
                 std::uint64_t most_groups, cudaStream_t stream) {
  constexpr std::uint64_t most_threads = 1 << 19;  // about twice what the largest GPU runs at once
  const std::uint64_t threads = std::min(most_groups, most_threads);
  // Thread t handles groups t, t + threads, ...
  const auto list_large = [offsets = list.offsets.data(), threads,
                           begins = list.large_begins.data(), ends = list.large_ends.data(),
                           places = list.large_places.data(),
                           counts = counts.data()] __device__(Index thread) {
    const Index groups = counts->all.groups;
    for (std::uint64_t g = thread; g < groups; g += threads) {
      const Index begin = offsets[g];
      const Index end = offsets[g + 1];
      if (end - begin <= most_counted) continue;
      const unsigned long long before =
          atomicAdd(&counts->large, one_large_group + static_cast<unsigned long long>(end - begin));
      atomicAdd(&counts->large_pairs, member_pairs(end - begin));
      const unsigned long long at = before >> large_member_bits;
      begins[at] = begin;
      ends[at] = end;
      places[at] = static_cast<Index>(before & (one_large_group - 1));
    }
  };
  for_each_item<Index>(threads, list_large, stream);
  const auto found = read_value(counts.data(), stream);
  list.members = found.all.members;
  list.groups = found.all.groups;
  list.large_groups = found.large >> large_member_bits;
  list.large_members = found.large & (one_large_group - 1);
  list.large_pairs = found.large_pairs;
}

/// Writes the list of the remaining items, and calls `use` for every item.
/// \param most_members  capacity of the list
template <class Index, class Items, class Use>
SuffixGroups<Index> refine(const Items& items, const Use& use, std::uint64_t count,
                           std::uint64_t most_members, cudaStream_t stream) {
  SuffixGroups<Index> rest(most_members, stream);
  DeviceBuffer<ListCounts<Index>> counts(1, stream);
  check_cuda(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream));
  {
    const std::uint64_t tiles = tiles_of(count);
    const unsigned blocks = blocks_for(tiles, element_threads / lanes);
    DeviceBuffer<RefinementTotals<Index>> totals(tiles, stream);
    total_kernel<<<blocks, element_threads, 0, stream>>>(items, count, tiles, totals.data());
    check_cuda(cudaGetLastError());
    const bool add_up = tiles > most_tiles_added;
    if (add_up) {
      call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
        return scan_totals(scratch, bytes, totals.data(), tiles, stream);
      });
    }
    keep_kernel<<<blocks, element_threads, 0, stream>>>(items, use, count, tiles, totals.data(),
                                                        add_up, rest.view(), &counts.data()->all);
    check_cuda(cudaGetLastError());
  }
  finish_list(rest, counts, most_members / 2 + 1, stream);
  return rest;
}

/// Most bytes a member of large groups that sort_by_radix() holds: two words, twice.
constexpr std::uint64_t bytes_of_radix = 4 * sizeof(std::uint64_t);

/// Most members of large groups that sort_by_radix() sorts. With more, all blocks of a segmented sort
/// have as much to do as the one with the largest group: on an H100, pairs of bytes of documentation
/// take 4 % less time with 1.7 million members sorted by radix, and HTML 5 % more with 10.8 million.
constexpr std::uint64_t most_radix_members = 2'500'000;

/// Whether sort_by_radix() is used.
template <Position Index>
bool sorts_by_radix(const SuffixGroups<Index>& list, std::uint64_t spare) {
  return sizeof(Index) == sizeof(std::uint32_t) && list.large_members != 0 &&
         list.large_members <= most_radix_members && list.large_members * bytes_of_radix <= spare;
}

template <class Task, class Key>
void load_large(const Task& task, std::uint64_t members, const Key* keys,
                const std::uint32_t* items, cudaStream_t stream) {
  const auto load = [task, keys, items] __device__(std::uint32_t number) {
    task.load(number, keys, items);
  };
  for_each_item<std::uint32_t>(members, load, stream);
}
template <class Task, class Key>
void store_large(const Task& task, std::uint64_t members, Key* keys, std::uint32_t* items,
                 cudaStream_t stream) {
  const auto store = [task, keys, items] __device__(std::uint32_t number) {
    task.store(number, keys, items);
  };
  for_each_item<std::uint32_t>(members, store, stream);
}

/// Sorts the members of all large groups at once, by the numbers of their groups and by keys. A
/// segmented sort takes longest for the largest group, which one block partitions until its parts
/// fit a tile, pass by pass as the keys are the more skewed; this sort takes the same time for all.
template <class Key>
void sort_by_radix(const SuffixGroups<std::uint32_t>& list, const DeviceBuffer<Key>& keys,
                   int key_bits, Key* sorted_keys, std::uint32_t* sorted_items,
                   cudaStream_t stream) {
  const std::uint64_t members = list.large_members;
  const LargeMembers large{list.large_begins.data(), list.large_places.data(),
                           static_cast<std::uint32_t>(list.large_groups)};
  const int group_bits = std::bit_width(list.large_groups - 1);
  RadixBuffers buffers;
  const auto sort = [&](std::size_t value_bytes, int begin, int end) {
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return device_radix_sort(scratch, bytes, buffers, members, sizeof(std::uint64_t),
                               static_cast<int>(value_bytes), begin, end, stream);
    });
  };
  DeviceBuffer<std::uint64_t> words(members, stream);
  DeviceBuffer<std::uint64_t> other_words(members, stream);
  if (key_bits < 64 && key_bits + group_bits <= 64) {
    DeviceBuffer<std::uint32_t> items(members, stream);
    DeviceBuffer<std::uint32_t> other_items(members, stream);
    LargeByWord<Key> task{large, key_bits, words.data(), items.data()};
    load_large(task, members, keys.data(), list.items.data(), stream);
    buffers = {words.data(), other_words.data(), items.data(), other_items.data()};
    sort(sizeof(std::uint32_t), 0, key_bits + group_bits);
    task.words = static_cast<std::uint64_t*>(buffers.keys);
    task.items = static_cast<std::uint32_t*>(buffers.values);
    store_large(task, members, sorted_keys, sorted_items, stream);
    return;
  }
  if constexpr (sizeof(Key) == sizeof(std::uint64_t)) {
    DeviceBuffer<std::uint64_t> tags(members, stream);
    DeviceBuffer<std::uint64_t> other_tags(members, stream);
    LargeByTwoWords task{large, words.data(), tags.data()};
    load_large(task, members, keys.data(), list.items.data(), stream);
    buffers = {words.data(), other_words.data(), tags.data(), other_tags.data()};
    sort(sizeof(std::uint64_t), 0, key_bits);
    std::swap(buffers.keys, buffers.values);
    std::swap(buffers.other_keys, buffers.other_values);
    if (group_bits != 0) sort(sizeof(std::uint64_t), 32, 32 + group_bits);
    task.words = static_cast<std::uint64_t*>(buffers.values);
    task.tags = static_cast<std::uint64_t*>(buffers.keys);
    store_large(task, members, sorted_keys, sorted_items, stream);
  }
}

}  // namespace

template <Position Index>
void list_large_groups(SuffixGroups<Index>& list, cudaStream_t stream) {
  const ListCounts<Index> known{
      {static_cast<Index>(list.members), static_cast<Index>(list.groups), 0}, 0, 0};
  DeviceBuffer<ListCounts<Index>> counts(std::span(&known, 1), stream);
  check_cuda(cudaMemcpyAsync(list.offsets.data() + list.groups, &known.all.members, sizeof(Index),
                             cudaMemcpyHostToDevice, stream));
  finish_list(list, counts, list.groups, stream);
}

template <class Key, Position Index>
void sort_groups(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, int key_bits,
                 std::uint64_t spare, cudaStream_t stream) {
  const std::uint64_t members = list.members;
  DeviceBuffer<Key> sorted_keys(members, stream);
  DeviceBuffer<Index> sorted_items(members, stream);
  if (members != 0) {
    sort_by_counting_kernel<<<blocks_for(members), element_threads, 0, stream>>>(
        list.heads.data(), members, keys.data(), list.items.data(), sorted_keys.data(),
        sorted_items.data());
    check_cuda(cudaGetLastError());
  }
  if (list.large_pairs <= most_pairs_counted) {
    count_in_large_groups(SortByCounting<Key, Index>{keys.data(), list.items.data(),
                                                     sorted_keys.data(), sorted_items.data()},
                          list, stream);
  } else if (sorts_by_radix(list, spare)) {
    if constexpr (sizeof(Index) == sizeof(std::uint32_t)) {
      sort_by_radix(list, keys, key_bits, sorted_keys.data(), sorted_items.data(), stream);
    }
  } else {
    // The result goes to the alternate buffers, which hold the sorted small groups already.
    DoubleBuffer<Key> key_buffers(keys.data(), sorted_keys.data());
    DoubleBuffer<Index> item_buffers(list.items.data(), sorted_items.data());
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(
          scratch, bytes, key_buffers, item_buffers, static_cast<std::int64_t>(members),
          static_cast<std::int64_t>(list.large_groups), list.large_begins.data(),
          list.large_ends.data(), stream);
    });
  }
  keys = std::move(sorted_keys);
  list.items = std::move(sorted_items);
}

template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Index>& positions, int key_bits,
                 cudaStream_t stream) {
  DeviceBuffer<Key> other_keys(keys.size(), stream);
  DeviceBuffer<Index> other_positions(keys.size(), stream);
  RadixBuffers buffers{keys.data(), other_keys.data(), positions.data(), other_positions.data()};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return device_radix_sort(scratch, bytes, buffers, keys.size(), sizeof(Key), sizeof(Index), 0,
                             key_bits, stream);
  });
  if (buffers.keys == keys.data()) return;
  keys = std::move(other_keys);
  positions = std::move(other_positions);
}

template <class Key, Position Index>
SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                 const DeviceBuffer<Index>& positions, std::uint64_t most_members,
                                 cudaStream_t stream) {
  return refine<Index>(
      FirstSortItems<Index, Key>{keys.data(), positions.data()},
      [] __device__(const auto&, Index, Index) {}, positions.size(), most_members, stream);
}

/// Sorts the groups by keys, writes all suffixes to the suffix array, and keeps those whose group
/// has other members. \param end_mask  as GroupItems::end_mask
template <class Key, Position Index>
void sort_and_place(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, Key end_mask,
                    DeviceBuffer<Index>& suffix_array, std::uint64_t spare, cudaStream_t stream) {
  sort_groups(list, keys, 8 * static_cast<int>(sizeof(Key)), spare, stream);
  // Also items that stay, so that the suffix array always holds every suffix once.
  list = refine<Index>(
      GroupItems<Index, Key>{keys.data(), list.view(), end_mask},
      [suffixes = suffix_array.data()] __device__(const auto& items, Index j, Index) {
        suffixes[items.slot(j)] = items.item(j);
      },
      list.members, list.members, stream);
}

template <class Key, Position Index>
void compare_windows(const SymbolStream& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                     DeviceBuffer<Index>& suffix_array, std::uint64_t spare, cudaStream_t stream) {
  list.offsets.reset();  // no longer needed: large groups are listed
  DeviceBuffer<Key> keys(list.members, stream);
  // The first symbol of a window is at most one beyond the end of the record: a suffix whose record
  // ends earlier is in no group, because FirstSortItems and GroupItems put suffixes whose keys
  // contain an end into groups of their own.
  const auto write_window = [text, depth, positions = list.items.data(),
                             keys = keys.data()] __device__(Index j) {
    const std::uint64_t position = positions[j];
    keys[j] =
        text.window<Key>(position + depth + static_cast<std::uint64_t>(text.first_depth(position)));
  };
  for_each_item<Index>(list.members, write_window, stream);
  sort_and_place(list, keys, static_cast<Key>(text.last_symbol_mask()), suffix_array, spare,
                 stream);
  depth += static_cast<std::uint64_t>(text.window_symbols(8 * sizeof(Key)));
}

template <class Key, Position Index>
void compare_codes(const CodedText& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                   DeviceBuffer<Index>& suffix_array, std::uint64_t spare, cudaStream_t stream) {
  list.offsets.reset();
  DeviceBuffer<Key> keys(list.members, stream);
  constexpr int unused = 64 - 8 * static_cast<int>(sizeof(Key));
  // The lowest bit is set, since no key may be 0.
  const auto write_window = [text, depth, positions = list.items.data(),
                             keys = keys.data()] __device__(Index j) {
    keys[j] = static_cast<Key>(text.window(positions[j], depth) >> unused) | Key{1};
  };
  for_each_item<Index>(list.members, write_window, stream);
  sort_and_place(list, keys, static_cast<Key>(~Key{0}), suffix_array, spare, stream);
  depth += 8 * sizeof(Key) - 1;
}

template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream) {
  // The rank of an item is the slot of the first item of its group.
  list = refine<Index>(
      GroupItems<Index, Index>{keys.data(), list.view(), static_cast<Index>(~Index{0})},
      [ranks = ranks.data()] __device__(const auto& items, Index j, Index group_begin) {
        ranks[items.item(j)] = items.slot(group_begin);
      },
      list.members, list.members, stream);
}

template <Position Index>
std::size_t refine_scratch(std::uint64_t items) {
  const std::uint64_t tiles = tiles_of(items);
  std::size_t bytes = 0;
  check_cuda(scan_totals<Index>(nullptr, bytes, nullptr, tiles));
  return tiles * sizeof(RefinementTotals<Index>) + bytes;
}

SORTIE_FOR_BOTH_POSITIONS(list_large_groups);
SORTIE_FOR_KEYS_AND_POSITIONS(sort_groups);
SORTIE_FOR_KEYS_AND_POSITIONS(sort_by_key);
SORTIE_FOR_KEYS_AND_POSITIONS(first_groups);
SORTIE_FOR_KEYS_AND_POSITIONS(compare_windows);
SORTIE_FOR_KEYS_AND_POSITIONS(compare_codes);
SORTIE_FOR_BOTH_POSITIONS(refine_samples);
SORTIE_FOR_BOTH_POSITIONS(refine_scratch);

}  // namespace sortie::suffix_array::cuda
