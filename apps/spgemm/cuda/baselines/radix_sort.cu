// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/baselines/radix_sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::spgemm::cuda {
namespace {

template <class Payload>
void sort_pairs(DoubleBuffer<std::uint64_t>& keys, DoubleBuffer<void>& payloads, std::int64_t count,
                int end_bit, cudaStream_t stream) {
  cub::DoubleBuffer<std::uint64_t> cub_keys(keys.Current(), keys.Alternate());
  cub::DoubleBuffer<Payload> cub_payloads(static_cast<Payload*>(payloads.Current()),
                                          static_cast<Payload*>(payloads.Alternate()));
  std::size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, cub_keys, cub_payloads, count, 0,
                                             end_bit, stream));
  DeviceBuffer<char> scratch(bytes, stream);
  check_cuda(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, cub_keys, cub_payloads, count,
                                             0, end_bit, stream));
  keys.selector ^= cub_keys.selector;
  payloads.selector ^= cub_payloads.selector;
}

}  // namespace

void radix_sort_pairs(DoubleBuffer<std::uint64_t>& keys, DoubleBuffer<void>& payloads,
                      int payload_bytes, std::int64_t count, int end_bit, cudaStream_t stream) {
  if (payload_bytes == 4) {
    sort_pairs<std::uint32_t>(keys, payloads, count, end_bit, stream);
  } else {
    sort_pairs<std::uint64_t>(keys, payloads, count, end_bit, stream);
  }
}

}  // namespace sortie::spgemm::cuda
