// SPDX-License-Identifier: Apache-2.0
#include "papers/ics17/sort_ics17.hpp"

#include <cstdint>

#include "core/cuda/device_pool.hpp"
#include "papers/ics17/launch.cuh"
#include "segsort/cuda/arguments.cuh"

namespace sortie::segsort::ics17 {

extern template cudaError_t launch_sort<Keys32>(const LaunchPlan&, const Arguments<std::uint32_t>&,
                                                const WorkLists&);
extern template cudaError_t launch_sort<Keys32Values32>(const LaunchPlan&,
                                                        const Arguments<std::uint32_t>&,
                                                        const WorkLists&);
extern template cudaError_t launch_sort<Keys32Values64>(const LaunchPlan&,
                                                        const Arguments<std::uint32_t>&,
                                                        const WorkLists&);
extern template cudaError_t launch_sort<Stable32>(const LaunchPlan&,
                                                  const Arguments<std::uint32_t>&,
                                                  const WorkLists&);
extern template cudaError_t launch_sort<Keys64>(const LaunchPlan&, const Arguments<std::uint64_t>&,
                                                const WorkLists&);
extern template cudaError_t launch_sort<Keys64Values32>(const LaunchPlan&,
                                                        const Arguments<std::uint64_t>&,
                                                        const WorkLists&);
extern template cudaError_t launch_sort<Keys64Values64>(const LaunchPlan&,
                                                        const Arguments<std::uint64_t>&,
                                                        const WorkLists&);
extern template cudaError_t launch_sort<Stable64>(const LaunchPlan&,
                                                  const Arguments<std::uint64_t>&,
                                                  const WorkLists&);

namespace {

struct TemporaryStorage {
  WorkLists lists{};
  Scratch scratch;
  std::size_t bytes = 0;

  TemporaryStorage(void* base, const DeviceRequest& request) {
    const auto items = static_cast<std::uint64_t>(request.num_items);
    const auto segments =
        static_cast<std::uint64_t>(std::min(request.num_segments, segments_per_pass));
    const std::uint64_t long_segments = std::min<std::uint64_t>(segments, items / (tile_size + 1));
    const std::uint64_t tiles = long_segments == 0 ? 0 : items / tile_size + long_segments;
    StorageCarver carver(base);
    lists.counters = carver.take<Counters>(1);
    lists.segment_ids = carver.take<std::uint32_t>(segments);
    lists.long_segments = carver.take<LongSegment>(long_segments);
    lists.tile_segment = carver.take<std::uint32_t>(tiles);
    lists.tile_split = carver.take<std::uint64_t>(tiles);
    if (tiles != 0 && !request.input_is_scratch) {
      scratch.keys = carver.take<char>(items * (key_bits(request.key_type) / 8));
      scratch.values = carver.take<char>(items * request.value_bytes);
    }
    bytes = carver.used();
  }
};

cudaError_t launch32(const LaunchPlan& plan, const DeviceRequest& request,
                     const Arguments<std::uint32_t>& arguments, const WorkLists& lists) {
  if (request.stable) return launch_sort<Stable32>(plan, arguments, lists);
  if (request.value_bytes == 0) return launch_sort<Keys32>(plan, arguments, lists);
  if (request.value_bytes == 4) return launch_sort<Keys32Values32>(plan, arguments, lists);
  return launch_sort<Keys32Values64>(plan, arguments, lists);
}

cudaError_t launch64(const LaunchPlan& plan, const DeviceRequest& request,
                     const Arguments<std::uint64_t>& arguments, const WorkLists& lists) {
  if (request.stable) return launch_sort<Stable64>(plan, arguments, lists);
  if (request.value_bytes == 0) return launch_sort<Keys64>(plan, arguments, lists);
  if (request.value_bytes == 4) return launch_sort<Keys64Values32>(plan, arguments, lists);
  return launch_sort<Keys64Values64>(plan, arguments, lists);
}

cudaError_t run(void* temp_storage, std::size_t& temp_storage_bytes, const DeviceRequest& request,
                bool only_binning, cudaStream_t stream) {
  if (!is_valid(request)) return cudaErrorInvalidValue;
  if (request.device_num_segments != nullptr) return cudaErrorNotSupported;
  const TemporaryStorage storage(temp_storage, request);
  if (temp_storage == nullptr) {
    temp_storage_bytes = storage.bytes;
    return cudaSuccess;
  }
  if (temp_storage_bytes < storage.bytes) return cudaErrorInvalidValue;
  if (request.num_items == 0 || request.num_segments == 0) return cudaSuccess;

  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess) return status;
  int multiprocessors = 0;
  if (const cudaError_t status =
          cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      status != cudaSuccess)
    return status;

  for (std::int64_t first = 0; first < request.num_segments; first += segments_per_pass) {
    const std::int64_t segments = std::min(segments_per_pass, request.num_segments - first);
    const LaunchPlan plan{static_cast<std::uint64_t>(request.num_items),
                          static_cast<std::uint64_t>(segments), multiprocessors, only_binning,
                          stream};
    cudaError_t status = cudaMemsetAsync(storage.lists.counters, 0, sizeof(Counters), stream);
    if (status != cudaSuccess) return status;
    if (key_bits(request.key_type) == 32) {
      status = launch32(plan, request,
                        arguments_of<std::uint32_t>(request, storage.scratch, first, segments),
                        storage.lists);
    } else {
      status = launch64(plan, request,
                        arguments_of<std::uint64_t>(request, storage.scratch, first, segments),
                        storage.lists);
    }
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream) {
  return run(temp_storage, temp_storage_bytes, request, false, stream);
}

cudaError_t bin_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                          const DeviceRequest& request, cudaStream_t stream) {
  return run(temp_storage, temp_storage_bytes, request, true, stream);
}

}  // namespace sortie::segsort::ics17
