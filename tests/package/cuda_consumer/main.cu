// SPDX-License-Identifier: Apache-2.0

// Sorts whose offsets are iterators, which only nvcc compiles. Without a GPU, that it compiles and links is the test.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <sortie/device_radix_sort.hpp>

struct TimesFour {
  __host__ __device__ int operator()(int segment) const { return 4 * segment; }
};

static void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::printf("cuda_consumer: %s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("cuda_consumer: no GPU, so nothing is sorted");
    return 0;
  }
  const int segments = 250, n = 4 * segments;
  std::vector<std::uint32_t> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = 2654435761U * static_cast<std::uint32_t>(i);
  std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  check(cudaMalloc(&in, n * sizeof(std::uint32_t)));
  check(cudaMalloc(&out, n * sizeof(std::uint32_t)));
  check(cudaMemcpy(in, keys.data(), n * sizeof(std::uint32_t), cudaMemcpyHostToDevice));

  const auto begins =
      thrust::make_transform_iterator(thrust::make_counting_iterator(0), TimesFour{});
  void* storage = nullptr;
  std::size_t bytes = 0;
  check(sortie::DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, in, out, n, segments, begins,
                                                   begins + 1));
  check(cudaMalloc(&storage, bytes));
  check(sortie::DeviceSegmentedRadixSort::SortKeys(storage, bytes, in, out, n, segments, begins,
                                                   begins + 1));
  std::vector<std::uint32_t> sorted(n);
  check(cudaMemcpy(sorted.data(), out, n * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));

  for (int segment = 0; segment < segments; ++segment) {
    std::sort(keys.begin() + 4 * segment, keys.begin() + 4 * segment + 4);
  }
  std::puts(sorted == keys ? "cuda_consumer: sorted" : "cuda_consumer: not sorted");
  return sorted == keys ? 0 : 1;
}
