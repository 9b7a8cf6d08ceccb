// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/suffix_array.hpp"

/// Prefix sums and maxima of arrays in device memory, in place. CUB's scans take long to compile,
/// so scan.cu is the only source that includes them. It also numbers sets (numbered_set.cuh).
///
/// \throws Error (unavailable)  more items than the scan of this CUB can count
/// \throws Error (device, out_of_memory)
namespace sortie::suffix_array::cuda {

template <class Index>
struct RefinementTotals;

template <Position Index>
void inclusive_sum(Index* values, std::uint64_t count, cudaStream_t stream);
template <Position Index>
void inclusive_maximum(Index* values, std::uint64_t count, cudaStream_t stream);

/// Replaces the totals of the tiles by those of all tiles before. Two-phase, as CUB's scans.
template <Position Index>
cudaError_t scan_totals(void* scratch, std::size_t& bytes, RefinementTotals<Index>* totals,
                        std::uint64_t tiles, cudaStream_t stream = nullptr);

}  // namespace sortie::suffix_array::cuda
