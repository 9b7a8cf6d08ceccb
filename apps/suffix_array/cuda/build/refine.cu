// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/refine.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/counts.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Up to this many tiles, each warp sums the totals before its tile itself, which takes less time
/// than the launches of a scan.
constexpr std::uint64_t most_tiles_added = 2048;

__device__ std::uint64_t tile_of_thread() {
  return (std::uint64_t{blockIdx.x} * element_threads + threadIdx.x) / lanes;
}

// Warp w computes the totals of tile w.
template <class Items, class Index>
__global__ void __launch_bounds__(element_threads)
    total_kernel(Items items, std::uint64_t count, std::uint64_t tiles,
                 RefinementTotals<Index>* totals) {
  const std::uint64_t tile = tile_of_thread();
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % lanes;
  const TileFlags flags(items, count, tile, lane);
  if (lane == 0) totals[tile] = flags.totals<Index>(tile, count);
}

/// The totals of all tiles before `tile`, computed by a warp.
template <class Index>
__device__ RefinementTotals<Index> add_totals(const RefinementTotals<Index>* totals,
                                              std::uint64_t tile, unsigned lane) {
  RefinementTotals<Index> sum{};
  for (std::uint64_t t = lane; t < tile; t += lanes) sum = sum + totals[t];
#pragma unroll
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    sum = sum + RefinementTotals<Index>{from_lane_across(sum.members, distance),
                                        from_lane_across(sum.groups, distance),
                                        from_lane_across(sum.last_begin, distance)};
  }
  return sum;
}

// Warp w writes the remaining items of tile w. `before` holds the totals of each tile or, if these
// are summed already, of all tiles before it.
template <class Items, class Use, class Index>
__global__ void __launch_bounds__(element_threads)
    keep_kernel(Items items, Use use, std::uint64_t count, std::uint64_t tiles,
                const RefinementTotals<Index>* before, bool added_up,
                RefinementOutput<Index> output) {
  const std::uint64_t tile = tile_of_thread();
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned up_to_lane = full_warp >> (lanes - 1 - lane);
  const TileFlags flags(items, count, tile, lane);
  RefinementTotals<Index> sum = added_up ? before[tile] : add_totals(before, tile, lane);
#pragma unroll
  for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
    const std::uint64_t from = tile * refinement_tile + chunk * lanes;
    if (from >= count) break;
    const unsigned begins = flags.begins[chunk];
    const unsigned stays = flags.stays[chunk];
    const auto j = static_cast<Index>(from + lane);
    const unsigned begins_so_far = begins & up_to_lane;
    const Index group_begin =
        begins_so_far == 0
            ? sum.last_begin
            : static_cast<Index>(from + lanes - 1 -
                                 static_cast<unsigned>(__clz(static_cast<int>(begins_so_far))));
    if (from + lane < count) use(items, j, group_begin);
    if ((stays >> lane & 1U) != 0) {
      const bool is_begin = (begins >> lane & 1U) != 0;
      const Index at = sum.members + static_cast<Index>(__popc(stays & up_to_lane)) - 1;
      output.items[at] = items.item(j);
      output.slots[at] = items.slot(j);
      output.heads[at] = is_begin ? 1 : 0;
      if (is_begin) {
        output.offsets[sum.groups + static_cast<Index>(__popc(stays & begins & up_to_lane)) - 1] =
            at;
      }
    }
    sum.members += static_cast<Index>(__popc(stays));
    sum.groups += static_cast<Index>(__popc(stays & begins));
    if (begins != 0) {
      sum.last_begin = static_cast<Index>(from + lanes - 1 -
                                          static_cast<unsigned>(__clz(static_cast<int>(begins))));
    }
  }
  if (tile + 1 == tiles && lane == 0) {
    output.offsets[sum.groups] = sum.members;
    *output.all = sum;
  }
}

template <class Index>
std::size_t scan_scratch(std::uint64_t tiles) {
  RefinementTotals<Index>* totals = nullptr;
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveScan(nullptr, bytes, totals, totals, AddCounts{},
                                            RefinementTotals<Index>{},
                                            static_cast<ScanCount<Index>>(tiles)));
  return bytes;
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
        return cub::DeviceScan::ExclusiveScan(scratch, bytes, totals.data(), totals.data(),
                                              AddCounts{}, RefinementTotals<Index>{},
                                              static_cast<ScanCount<Index>>(tiles), stream);
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
  return tiles * sizeof(RefinementTotals<Index>) + scan_scratch<Index>(tiles);
}

#define SORTIE_INSTANTIATE_REFINE(Key, Index)                                                     \
  template SuffixGroups<Index> first_groups(const DeviceBuffer<Key>&, const DeviceBuffer<Index>&, \
                                            std::uint64_t, cudaStream_t);                         \
  template void refine_suffixes(SuffixGroups<Index>&, const DeviceBuffer<Key>&, Key,              \
                                DeviceBuffer<Index>&, cudaStream_t)
SORTIE_INSTANTIATE_REFINE(std::uint32_t, std::uint32_t);
SORTIE_INSTANTIATE_REFINE(std::uint64_t, std::uint32_t);
SORTIE_INSTANTIATE_REFINE(std::uint32_t, std::uint64_t);
SORTIE_INSTANTIATE_REFINE(std::uint64_t, std::uint64_t);
#undef SORTIE_INSTANTIATE_REFINE

template void refine_samples(SuffixGroups<std::uint32_t>&, const DeviceBuffer<std::uint32_t>&,
                             DeviceBuffer<std::uint32_t>&, cudaStream_t);
template void refine_samples(SuffixGroups<std::uint64_t>&, const DeviceBuffer<std::uint64_t>&,
                             DeviceBuffer<std::uint64_t>&, cudaStream_t);
template std::size_t refine_scratch<std::uint32_t>(std::uint64_t);
template std::size_t refine_scratch<std::uint64_t>(std::uint64_t);

}  // namespace sortie::suffix_array::cuda
