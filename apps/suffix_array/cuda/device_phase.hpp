// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::cuda {

/// A phase of work on the context's stream. Device work is asynchronous: the end of a phase waits
/// for the stream, but only if a report records its time.
class DevicePhase {
 public:
  /// Does not keep a reference to the context.
  DevicePhase(const DeviceContext& context, std::string_view name, std::uint64_t bytes = 0)
      : stream_(context.stream),
        reported_(context.report != nullptr),
        timer_(context, name, bytes) {}

  void set_bytes(std::uint64_t bytes) { timer_.set_bytes(bytes); }

  /// Ends the phase. A phase left by an exception ends without waiting.
  void finish() {
    if (reported_) check_cuda(cudaStreamSynchronize(stream_));
    timer_.stop();
  }

 private:
  cudaStream_t stream_;
  bool reported_;
  PhaseTimer timer_;
};

}  // namespace sortie::suffix_array::cuda
