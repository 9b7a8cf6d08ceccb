// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/// CUB's sorts, as peers of the classics, of u32 keys and of pairs in words whose upper half is the key.
/// In place; two-phase like CUB's own calls.
namespace sortie::baselines {

/// \param begin_bit, end_bit  bits of the key that are sorted
template <class Item>
cudaError_t cub_radix_in_place(void* temporary, std::size_t& bytes, Item* items, std::uint64_t n,
                               cudaStream_t stream, int begin_bit = 0, int end_bit = 32);
template <class Item>
cudaError_t cub_merge_in_place(void* temporary, std::size_t& bytes, Item* items, std::uint64_t n,
                               cudaStream_t stream);

}  // namespace sortie::baselines
