// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"

namespace sortie {

/// Copies a small value from the device. Waits for the stream.
///
/// The copy goes to page-locked memory: a copy to pageable memory would wait for the work before it
/// within the call that starts it.
/// \throws Error (out_of_memory, device)
template <class T>
[[nodiscard]] T read_value(const T* on_device, cudaStream_t stream) {
  PinnedMailbox<T> value(stream);
  check_cuda(
      cudaMemcpyAsync(value.on_device(), on_device, sizeof(T), cudaMemcpyDeviceToHost, stream));
  value.mark();
  return value.wait();
}

}  // namespace sortie
