// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/phase_timer.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

/// The context of work on a device, and the times of its phases.
namespace sortie {

/// Makes a CUDA device current for a scope and restores the previous one afterwards.
class CurrentDevice {
 public:
  /// \throws Error (device)
  explicit CurrentDevice(int ordinal) {
    check_cuda(cudaGetDevice(&previous_));
    check_cuda(cudaSetDevice(ordinal));
  }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(previous_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

/// Calls `release`, which frees memory of a device in the order of its stream, while the device is
/// current: the default stream is that of the current device. For destructors: it does not fail, also
/// if CUDA has shut down, which frees the memory itself.
template <class Release>
void release_on_device(int ordinal, const Release& release) noexcept {
  int previous = 0;
  const bool changes = cudaGetDevice(&previous) == cudaSuccess && previous != ordinal;
  if (changes) static_cast<void>(cudaSetDevice(ordinal));
  release();
  if (changes) static_cast<void>(cudaSetDevice(previous));
}

/// A CurrentDevice for the device of a context.
struct DeviceScope : CurrentDevice {
  /// \throws Error (unavailable) without CUDA or without this device; (device)
  explicit DeviceScope(const Context& context) : CurrentDevice(checked_device(context)) {}

 private:
  /// Checks that the device exists first: the message is clearer than that of the CUDA error.
  static int checked_device(Context context) {
    context.backend = Backend::cuda;
    static_cast<void>(resolve_backend(context));
    return context.device;
  }
};

/// A context and the stream of its device work, passed through the CUDA implementation. Calls on
/// host memory use the default stream.
struct DeviceContext : Context {
  cudaStream_t stream = nullptr;

  DeviceContext() = default;
  explicit DeviceContext(const Context& context, cudaStream_t stream_of_work = nullptr)
      : Context(context), stream(stream_of_work) {}
};

/// The DeviceContext of one public call. The device of the context is current during its lifetime.
class DeviceCall : public DeviceContext {
 public:
  /// \throws Error (unavailable, device)
  explicit DeviceCall(const Context& context, cudaStream_t stream_of_work = nullptr)
      : DeviceContext(context, stream_of_work), scope_(context) {}

 private:
  DeviceScope scope_;
};

/// Two CUDA events around work on a stream.
class EventPair {
 public:
  void start(cudaStream_t stream) { check_cuda(cudaEventRecord(start_.get(), stream)); }
  void stop(cudaStream_t stream) { check_cuda(cudaEventRecord(stop_.get(), stream)); }
  /// Seconds on the device between the events. Waits for the second.
  [[nodiscard]] double seconds() const {
    check_cuda(cudaEventSynchronize(stop_.get()));
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
    return 1e-3 * static_cast<double>(milliseconds);
  }
  /// Seconds on the device of the work that `work` enqueues on the stream. Waits for its end.
  double time(cudaStream_t stream, const std::function<void()>& work) {
    start(stream);
    work();
    stop(stream);
    return seconds();
  }

 private:
  CudaEvent start_ = make_event(cudaEventDefault);
  CudaEvent stop_ = make_event(cudaEventDefault);
};

/// Times a phase of work on the context's stream with two CUDA events, if the context has a report.
/// Nothing waits for the device before the report is read, so a report does not change the time of
/// the phases. Phases without a gap between them on the host add up to the stream's whole time.
class DevicePhase {
 public:
  DevicePhase(const DeviceContext& context, std::string_view name)
      : report_(context.report), stream_(context.stream), name_(name) {
    if (report_ == nullptr) return;
    events_ = std::make_shared<EventPair>();
    events_->start(stream_);
  }
  DevicePhase(const DevicePhase&) = delete;
  DevicePhase& operator=(const DevicePhase&) = delete;

  /// Ends the phase; called once. A phase that an exception leaves is not reported.
  void stop() {
    if (report_ == nullptr) return;
    events_->stop(stream_);
    report_->add_pending_phase(name_, [events = std::move(events_)] { return events->seconds(); });
  }

 private:
  RunReport* report_;
  cudaStream_t stream_;
  std::string name_;
  std::shared_ptr<EventPair> events_;  ///< shared, since std::function requires copyable captures
};

/// Times a phase that alternates between host and device, by the host's clock. Its end waits for
/// the stream, but only if a report records the time.
class WaitingPhase {
 public:
  /// Does not keep a reference to the context.
  WaitingPhase(const DeviceContext& context, std::string_view name, std::uint64_t bytes = 0)
      : stream_(context.stream),
        reported_(context.report != nullptr),
        timer_(context, name, bytes) {}

  void set_bytes(std::uint64_t bytes) { timer_.set_bytes(bytes); }

  /// Ends the phase. A phase that an exception leaves ends without waiting.
  void stop() {
    if (reported_) check_cuda(cudaStreamSynchronize(stream_));
    timer_.stop();
  }

 private:
  cudaStream_t stream_;
  bool reported_;
  PhaseTimer timer_;
};

}  // namespace sortie
