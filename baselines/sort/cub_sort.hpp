// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/// CUB's sorts of u32 keys, as peers of the classics. In place; two-phase like CUB's own calls.
namespace sortie::baselines {

cudaError_t cub_radix_in_place(void* temporary, std::size_t& bytes, std::uint32_t* keys,
                               std::uint64_t n, cudaStream_t stream);
cudaError_t cub_merge_in_place(void* temporary, std::size_t& bytes, std::uint32_t* keys,
                               std::uint64_t n, cudaStream_t stream);

}  // namespace sortie::baselines
