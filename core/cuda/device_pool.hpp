// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/context.hpp"

/// Memory of devices: the pools, what is free, and temporary storage.
namespace sortie {

/// The memory pool from which Sortie allocates on a device, created by the first call and kept
/// until the process ends. The default pool of the process is not used. The pool keeps freed
/// memory, so repeated calls do not allocate from the system again. Thread-safe.
/// \throws Error (device)
[[nodiscard]] cudaMemPool_t device_pool(int device);

/// The pool of device_pool() if it has been created, else null. Does not initialise CUDA.
[[nodiscard]] cudaMemPool_t existing_device_pool(int device);

/// Bytes allocated from the pool of the current device and not yet freed. Pending frees on streams
/// count as allocated; synchronise the streams first. \throws Error (device)
[[nodiscard]] std::uint64_t device_memory_in_use();

/// Bytes free on the current device, unused pool memory included. \throws Error (device)
[[nodiscard]] std::uint64_t device_memory_free();

/// Bytes of workspace that device code may use: the context's budget, at most device_memory_free().
[[nodiscard]] std::uint64_t device_memory_budget(const HostContext& context);

/// Returns all unused memory of the current device's pool to the system. \throws Error (device)
void release_unused_device_memory();

/// Divides a caller's temporary storage into consecutive aligned arrays. With a null base it
/// returns null pointers and only adds up the bytes, so both phases of a two-phase call run the
/// same code.
class StorageCarver {
 public:
  /// \param alignment  bytes, of each array relative to `base`, which should have the same alignment
  explicit StorageCarver(void* base, std::size_t alignment = 16)
      : base_(static_cast<char*>(base)), alignment_(alignment) {}

  /// The next array: `count` objects of type T, not constructed.
  template <class T>
  T* take(std::uint64_t count) {
    char* const place = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (count * sizeof(T) + alignment_ - 1) / alignment_ * alignment_;
    return reinterpret_cast<T*>(place);
  }

  /// Bytes taken so far.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t alignment_;
  std::size_t used_ = 0;
};

}  // namespace sortie
