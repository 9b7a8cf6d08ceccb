#include "sortie/apps/spgemm/cuda/scan.hpp"

#include <cub/device/device_scan.cuh>

#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::spgemm::cuda {

void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, data, data, count, stream));
  DeviceBuffer<char> scratch(bytes, stream);
  check_cuda(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, data, data, count, stream));
}

}  // namespace sortie::spgemm::cuda
