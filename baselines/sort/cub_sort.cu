// SPDX-License-Identifier: Apache-2.0
#include "baselines/sort/cub_sort.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace sortie::baselines {

namespace {

struct Less {
  template <class Item>
  __device__ bool operator()(Item a, Item b) const {
    return a < b;
  }
};

}  // namespace

template <class Item>
cudaError_t cub_radix_in_place(void* temporary, std::size_t& bytes, Item* items, std::uint64_t n,
                               cudaStream_t stream, int begin_bit, int end_bit) {
  // The second buffer counts as temporary storage, since the sort is in place. It comes first,
  // padded to the alignment that CUB requires.
  const std::size_t buffer = (n * sizeof(Item) + 255) / 256 * 256;
  auto* const other = static_cast<Item*>(temporary);
  cub::DoubleBuffer<Item> buffers(items, other);
  std::size_t own = bytes - buffer;
  void* const rest = temporary == nullptr ? nullptr : static_cast<char*>(temporary) + buffer;
  constexpr int below = 8 * sizeof(Item) - 32;  // bits of the value
  const cudaError_t status = cub::DeviceRadixSort::SortKeys(
      rest, own, buffers, n, below + begin_bit, below + end_bit, stream);
  if (temporary == nullptr) bytes = buffer + own;
  if (status != cudaSuccess || temporary == nullptr || buffers.Current() == items) return status;
  return cudaMemcpyAsync(items, buffers.Current(), n * sizeof(Item), cudaMemcpyDeviceToDevice,
                         stream);
}

template <class Item>
cudaError_t cub_merge_in_place(void* temporary, std::size_t& bytes, Item* items, std::uint64_t n,
                               cudaStream_t stream) {
  return cub::DeviceMergeSort::SortKeys(temporary, bytes, items, n, Less{}, stream);
}

template cudaError_t cub_radix_in_place(void*, std::size_t&, std::uint32_t*, std::uint64_t,
                                        cudaStream_t, int, int);
template cudaError_t cub_radix_in_place(void*, std::size_t&, std::uint64_t*, std::uint64_t,
                                        cudaStream_t, int, int);
template cudaError_t cub_merge_in_place(void*, std::size_t&, std::uint32_t*, std::uint64_t,
                                        cudaStream_t);
template cudaError_t cub_merge_in_place(void*, std::size_t&, std::uint64_t*, std::uint64_t,
                                        cudaStream_t);

}  // namespace sortie::baselines
