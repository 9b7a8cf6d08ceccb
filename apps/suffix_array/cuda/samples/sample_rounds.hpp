// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: round i
/// sorts by the rank of the sample 2^i steps ahead.
///
/// \param list   groups of samples, by number, that agree up to the first step; their slots are
///               ranks
/// \param ranks  ranks of all samples, by number: those of `list` have the first slot of their
///               group; on return, all ranks are distinct
/// \param steps  by number: the number of the next sample; for samples in no group, any valid
///               number
/// \return number of rounds
/// \throws Error (out_of_memory, device)
/// Waits for the stream once a round, every third round where groups are small.
///
/// Complexity: O(u log r) for u samples in groups, and repeats of r steps.
/// Memory for s samples: a second array of steps, 4 s bytes; keys 4 u and the memory of a
/// refinement or a sort of the groups.
template <Position Index>
std::uint64_t double_steps(SuffixGroups<Index> list, DeviceBuffer<Index>& ranks,
                           DeviceBuffer<Index> steps, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
