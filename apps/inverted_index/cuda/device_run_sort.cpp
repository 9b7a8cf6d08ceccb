// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/cuda/device_run_sort.hpp"

#include <cuda_runtime_api.h>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "multisort/cuda/chunk_sort.hpp"

namespace sortie::indexing {
namespace {

constexpr cudaStream_t stream = nullptr;

template <class T>
void copy(T* to, const T* from, std::size_t size, cudaMemcpyKind kind) {
  if (size != 0) check_cuda(cudaMemcpyAsync(to, from, size * sizeof(T), kind, stream));
}

}  // namespace

DeviceRunSort::DeviceRunSort(const Context& context, SortAlgorithm algorithm)
    : context_(context), algorithm_(algorithm) {
  context_.progress = {};
  context_.report = nullptr;
  const DeviceScope scope(context_);
  if (algorithm == SortAlgorithm::automatic) return;
  chunk_sort_ = multisort::chunk_sort(algorithm);
  group_ = std::make_unique<multisort::DeviceGroup>(std::vector{context_.device});
}

DeviceRunSort::~DeviceRunSort() {
  release_on_device(context_.device, [this] {
    keys_.reset();
    other_keys_.reset();
    values_.reset();
    other_values_.reset();
    scratch_.reset();
    group_.reset();
  });
}

template <class T>
void DeviceRunSort::reserve(DeviceBuffer<T>& buffer, std::size_t size) {
  if (buffer.size() >= size) return;
  buffer.reset();
  buffer = DeviceBuffer<T>(size, stream);
}

RadixBuffers DeviceRunSort::sort_by_radix(std::size_t size, bool has_values) {
  reserve(other_keys_, size);
  if (has_values) reserve(other_values_, size);
  RadixBuffers buffers{keys_.data(), other_keys_.data(), values_.data(), other_values_.data()};
  std::size_t bytes = 0;
  const auto call = [&](void* scratch) {
    check_cuda(device_radix_sort(scratch, bytes, buffers, size, sizeof(std::uint64_t),
                                 has_values ? sizeof(std::uint32_t) : 0, 0, 64, stream));
  };
  call(nullptr);
  reserve(scratch_, bytes);
  call(scratch_.data());
  return buffers;
}

void DeviceRunSort::sort_chunk(std::size_t size, bool has_values) {
  multisort::ChunkRequest request;
  request.chunks.push_back(
      {keys_.data(), has_values ? values_.data() : nullptr, size, context_.device});
  request.key_type = KeyType::u64;
  request.value_bytes = has_values ? sizeof(std::uint32_t) : 0;
  request.options.algorithm = algorithm_;
  check_cuda(cudaStreamSynchronize(stream));  // the group has other streams
  chunk_sort_(context_, *group_, request);
}

void DeviceRunSort::sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values) {
  if (keys.empty()) return;
  const DeviceScope scope(context_);
  reserve(keys_, keys.size());
  reserve(values_, values.size());
  copy(keys_.data(), keys.data(), keys.size(), cudaMemcpyHostToDevice);
  copy(values_.data(), values.data(), values.size(), cudaMemcpyHostToDevice);
  RadixBuffers buffers{keys_.data(), nullptr, values_.data(), nullptr};
  if (chunk_sort_ != nullptr) {
    sort_chunk(keys.size(), !values.empty());
  } else {
    buffers = sort_by_radix(keys.size(), !values.empty());
  }
  copy(keys.data(), static_cast<const std::uint64_t*>(buffers.keys), keys.size(),
       cudaMemcpyDeviceToHost);
  copy(values.data(), static_cast<const std::uint32_t*>(buffers.values), values.size(),
       cudaMemcpyDeviceToHost);
  check_cuda(cudaStreamSynchronize(stream));
}

}  // namespace sortie::indexing
