// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/device_product.hpp"

#include <cub/device/device_scan.cuh>

#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {

template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = static_cast<To>(from[i]); }, stream);
}

void shift_offsets(const std::int64_t* from, std::int64_t amount, std::int64_t* to,
                   std::int64_t count, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = from[i] + amount; }, stream);
}

void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, data, data, count, stream);
  });
}

template void convert(const std::int64_t*, std::uint32_t*, std::int64_t, cudaStream_t);
template void convert(const std::uint32_t*, std::int64_t*, std::int64_t, cudaStream_t);
template void convert(const std::int64_t*, std::int32_t*, std::int64_t, cudaStream_t);
template void convert(const std::int32_t*, std::int64_t*, std::int64_t, cudaStream_t);

}  // namespace sortie::spgemm::cuda
