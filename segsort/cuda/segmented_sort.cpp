// SPDX-License-Identifier: Apache-2.0

// Segmented sort of host memory on a GPU: copies the data to the device, sorts it, and copies it
// back.

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
#include "sortie/device_segmented_sort.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::segsort {
namespace {

std::span<const std::byte> bytes_of(const void* data, std::uint64_t count, int size) {
  return {static_cast<const std::byte*>(data), count * static_cast<std::uint64_t>(size)};
}

/// Data on the device, and an output buffer that starts as its copy: the sort does not write items
/// outside of all segments, which must keep their position.
struct TwoBuffers {
  DeviceBuffer<std::byte> in;
  DeviceBuffer<std::byte> out;

  TwoBuffers(std::span<const std::byte> host, cudaStream_t stream, int threads)
      : in(copied_to_device(host, stream, threads)), out(host.size(), stream) {
    if (!host.empty())
      check_cuda(
          cudaMemcpyAsync(out.data(), in.data(), host.size(), cudaMemcpyDeviceToDevice, stream));
  }
};

}  // namespace

void sort_on_cuda(const Context& context, const Request& request) {
  if (request.num_items == 0 || request.begin_offsets.size == 0) return;
  const DeviceScope scope(context);
  const cudaStream_t stream = nullptr;  // calls on host memory use the default stream
  const int key_bytes = key_bits(request.key_type) / 8;
  const auto synchronise = [&] {
    if (context.report != nullptr) check_cuda(cudaStreamSynchronize(stream));
  };

  DeviceRequest device;
  device.key_type = request.key_type;
  device.value_bytes = request.value_bytes;
  device.offset_bytes = request.begin_offsets.bytes;
  device.input_is_scratch = true;
  device.num_items = static_cast<std::int64_t>(request.num_items);
  device.num_segments = static_cast<std::int64_t>(request.begin_offsets.size);
  device.order = request.options.order;
  device.stable = request.options.stable;
  device.begin_bit = request.options.begin_bit;
  device.end_bit = request.options.end_bit;
  std::size_t temporary_bytes = 0;
  check_cuda(sort_on_device(nullptr, temporary_bytes, device, stream));

  const std::uint64_t wanted =
      2 * request.num_items * static_cast<std::uint64_t>(key_bytes + request.value_bytes) +
      2 * request.begin_offsets.size * static_cast<std::uint64_t>(request.begin_offsets.bytes) +
      temporary_bytes;
  const std::uint64_t budget = device_memory_budget(context);
  if (wanted > budget) throw out_of_memory_error("a segmented sort on the GPU", wanted, budget);

  PhaseTimer copy_in(context, "copy in");
  const int threads = threads_of(context);
  TwoBuffers keys(bytes_of(request.keys, request.num_items, key_bytes), stream, threads);
  TwoBuffers values(bytes_of(request.values, request.num_items, request.value_bytes), stream,
                    threads);
  const auto copied = [&](const auto& offsets) {
    return copied_to_device(bytes_of(offsets.data, offsets.size, offsets.bytes), stream, threads);
  };
  const DeviceBuffer<std::byte> begin_offsets = copied(request.begin_offsets);
  const DeviceBuffer<std::byte> end_offsets = copied(request.end_offsets);
  synchronise();
  copy_in.stop();

  device.keys_in = keys.in.data();
  device.keys_out = keys.out.data();
  device.values_in = values.in.data();
  device.values_out = values.out.data();
  device.begin_offsets = begin_offsets.data();
  device.end_offsets = end_offsets.data();

  PhaseTimer sort(context, "segmented sort");
  DeviceBuffer<std::byte> temporary(temporary_bytes, stream);
  check_cuda(sort_on_device(temporary.data(), temporary_bytes, device, stream));
  synchronise();
  sort.stop();

  const PhaseTimer copy_out(context, "copy out");
  const auto copy_back = [&](void* host, const DeviceBuffer<std::byte>& result) {
    copy_to_host_in_blocks({static_cast<std::byte*>(host), result.size()}, result.data(), stream,
                           threads);
  };
  copy_back(request.keys, keys.out);
  copy_back(request.values, values.out);
}

}  // namespace sortie::segsort
