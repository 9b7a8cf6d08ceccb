// SPDX-License-Identifier: Apache-2.0

// Selections from device memory by DeviceTopK's implementation.

#include "sortie/device_top_k.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

#include "bindings/c/sorting.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::c {
namespace {

segsort::DeviceTopKRequest request_of(const TopKCall& call) {
  segsort::DeviceTopKRequest request;
  request.key_type = key_type(call.type);
  request.keys_in = call.keys;
  request.keys_out = call.top_keys;
  if (call.positions != nullptr) {
    request.value_bytes = static_cast<int>(sortie_type_bytes(call.position_type));
    request.values_out = call.positions;
  }
  request.num_items = static_cast<std::int64_t>(call.size);
  if (call.segments != nullptr) {
    request.offset_bytes = static_cast<int>(sortie_type_bytes(call.segments->offset_type));
    request.num_segments = static_cast<std::int64_t>(call.segments->count);
    request.begin_offsets = call.segments->begins;
    request.end_offsets = call.segments->ends;
  }
  request.num_outputs = static_cast<std::int64_t>(call.results());
  request.k = static_cast<std::int64_t>(call.k);
  request.order = call.order();
  request.sorted = call.is_sorted();
  return request;
}

/// What places without a result hold.
void fill(void* data, int byte, std::uint64_t bytes, cudaStream_t stream) {
  if (data != nullptr) check_cuda(cudaMemsetAsync(data, byte, bytes, stream));
}

}  // namespace

void top_k_on_device(const Context& context, const TopKCall& call, CUstream_st* stream) {
  const DeviceScope device(context);
  const std::uint64_t results = call.results();
  if (results == 0) return;
  fill(call.top_keys, 0, results * call.key_size(), stream);
  fill(call.positions, 0xff, results * sortie_type_bytes(call.position_type), stream);
  if (call.size == 0) return;
  const segsort::DeviceTopKRequest request = request_of(call);
  std::size_t bytes = 0;
  check_cuda(segsort::top_k_on_device(nullptr, bytes, request, stream));
  if (context.memory_budget != 0 && bytes > context.memory_budget)
    throw out_of_memory_error("a selection from device memory", bytes, context.memory_budget);
  DeviceBuffer<std::byte> storage(bytes, stream);
  check_cuda(segsort::top_k_on_device(storage.data(), bytes, request, stream));
}

}  // namespace sortie::c
