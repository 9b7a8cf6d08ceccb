// SPDX-License-Identifier: Apache-2.0
#include "baselines/sort/cub_sort.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace sortie::baselines {

cudaError_t cub_radix_in_place(void* temporary, std::size_t& bytes, std::uint32_t* keys,
                               std::uint64_t n, cudaStream_t stream) {
  // The second buffer counts as temporary storage, since the sort is in place. It comes first,
  // padded to the alignment that CUB requires.
  const std::size_t buffer = (n * sizeof(std::uint32_t) + 255) / 256 * 256;
  auto* const other = static_cast<std::uint32_t*>(temporary);
  cub::DoubleBuffer<std::uint32_t> buffers(keys, other);
  std::size_t own = bytes - buffer;
  void* const rest = temporary == nullptr ? nullptr : static_cast<char*>(temporary) + buffer;
  const cudaError_t status = cub::DeviceRadixSort::SortKeys(rest, own, buffers, n, 0, 32, stream);
  if (temporary == nullptr) bytes = buffer + own;
  if (status != cudaSuccess || temporary == nullptr || buffers.Current() == keys) return status;
  return cudaMemcpyAsync(keys, buffers.Current(), n * sizeof(std::uint32_t),
                         cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cub_merge_in_place(void* temporary, std::size_t& bytes, std::uint32_t* keys,
                               std::uint64_t n, cudaStream_t stream) {
  const auto less = [] __device__(std::uint32_t a, std::uint32_t b) { return a < b; };
  return cub::DeviceMergeSort::SortKeys(temporary, bytes, keys, n, less, stream);
}

}  // namespace sortie::baselines
