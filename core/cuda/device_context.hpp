// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "core/cuda/device_scope.hpp"
#include "sortie/context.hpp"

namespace sortie {

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
