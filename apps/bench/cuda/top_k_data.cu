// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/top_k_data.hpp"

#include <span>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::bench {
namespace {

constexpr int read_threads = 256;

__global__ void __launch_bounds__(read_threads)
    read_kernel(const uint4* words, std::uint64_t count, unsigned long long* sum) {
  constexpr int unrolled = 8;
  const std::uint64_t step = std::uint64_t{gridDim.x} * read_threads;
  unsigned int bits = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * read_threads + threadIdx.x; i < count;
       i += unrolled * step) {
    uint4 all[unrolled];
#pragma unroll
    for (int r = 0; r < unrolled; ++r)
      all[r] = i + r * step < count ? words[i + r * step] : uint4{};
#pragma unroll
    for (int r = 0; r < unrolled; ++r) bits ^= all[r].x ^ all[r].y ^ all[r].z ^ all[r].w;
  }
  if (bits == 0x12345678) atomicAdd(sum, 1ULL);
}

__device__ std::uint64_t number_at(const void* data, int bytes, std::uint64_t i) {
  switch (bytes) {
    case 1:
      return static_cast<const std::uint8_t*>(data)[i];
    case 2:
      return static_cast<const std::uint16_t*>(data)[i];
    case 4:
      return static_cast<const std::uint32_t*>(data)[i];
    default:
      return static_cast<const std::uint64_t*>(data)[i];
  }
}

/// One thread per segment.
__global__ void __launch_bounds__(read_threads)
    compare_kernel(segsort::DeviceRequest sort, segsort::DeviceTopKRequest top,
                   unsigned long long* wrong) {
  const int key = key_bytes(sort.key_type);
  const auto count = static_cast<std::uint64_t>(sort.num_segments);
  for (std::uint64_t s = std::uint64_t{blockIdx.x} * read_threads + threadIdx.x; s < count;
       s += std::uint64_t{gridDim.x} * read_threads) {
    const std::uint64_t begin = number_at(sort.begin_offsets, sort.offset_bytes, s);
    const std::uint64_t end = number_at(sort.end_offsets, sort.offset_bytes, s);
    const auto k = static_cast<std::uint64_t>(top.k);
    const std::uint64_t out =
        top.output_offsets == nullptr ? s * k : number_at(top.output_offsets, top.offset_bytes, s);
    const std::uint64_t results = min(k, end - begin);
    unsigned long long differences = 0;
    for (std::uint64_t i = 0; i < results; ++i) {
      const bool same =
          number_at(sort.keys_out, key, begin + i) == number_at(top.keys_out, key, out + i) &&
          (sort.value_bytes == 0 || number_at(sort.values_out, sort.value_bytes, begin + i) ==
                                        number_at(top.values_out, top.value_bytes, out + i));
      differences += same ? 0 : 1;
    }
    if (differences != 0) atomicAdd(wrong, differences);
  }
}

}  // namespace

void read_once(const void* data, std::uint64_t bytes, unsigned long long* sum,
               cudaStream_t stream) {
  constexpr unsigned int blocks = 132 * 8;
  read_kernel<<<blocks, read_threads, 0, stream>>>(static_cast<const uint4*>(data),
                                                   bytes / sizeof(uint4), sum);
  check_cuda(cudaGetLastError());
}

unsigned long long count_wrong_results(const segsort::DeviceRequest& sort,
                                       const segsort::DeviceTopKRequest& top, cudaStream_t stream) {
  unsigned long long wrong = 0;
  DeviceBuffer<unsigned long long> counted(std::span<const unsigned long long>(&wrong, 1), stream);
  compare_kernel<<<1 << 12, read_threads, 0, stream>>>(sort, top, counted.data());
  check_cuda(cudaGetLastError());
  counted.copy_to({&wrong, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return wrong;
}

}  // namespace sortie::bench
