// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/tune_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/bench/cuda/kernel_arguments.cuh"
#include "apps/bench/cuda/tune_candidates.cuh"
#include "core/cuda/device_pool.hpp"
#include "segsort/cuda/launch.cuh"

namespace sortie::bench {

extern template std::vector<Candidate> candidates_of<8, 20>();
extern template std::vector<Candidate> candidates_of<8, 24>();
extern template std::vector<Candidate> candidates_of<8, 16>();
extern template std::vector<Candidate> candidates_of<16, 20>();
extern template std::vector<Candidate> candidates_of<16, 24>();
extern template std::vector<Candidate> candidates_of<16, 16>();

namespace {

using segsort::Arguments;
using segsort::WorkLists;
using Word = std::uint32_t;

constexpr int value_bytes = 4;
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

/// All candidates: by the items of a thread, then by the warps of a block.
const std::vector<Candidate>& all_candidates() {
  static const std::vector<Candidate> all = [] {
    std::vector<Candidate> joined;
    for (const auto& some :
         {candidates_of<8, 20>(), candidates_of<8, 24>(), candidates_of<8, 16>(),
          candidates_of<16, 20>(), candidates_of<16, 24>(), candidates_of<16, 16>()})
      joined.insert(joined.end(), some.begin(), some.end());
    return joined;
  }();
  return all;
}

}  // namespace

std::span<const TileShape> candidate_shapes() {
  static const std::vector<TileShape> shapes = [] {
    std::vector<TileShape> all;
    for (const Candidate& candidate : all_candidates()) all.push_back(candidate.shape);
    return all;
  }();
  return shapes;
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
  const Candidate& chosen = all_candidates()[candidate];
  return sort_with_lists(
      temporary, bytes, request, stream,
      [&](const segsort::LaunchPlan& plan, const WorkLists& lists) {
        const cudaError_t listed =
            segsort::launch_batches<Word, value_bytes, std::uint32_t, segsort::longest_batched>(
                plan, arguments_of(request), lists);
        if (listed != cudaSuccess) return listed;
        const std::size_t shared_bytes =
            std::min(chosen.shared_bytes, static_cast<std::size_t>(plan.limits.shared_bytes));
        return segsort::launch_resident(chosen.kernel, plan, plan.order, plan.num_segments,
                                        segsort::no_limit, 32 * chosen.shape.block_warps,
                                        shared_bytes, arguments_of(request), lists,
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
