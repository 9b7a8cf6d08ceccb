// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <source_location>
#include <string>

/// Checked CUDA calls, and the handles that they create.
namespace sortie {

/// "FILE:LINE" of a source location, without the folder.
[[nodiscard]] std::string describe(std::source_location where);

/// \throws Error (out_of_memory, device) if a CUDA call failed, naming the location of the call and
///         the CUDA error
void check_cuda(cudaError_t status, std::source_location where = std::source_location::current());

namespace detail {
struct DestroyHandle {
  void operator()(cudaEvent_t event) const noexcept { static_cast<void>(cudaEventDestroy(event)); }
  void operator()(cudaStream_t stream) const noexcept {
    static_cast<void>(cudaStreamDestroy(stream));
  }
};
}  // namespace detail

/// An event. Its end does not wait for it.
using CudaEvent = std::unique_ptr<CUevent_st, detail::DestroyHandle>;
/// A stream that does not synchronise with the default stream. Its end does not wait for its work.
using CudaStream = std::unique_ptr<CUstream_st, detail::DestroyHandle>;

/// An event of the current device. \param flags  by default, it does not measure times
/// \throws Error (device)
[[nodiscard]] inline CudaEvent make_event(unsigned int flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, flags));
  return CudaEvent(event);
}

/// A stream of the current device. \throws Error (device)
/// \param priority  0 is the default; less is more urgent
[[nodiscard]] inline CudaStream make_stream(int priority = 0) {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
  return CudaStream(stream);
}

}  // namespace sortie
