// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/refine.hpp"

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/counts.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Up to this many tiles, each warp sums the totals before its tile itself, which takes less time
/// than the launches of a scan.
constexpr std::uint64_t most_tiles_added = 2048;

/// Replaces the totals of the tiles by those of all tiles before. Two-phase, as CUB's scans.
template <class Index>
cudaError_t scan_totals(void* scratch, std::size_t& bytes, RefinementTotals<Index>* totals,
                        std::uint64_t tiles, cudaStream_t stream = nullptr) {
  return cub::DeviceScan::ExclusiveScan(scratch, bytes, totals, totals, AddCounts{},
                                        RefinementTotals<Index>{},
                                        static_cast<ScanCount<Index>>(tiles), stream);
}

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
        items, use, count, tiles, totals.data(), add_up,
        RefinementOutput<Index>{rest.items.data(), rest.slots.data(), rest.heads.data(),
                                rest.offsets.data(), &device_result.data()->all});
    check_cuda(cudaGetLastError());
  }
  list_large_groups(rest, &device_result.data()->all.groups, most_members / 2 + 1,
                    &device_result.data()->large, stream);

  RefinementResult<Index> result{};
  device_result.copy_to({&result, 1});
  check_cuda(cudaStreamSynchronize(stream));
  rest.members = result.all.members;
  rest.groups = result.all.groups;
  rest.large_groups = result.large.count;
  rest.large_pairs = result.large.member_pairs;
  return rest;
}

template <class Key, class Index>
GroupItems<Index, Key> items_of(const SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys,
                                Key end_mask) {
  return {keys.data(), list.items.data(), list.slots.data(), list.heads.data(), end_mask};
}

}  // namespace

template <class Key, Position Index>
SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                 const DeviceBuffer<Index>& positions, std::uint64_t most_members,
                                 cudaStream_t stream) {
  return refine(FirstSortItems<Index, Key>{keys.data(), positions.data()}, LeaveInPlace{},
                positions.size(), most_members, stream);
}

template <class Key, Position Index>
void refine_suffixes(SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys, Key end_mask,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream) {
  list = refine(items_of(list, keys, end_mask), PlaceInSuffixArray<Index>{suffix_array.data()},
                list.members, list.members, stream);
}

template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream) {
  list = refine(items_of(list, keys, static_cast<Index>(~Index{0})),
                RankByGroup<Index>{ranks.data()}, list.members, list.members, stream);
}

template <Position Index>
std::size_t refine_scratch(std::uint64_t items) {
  const std::uint64_t tiles = tiles_of(items);
  std::size_t bytes = 0;
  check_cuda(scan_totals<Index>(nullptr, bytes, nullptr, tiles));
  return tiles * sizeof(RefinementTotals<Index>) + bytes;
}

template decltype(first_groups<std::uint32_t, std::uint32_t>)
    first_groups<std::uint32_t, std::uint32_t>;
template decltype(first_groups<std::uint64_t, std::uint32_t>)
    first_groups<std::uint64_t, std::uint32_t>;
template decltype(first_groups<std::uint32_t, std::uint64_t>)
    first_groups<std::uint32_t, std::uint64_t>;
template decltype(first_groups<std::uint64_t, std::uint64_t>)
    first_groups<std::uint64_t, std::uint64_t>;
template decltype(refine_suffixes<std::uint32_t, std::uint32_t>)
    refine_suffixes<std::uint32_t, std::uint32_t>;
template decltype(refine_suffixes<std::uint64_t, std::uint32_t>)
    refine_suffixes<std::uint64_t, std::uint32_t>;
template decltype(refine_suffixes<std::uint32_t, std::uint64_t>)
    refine_suffixes<std::uint32_t, std::uint64_t>;
template decltype(refine_suffixes<std::uint64_t, std::uint64_t>)
    refine_suffixes<std::uint64_t, std::uint64_t>;

template decltype(refine_samples<std::uint32_t>) refine_samples<std::uint32_t>;
template decltype(refine_samples<std::uint64_t>) refine_samples<std::uint64_t>;
template decltype(refine_scratch<std::uint32_t>) refine_scratch<std::uint32_t>;
template decltype(refine_scratch<std::uint64_t>) refine_scratch<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
