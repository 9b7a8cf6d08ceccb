// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

#include "core/cuda/check.hpp"

namespace sortie::spgemm::cuda {

/// Launches mutually independent kernels in one stream with programmatic dependent launch: a kernel
/// starts as soon as the last blocks of its predecessor have started. The first kernel waits for
/// all prior work in the stream. The kernels must call trigger_dependent_launch() and
/// wait_for_prior_kernels() (see hardware.cuh).
class KernelGroup {
 public:
  explicit KernelGroup(cudaStream_t stream) : stream_(stream) {}

  /// \param bytes  dynamic shared memory per block. If not 0, the kernel requests the largest
  ///               shared memory carveout; otherwise the driver chooses, which leaves more L1
  ///               cache
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
  /// Allows the kernel the largest dynamic shared memory per block, once per device.
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
