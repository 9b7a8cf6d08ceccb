// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cuda/check.hpp"
#include "sortie/context.hpp"

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

/// The same for the device of a context.
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

}  // namespace sortie
