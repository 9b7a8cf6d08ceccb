// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

#include "core/cuda/check.hpp"
#include "primitives/cuda/kernel_image.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {

/// Launches mutually independent kernels in one stream with programmatic dependent launch: a kernel
/// starts as soon as the last blocks of its predecessor have started. The first kernel waits for
/// all prior work in the stream. Where the kernels lack that feature, they run one after the other.
/// The kernels must call trigger_dependent_launch() and wait_for_prior_kernels()
/// (primitives/cuda/hardware.cuh).
class KernelGroup {
 public:
  /// \throws Error (device)
  explicit KernelGroup(cudaStream_t stream) : stream_(stream) {
    check_cuda(query_dependent_launch(may_overlap_));
  }

  /// \param bytes  dynamic shared memory per block. If not 0, the kernel requests the largest
  ///               shared memory carveout; otherwise the driver chooses, which leaves more L1
  ///               cache
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), unsigned blocks, int threads, std::size_t bytes,
              const Arguments&... arguments) {
    if (bytes != 0) prepare(kernel);
    check_cuda(sortie::launch(
        kernel, blocks, static_cast<unsigned int>(threads), bytes, stream_,
        is_first_ || !may_overlap_ ? LaunchOrder::after : LaunchOrder::overlapping, arguments...));
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
    check_cuda(allow_shared_memory(
        kernel, static_cast<std::size_t>(max_shared_bytes()) - found.sharedSizeBytes));
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  }

  cudaStream_t stream_;
  bool may_overlap_ = false;
  bool is_first_ = true;
};

/// Calls launch.operator()<i>() for i = Count - 1, ..., 0: the largest rows first.
template <int Count, class Launch>
void for_each_descending(const Launch& launch) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (launch.template operator()<Count - 1 - I>(), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

}  // namespace sortie::spgemm::cuda
