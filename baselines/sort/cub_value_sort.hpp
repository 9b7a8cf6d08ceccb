// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "primitives/cuda/device_radix_sort.hpp"

namespace sortie::baselines {

/// cub::DeviceRadixSort of unsigned keys with values of the sizes that device_radix_sort() does not take: 1,
/// 2 or 16 bytes. Two-phase like CUB's own calls.
cudaError_t cub_value_sort(void* temporary, std::size_t& bytes, const RadixArrays& arrays,
                           std::uint64_t n, int key_bytes, int value_bytes, cudaStream_t stream);

}  // namespace sortie::baselines
