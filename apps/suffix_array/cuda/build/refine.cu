// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"

#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/scan.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Up to this many tiles, each warp sums the totals before its tile itself, which takes less time
/// than the launches of a scan.
constexpr std::uint64_t most_tiles_added = 2048;

constexpr std::uint64_t tiles_of(std::uint64_t items) {
  return (items + refinement_tile - 1) / refinement_tile;
}

/// The result of a refinement that is copied to the host, in one copy.
template <class Index>
struct RefinementResult {
  RefinementTotals<Index> all;
  LargeGroups large;
};

/// Writes the list of the remaining items, and calls `use` for every item.
/// \param most_members  capacity of the list
template <class Items, class Use>
SuffixGroups<typename Items::Index> refine(const Items& items, const Use& use, std::uint64_t count,
                                           std::uint64_t most_members, cudaStream_t stream) {
  using Index = typename Items::Index;
  SuffixGroups<Index> rest(most_members, stream);
  DeviceBuffer<RefinementResult<Index>> device_result(1, stream);
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
    keep_kernel<<<blocks, element_threads, 0, stream>>>(
        items, use, count, tiles, totals.data(), add_up, rest.view(), &device_result.data()->all);
    check_cuda(cudaGetLastError());
  }
  list_large_groups_async(rest, &device_result.data()->all.groups, most_members / 2 + 1,
                          &device_result.data()->large, stream);

  RefinementResult<Index> result{};
  device_result.copy_to({&result, 1});
  check_cuda(cudaStreamSynchronize(stream));
  rest.members = result.all.members;
  rest.groups = result.all.groups;
  rest.large_groups = result.large.count;
  rest.large_pairs = result.large.pairs;
  return rest;
}

}  // namespace

template <class Key, Position Index>
SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                 const DeviceBuffer<Index>& positions, std::uint64_t most_members,
                                 cudaStream_t stream) {
  using Items = FirstSortItems<Index, Key>;
  return refine(
      Items{keys.data(), positions.data()}, [] __device__(const Items&, Index, Index) {},
      positions.size(), most_members, stream);
}

template <class Key, Position Index>
void compare_windows(const SymbolStream& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream) {
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
  sort_groups(list, keys, stream);
  // Also items that stay, so that the suffix array always holds every suffix once.
  using Items = GroupItems<Index, Key>;
  list = refine(
      Items{keys.data(), list.view(), static_cast<Key>(text.last_symbol_mask())},
      [suffixes = suffix_array.data()] __device__(const Items& items, Index j, Index) {
        suffixes[items.slot(j)] = items.item(j);
      },
      list.members, list.members, stream);
  depth += static_cast<std::uint64_t>(text.window_symbols(8 * sizeof(Key)));
}

template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream) {
  // The rank of an item is the slot of the first item of its group.
  using Items = GroupItems<Index, Index>;
  list = refine(
      Items{keys.data(), list.view(), static_cast<Index>(~Index{0})},
      [ranks = ranks.data()] __device__(const Items& items, Index j, Index group_begin) {
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

SORTIE_INSTANTIATE_FOR_KEYS_AND_POSITIONS(first_groups);
SORTIE_INSTANTIATE_FOR_KEYS_AND_POSITIONS(compare_windows);
SORTIE_INSTANTIATE_FOR_POSITIONS(refine_samples);
SORTIE_INSTANTIATE_FOR_POSITIONS(refine_scratch);

}  // namespace sortie::suffix_array::cuda
