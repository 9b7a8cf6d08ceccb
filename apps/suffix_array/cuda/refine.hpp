#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/apps/suffix_array/cuda/refinement.cuh"

namespace sortie::suffix_array::cuda {

/// Runs the pass that a Refinement describes as one scan: items are read once, and every output is
/// written where the scan delivers the prefix of its item.
/// \throws Error (out_of_memory, device)
/// \throws Error (unavailable)  more items than the scan of this CUB can count
template <class Items>
void refine(const Refinement<Items>& refinement, cudaStream_t stream);

/// Bytes of scratch that refine allocates.
template <class Items>
[[nodiscard]] std::size_t refine_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
