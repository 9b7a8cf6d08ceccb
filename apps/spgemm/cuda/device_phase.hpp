#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::spgemm::cuda {

/// Times a phase of device work. Waits for the stream at its end when the context has a report, so
/// that the seconds are those of the phase; without a report nothing waits.
class DevicePhase {
 public:
  DevicePhase(const Context& context, std::string_view name)
      : stream_(context.stream), waits_(context.report != nullptr), timer_(context, name) {}

  /// Ends the phase. A phase that is left by an exception ends without waiting.
  void stop() {
    if (waits_) check_cuda(cudaStreamSynchronize(stream_));
    timer_.stop();
  }

 private:
  cudaStream_t stream_;
  bool waits_;
  PhaseTimer timer_;
};

}  // namespace sortie::spgemm::cuda
