// SPDX-License-Identifier: Apache-2.0

// Top k of host memory on a GPU: copies the keys to the device, selects, and copies positions back.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "segsort/backends.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_top_k.hpp"
#include "sortie/error.hpp"
#include "sortie/top_k.hpp"

namespace sortie::segsort {

void select_on_cuda(const Context& context, const TopKRequest& request) {
  const DeviceScope scope(context);
  const cudaStream_t stream = nullptr;  // calls on host memory use the default stream
  const int threads = threads_of(context);
  DeviceTopKRequest device;
  device.key_type = request.key_type;
  device.value_bytes = sizeof(std::uint64_t);
  device.offset_bytes = request.begin_offsets.bytes;
  device.num_items = static_cast<std::int64_t>(request.num_items);
  device.num_segments = static_cast<std::int64_t>(request.begin_offsets.size);
  device.num_outputs = static_cast<std::int64_t>(request.num_positions);
  device.k = static_cast<std::int64_t>(request.k);
  device.order = request.options.order;
  device.sorted = request.options.sorted;
  // Not null, which would mean one segment of all items.
  device.begin_offsets = request.begin_offsets.data;
  std::size_t temporary_bytes = 0;
  check_cuda(top_k_on_device(nullptr, temporary_bytes, device, stream));

  const auto bytes_of = [](const void* data, std::uint64_t count, int size) {
    return std::span(static_cast<const std::byte*>(data), count * static_cast<std::uint64_t>(size));
  };
  const auto keys = bytes_of(request.keys, request.num_items, key_bytes(request.key_type));
  const auto begins =
      bytes_of(request.begin_offsets.data, request.begin_offsets.size, request.begin_offsets.bytes);
  const auto ends =
      bytes_of(request.end_offsets.data, request.end_offsets.size, request.end_offsets.bytes);
  const std::uint64_t wanted = keys.size() + begins.size() + ends.size() +
                               request.num_positions * sizeof(std::uint64_t) + temporary_bytes;
  const std::uint64_t budget = device_memory_budget(context);
  if (wanted > budget) throw out_of_memory_error("a selection on the GPU", wanted, budget);

  PhaseTimer copy_in(context, "copy in");
  const std::span positions(request.positions, request.num_positions);
  const DeviceBuffer<std::byte> device_keys = copied_to_device(keys, stream, threads);
  const DeviceBuffer<std::byte> device_begins = copied_to_device(begins, stream, threads);
  const DeviceBuffer<std::byte> device_ends = copied_to_device(ends, stream, threads);
  // Places without a result keep what the caller has there.
  DeviceBuffer<std::uint64_t> device_positions =
      copied_to_device(std::span<const std::uint64_t>(positions), stream, threads);
  copy_in.stop();

  PhaseTimer selection(context, "top k");
  DeviceBuffer<std::byte> temporary(temporary_bytes, stream);
  device.keys_in = device_keys.data();
  device.begin_offsets = device_begins.data();
  device.end_offsets = device_ends.data();
  device.values_out = device_positions.data();
  check_cuda(top_k_on_device(temporary.data(), temporary_bytes, device, stream));
  if (context.report != nullptr) check_cuda(cudaStreamSynchronize(stream));
  selection.stop();

  const PhaseTimer copy_out(context, "copy out");
  copy_to_host_in_blocks(std::as_writable_bytes(positions), device_positions.data(), stream,
                         threads);
}

}  // namespace sortie::segsort
