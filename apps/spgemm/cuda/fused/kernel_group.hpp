#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

#include "sortie/core/cuda/check.hpp"

namespace sortie::spgemm::cuda {

/// Launches kernels that do not depend on each other, one behind another in a stream, so that the
/// next one starts when the last blocks of the one before have started, not when they have ended.
/// The first waits for all that is in the stream before. The kernels must call
/// let_next_kernel_start() and end_after_kernels_before() (see hardware.cuh).
class KernelGroup {
 public:
  explicit KernelGroup(cudaStream_t stream) : stream_(stream) {}

  /// Blocks with `bytes` of dynamic shared memory: as much of the multiprocessors' memory as can be
  /// is given to them; for those without, the driver decides, and leaves more to the cache.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), unsigned blocks, int threads, std::size_t bytes,
              const Arguments&... arguments) {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    if (bytes != 0) prepare(kernel);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream_;
    config.attrs = &overlap;
    config.numAttrs = is_first_ ? 0 : 1;
    check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...));
    is_first_ = false;
  }

 private:
  /// Allows the kernel all shared memory that a block may have, once on each device.
  template <class... Parameters>
  static void prepare(void (*kernel)(Parameters...)) {
    static std::mutex mutex;
    static std::set<std::pair<int, const void*>> prepared;
    int device = 0;
    check_cuda(cudaGetDevice(&device));
    const std::lock_guard lock(mutex);
    if (!prepared.emplace(device, reinterpret_cast<const void*>(kernel)).second) return;
    cudaFuncAttributes found{};
    check_cuda(cudaFuncGetAttributes(&found, kernel));
    int most = 0;
    check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    most - static_cast<int>(found.sharedSizeBytes)));
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  }

  cudaStream_t stream_;
  bool is_first_ = true;
};

}  // namespace sortie::spgemm::cuda
