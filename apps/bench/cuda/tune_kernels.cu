// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/tune_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "apps/bench/cuda/kernel_arguments.cuh"
#include "core/cuda/storage_carver.hpp"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/launch.cuh"

namespace sortie::bench {
namespace {

using segsort::Arguments;
using segsort::WorkLists;
using Word = std::uint32_t;

constexpr int value_bytes = 4;
// Team sizes, in warps, for blocks of 20 or 24 warps with several teams.
constexpr std::array teams_of_20 = {1, 2, 3, 4, 5, 6, 8, 10};
constexpr std::array teams_of_24 = {1, 2, 3, 4, 6, 8, 12};
constexpr std::array item_counts = {8, 16};

constexpr auto shapes_to_try = [] {
  std::array<TileShape, item_counts.size() * (teams_of_20.size() + teams_of_24.size() + 1)> shapes;
  std::size_t count = 0;
  for (const int items : item_counts) {
    for (const int warps : teams_of_20) shapes[count++] = {warps, items, 20};
    for (const int warps : teams_of_24) shapes[count++] = {warps, items, 24};
    shapes[count++] = {16, items, 16};
  }
  return shapes;
}();

/// block_sort_kernel with one shape for all classes; all listed segments fit it.
template <int Warps, int Items, int BlockWarps>
__global__ void __launch_bounds__(32 * BlockWarps, segsort::resident_warps / BlockWarps)
    sort_listed_kernel(Arguments<Word> arguments, WorkLists lists, unsigned int shared_size) {
  using T = segsort::Tile<Word, value_bytes, Warps, Items, Warps != BlockWarps>;
  for (int block_class = 0; block_class < segsort::block_classes; ++block_class) {
    const unsigned int count = lists.counters->segments[block_class];
    if (count == 0) continue;
    __syncthreads();  // the teams of the previous class no longer use the shared memory
    segsort::sort_by_teams<T>(
        {dynamic_shared_memory(), shared_size}, arguments, count,
        [&](unsigned int i) -> segsort::TileRange {
          const auto [begin, length] = extent(arguments, lists.segment(block_class, i));
          return {begin, static_cast<std::uint32_t>(length), segsort::Buffer::input};
        });
  }
}

struct Candidate {
  TileShape shape;
  void (*kernel)(Arguments<Word>, WorkLists, unsigned int);
  std::size_t shared_bytes;  ///< shared memory of all teams of a block
};

template <std::size_t Index>
Candidate make_candidate() {
  constexpr TileShape shape = shapes_to_try[Index];
  using T =
      segsort::Tile<Word, value_bytes, shape.warps, shape.items, shape.warps != shape.block_warps>;
  return {shape, sort_listed_kernel<shape.warps, shape.items, shape.block_warps>,
          shape.block_warps / shape.warps * sizeof(T)};
}

template <std::size_t... Index>
std::array<Candidate, sizeof...(Index)> make_candidates(std::index_sequence<Index...>) {
  return {make_candidate<Index>()...};
}

/// Segment lists with space for all segments in every class.
struct ListStorage {
  WorkLists lists{};
  std::size_t bytes = 0;

  ListStorage(void* base, std::int64_t segments) {
    StorageCarver carver(base);
    lists.counters = carver.take<segsort::Counters>(1);
    for (int pair = 0; pair < segsort::long_classes / 2; ++pair) {
      lists.capacity[pair] = static_cast<std::uint32_t>(segments);
      lists.segments[pair] = carver.take<std::uint32_t>(lists.capacity[pair]);
    }
    bytes = carver.used();
  }
};

/// Clears the lists and calls `launch` with a plan and the lists.
template <class Launch>
cudaError_t sort_with_lists(void* temporary, std::size_t& bytes,
                            const segsort::DeviceRequest& request, cudaStream_t stream,
                            const Launch& launch) {
  if (!has_single_kernels(request)) return cudaErrorNotSupported;
  const ListStorage storage(temporary, request.num_segments);
  if (temporary == nullptr) {
    bytes = storage.bytes;
    return cudaSuccess;
  }
  segsort::DeviceLimits limits;
  cudaError_t status = limits.query();
  if (status == cudaSuccess) {
    status = cudaMemsetAsync(storage.lists.counters, 0, sizeof(segsort::Counters), stream);
  }
  if (status != cudaSuccess) return status;
  const segsort::LaunchPlan plan{static_cast<std::uint64_t>(request.num_items),
                                 static_cast<std::uint64_t>(request.num_segments), limits, stream};
  return launch(plan, storage.lists);
}

}  // namespace

std::span<const TileShape> candidate_shapes() {
  return shapes_to_try;
}

cudaError_t sort_by_batches(void* temporary, std::size_t& bytes,
                            const segsort::DeviceRequest& request, cudaStream_t stream) {
  return sort_with_lists(
      temporary, bytes, request, stream,
      [&](const segsort::LaunchPlan& plan, const WorkLists& lists) {
        return segsort::launch_batches<Word, value_bytes, std::uint32_t, segsort::warp_tile>(
            plan, arguments_of(request), lists);
      });
}

cudaError_t sort_by_teams(std::size_t candidate, void* temporary, std::size_t& bytes,
                          const segsort::DeviceRequest& request, cudaStream_t stream) {
  static const auto candidates = make_candidates(std::make_index_sequence<shapes_to_try.size()>{});
  const Candidate& chosen = candidates[candidate];
  return sort_with_lists(
      temporary, bytes, request, stream,
      [&](const segsort::LaunchPlan& plan, const WorkLists& lists) {
        const cudaError_t listed =
            segsort::launch_batches<Word, value_bytes, std::uint32_t, segsort::longest_batched>(
                plan, arguments_of(request), lists);
        if (listed != cudaSuccess) return listed;
        const std::size_t shared_bytes =
            std::min(chosen.shared_bytes, static_cast<std::size_t>(plan.limits.shared_bytes));
        return segsort::launch_resident(chosen.kernel, plan, plan.num_segments, segsort::no_limit,
                                        32 * chosen.shape.block_warps, shared_bytes, false,
                                        arguments_of(request), lists,
                                        static_cast<unsigned int>(shared_bytes));
      });
}

BlockTable present_table() {
  BlockTable table;
  table.longest_in_warp = segsort::longest_in_warp;
  for (int i = 0; i < segsort::block_classes; ++i) {
    table.shapes.push_back(
        {segsort::team_warps(i), segsort::team_items(i), segsort::warps_of_block<Word>(i)});
  }
  return table;
}

std::uint64_t longest_of_batches() {
  return segsort::warp_tile;
}

}  // namespace sortie::bench
