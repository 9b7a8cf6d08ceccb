// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"

/// Launches of kernels, and calls of CUB.
namespace sortie {

/// Threads per block of the element-wise kernels.
inline constexpr unsigned int element_threads = 256;

/// Number of blocks for `items` items, `items_per_block` each. `items` is at most 2^31 - 1 blocks.
[[nodiscard]] constexpr unsigned int blocks_for(std::uint64_t items,
                                                std::uint64_t items_per_block = element_threads) {
  return static_cast<unsigned int>((items + items_per_block - 1) / items_per_block);
}

/// How a kernel is ordered after the preceding work of its stream.
enum class LaunchOrder {
  after,        ///< starts when that work has ended
  overlapping,  ///< programmatic dependent launch: starts early; the kernel itself waits
  cooperative,  ///< as `after`; all blocks are resident at once and may wait for each other
};

/// Launches `kernel` with `shared_bytes` of dynamic shared memory per block.
/// \pre allow_shared_memory() was called if shared_bytes is more than 48 KiB
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(void (*kernel)(Parameters...), unsigned int blocks,
                                 unsigned int threads, std::size_t shared_bytes,
                                 cudaStream_t stream, LaunchOrder order,
                                 const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  if (order == LaunchOrder::cooperative) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = order == LaunchOrder::after ? 0 : 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// Lets blocks of `kernel` have up to `bytes` of dynamic shared memory on the current device.
template <class... Parameters>
[[nodiscard]] cudaError_t allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

/// Largest dynamic shared memory per block that kernels of the current device can be allowed.
/// \throws Error (device)
[[nodiscard]] inline int max_shared_bytes() {
  int device = 0;
  int bytes = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}

/// Calls a function of CUB: call(scratch, bytes) returns the scratch bytes wanted if scratch is
/// nullptr, and works otherwise. The scratch comes from the library's pool, in stream order.
/// \throws Error (device), (out_of_memory)
template <class Call>
void call_with_scratch(cudaStream_t stream, Call call) {
  std::size_t bytes = 0;
  check_cuda(call(nullptr, bytes));
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(call(static_cast<void*>(scratch.data()), bytes));
}

#ifdef __CUDACC__
/// Index of this thread in a one-dimensional grid.
[[nodiscard]] __device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <class Index, class Function>
__global__ void __launch_bounds__(element_threads)
    for_each_item_kernel(std::uint64_t count, Function function) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (i < count) function(static_cast<Index>(i));
}

/// Calls function(i) on the device for every i in [0, count), one thread each. Launches nothing for
/// count 0.
/// \tparam Index  type of i
/// \throws Error (device)
template <class Index, class Function>
void for_each_item(std::uint64_t count, const Function& function, cudaStream_t stream) {
  if (count == 0) return;
  for_each_item_kernel<Index><<<blocks_for(count), element_threads, 0, stream>>>(count, function);
  check_cuda(cudaGetLastError());
}
#endif

}  // namespace sortie
