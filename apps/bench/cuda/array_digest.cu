// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/array_digest.hpp"

#include <algorithm>

#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::bench {
namespace {

constexpr unsigned most_digest_blocks = 1 << 12;

// Adds a hash of each word and its place: the sum does not depend on the order of the threads.
__global__ void __launch_bounds__(element_threads)
    digest_kernel(const std::uint32_t* words, std::size_t count, std::uint64_t seed,
                  unsigned long long* digest) {
  std::uint64_t sum = 0;
  for (auto i = static_cast<std::size_t>(global_thread()); i < count;
       i += std::size_t{gridDim.x} * element_threads)
    sum += Random(Random(seed + i).next() + words[i]).next();
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(digest, static_cast<unsigned long long>(sum));
}

}  // namespace

std::uint64_t array_digest(const void* data, std::size_t bytes, std::uint64_t seed,
                           cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(std::uint32_t);
  std::uint64_t digest = 0;
  DeviceBuffer<unsigned long long> on_device(1, stream);
  check_cuda(cudaMemsetAsync(on_device.data(), 0, on_device.bytes(), stream));
  if (count != 0) {
    digest_kernel<<<std::min(blocks_for(count), most_digest_blocks), element_threads, 0, stream>>>(
        static_cast<const std::uint32_t*>(data), count, seed, on_device.data());
    check_cuda(cudaGetLastError());
  }
  check_cuda(
      cudaMemcpyAsync(&digest, on_device.data(), sizeof digest, cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return Random(digest + seed).next();
}

}  // namespace sortie::bench
