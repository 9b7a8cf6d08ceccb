// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sortie {

/// The memory pool from which Sortie allocates on a device, created by the first call and kept
/// until the process ends. The default pool of the process is not used. The pool keeps freed
/// memory, so repeated calls do not allocate from the system again. Thread-safe.
/// \throws Error (device)
[[nodiscard]] cudaMemPool_t device_pool(int device);

/// The pool of device_pool() if it has been created, else null. Does not initialise CUDA.
[[nodiscard]] cudaMemPool_t existing_device_pool(int device);

/// Memory of a pool, in bytes.
struct PoolUsage {
  std::uint64_t reserved = 0;  ///< allocated from the system
  std::uint64_t used = 0;      ///< part of `reserved` that is allocated and not yet freed
};
/// Usage of the current device's pool. \throws Error (device)
[[nodiscard]] PoolUsage device_pool_usage();

/// Bytes allocated from the pool of the current device and not yet freed. Pending frees on streams
/// count as allocated; synchronise the streams first. \throws Error (device)
[[nodiscard]] std::uint64_t device_memory_in_use();

/// Returns all unused memory of the current device's pool to the system. Later allocations have to
/// request it again. \throws Error (device)
void release_unused_device_memory();

}  // namespace sortie
