// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/key_sample.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/cuda/check.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::multisort {

namespace {

/// Sampled keys per chunk: they locate a border between two devices to 0.3 % of a share, and their
/// sort is short.
constexpr std::uint64_t sampled_keys = std::uint64_t{1} << 16;
/// Of these, keys copied to the host: in all, and at least per chunk. With two devices they are
/// 0.025 % of a share apart.
constexpr std::uint64_t keys_on_host = 8192;
constexpr std::uint64_t least_keys_on_host = 512;

}  // namespace

std::vector<plan::SampledKey> sample_keys(const DeviceGroup& group, const ChunkRequest& request,
                                          const PartitionKernels& kernels) {
  const auto key_size = static_cast<std::uint64_t>(key_bytes(request.key_type));
  const std::uint64_t wanted = std::max(least_keys_on_host, keys_on_host / group.size());
  struct Sample {
    std::uint32_t count = 0;  ///< keys for the host
    DeviceBuffer<std::byte> keys;
    DeviceBuffer<std::byte> other_keys;
    DeviceBuffer<std::byte> temporary;
    void* for_host = nullptr;
    std::vector<std::byte> on_host;
  };
  std::vector<Sample> samples(group.size());
  for (std::size_t d = 0; d < group.size(); ++d) {
    const std::uint64_t size = request.chunks[d].size;
    if (size == 0) continue;
    const CurrentDevice current = group.current(d);
    const cudaStream_t stream = group.stream(d);
    Sample& sample = samples[d];
    const std::uint64_t count = std::min(size, sampled_keys);
    sample.count = static_cast<std::uint32_t>(std::min(count, wanted));
    sample.keys = DeviceBuffer<std::byte>(count * key_size, stream);
    sample.other_keys = DeviceBuffer<std::byte>(count * key_size, stream);
    SampleArguments scattered;
    scattered.keys = request.chunks[d].keys;
    scattered.size = size;
    scattered.order = KeyOrder::of(request.key_type, request.options.order);
    scattered.samples = static_cast<std::uint32_t>(count);
    scattered.scattered = true;
    scattered.sample = sample.keys.data();
    check_cuda(kernels.sample(scattered, stream));
    RadixBuffers buffers;
    buffers.keys = sample.keys.data();
    buffers.other_keys = sample.other_keys.data();
    const auto sort = [&](void* temporary, std::size_t& bytes) {
      check_cuda(device_radix_sort(temporary, bytes, buffers, count, static_cast<int>(key_size), 0,
                                   0, 8 * static_cast<int>(key_size), stream));
    };
    std::size_t bytes = 0;
    sort(nullptr, bytes);
    sample.temporary = DeviceBuffer<std::byte>(bytes, stream);
    sort(sample.temporary.data(), bytes);
    SampleArguments even;
    even.keys = buffers.keys;
    even.size = count;
    even.samples = sample.count;
    even.sample = buffers.other_keys;
    check_cuda(kernels.sample(even, stream));
    sample.for_host = buffers.other_keys;
  }
  // Copies to pageable memory block the host; by now all devices have their work.
  for (std::size_t d = 0; d < group.size(); ++d) {
    Sample& sample = samples[d];
    if (sample.count == 0) continue;
    const CurrentDevice current = group.current(d);
    sample.on_host.resize(sample.count * key_size);
    check_cuda(cudaMemcpyAsync(sample.on_host.data(), sample.for_host, sample.on_host.size(),
                               cudaMemcpyDeviceToHost, group.stream(d)));
  }
  group.synchronise();
  std::vector<std::vector<plan::SampledKey>> of_chunks;
  for (std::size_t d = 0; d < group.size(); ++d) {
    const Sample& sample = samples[d];
    if (sample.count == 0) continue;
    std::vector<std::uint64_t> keys(sample.count);
    for (std::size_t i = 0; i < keys.size(); ++i)
      std::memcpy(&keys[i], sample.on_host.data() + i * key_size, key_size);  // little-endian
    of_chunks.push_back(plan::weigh_sample(keys, request.chunks[d].size));
  }
  return plan::merge_samples(std::move(of_chunks));
}

}  // namespace sortie::multisort
