#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "sortie/core/cuda/check.hpp"

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

  /// Seconds from the start of what `work` put on the stream to its end on the device. Waits for
  /// it.
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
