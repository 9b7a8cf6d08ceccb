// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm::cuda {

/// Times a phase of work on the context's stream with two CUDA events. Does nothing if the context
/// has no report. Nothing waits for the device before the report is read, so a report does not
/// change the time of the phases. Phases that follow each other on the host without a gap add up to
/// the stream's whole time.
class DevicePhase {
 public:
  DevicePhase(const DeviceContext& context, std::string_view name)
      : report_(context.report), stream_(context.stream), name_(name) {
    if (report_ == nullptr) return;
    events_ = std::make_shared<Events>();
    check_cuda(cudaEventRecord(events_->start, stream_));
  }
  DevicePhase(const DevicePhase&) = delete;
  DevicePhase& operator=(const DevicePhase&) = delete;

  /// Ends the phase; called once. A phase that an exception leaves is not reported.
  void stop() {
    if (report_ == nullptr) return;
    check_cuda(cudaEventRecord(events_->stop, stream_));
    report_->add_pending_phase(name_, [events = std::move(events_)] { return events->seconds(); });
  }

 private:
  struct Events {
    Events() {
      check_cuda(cudaEventCreate(&start));
      check_cuda(cudaEventCreate(&stop));
    }
    ~Events() {
      static_cast<void>(cudaEventDestroy(start));
      static_cast<void>(cudaEventDestroy(stop));
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    /// Waits for the stop event.
    [[nodiscard]] double seconds() const {
      check_cuda(cudaEventSynchronize(stop));
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, start, stop));
      return 1e-3 * static_cast<double>(milliseconds);
    }

    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
  };

  RunReport* report_;
  cudaStream_t stream_;
  std::string name_;
  std::shared_ptr<Events> events_;  ///< shared, since std::function requires copyable captures
};

}  // namespace sortie::spgemm::cuda
