#pragma once

#include <string_view>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array::cuda {

/// A phase of work on the context's stream. Device work is asynchronous, so the end of a phase
/// waits for the stream, but only when there is a report that wants its time.
class DevicePhase {
 public:
  DevicePhase(const Context& context, std::string_view name, std::uint64_t bytes = 0)
      : context_(context), timer_(context, name, bytes) {}

  void set_bytes(std::uint64_t bytes) { timer_.set_bytes(bytes); }

  /// Ends the phase. A phase left by an exception ends without waiting.
  void finish() {
    if (context_.report != nullptr) check_cuda(cudaStreamSynchronize(context_.stream));
    timer_.stop();
  }

 private:
  const Context& context_;
  PhaseTimer timer_;
};

}  // namespace sortie::suffix_array::cuda
