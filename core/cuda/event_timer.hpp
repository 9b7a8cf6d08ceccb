// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "core/cuda/check.hpp"

namespace sortie {

/// A pair of CUDA events around work on a stream.
class EventTimer {
 public:
  EventTimer() {
    check_cuda(cudaEventCreate(&start_));
    check_cuda(cudaEventCreate(&stop_));
  }
  ~EventTimer() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  /// Device seconds from the start to the end of the work that `work` enqueues on the stream. Waits
  /// for its completion.
  double time(cudaStream_t stream, const std::function<void()>& work) {
    check_cuda(cudaEventRecord(start_, stream));
    work();
    check_cuda(cudaEventRecord(stop_, stream));
    check_cuda(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace sortie
