// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "primitives/cuda/device_radix_sort.hpp"

namespace sortie::baselines {

/// cub::DeviceRadixSort of floating-point keys of 2, 4 or 8 bytes, alone or with values of 4 bytes. Two-phase
/// like CUB's own calls. CUB takes -0.0 and +0.0 for equal.
cudaError_t cub_float_sort(void* temporary, std::size_t& bytes, const RadixArrays& arrays,
                           std::uint64_t n, int key_bytes, int value_bytes, cudaStream_t stream);

}  // namespace sortie::baselines
