// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"

namespace sortie::test {

/// Bytes of a GPU's memory that the library's pool holds, unused ones included. Unlike the GPU's free
/// memory, other processes do not change it. \throws Error (device)
inline std::uint64_t pool_bytes(int device = 0) {
  std::uint64_t bytes = 0;
  check_cuda(
      cudaMemPoolGetAttribute(device_pool(device), cudaMemPoolAttrReservedMemCurrent, &bytes));
  return bytes;
}

}  // namespace sortie::test
