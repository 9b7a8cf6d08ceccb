#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: the 2^i-th
/// sample further on decides round i.
///
/// \param list   groups of samples, by number, that are equal as far as the first step; their slots
///               are ranks
/// \param ranks  of all samples, by number: those of `list` have the first slot of their group; on
///               return, each has its own
/// \param steps  by number: the number of the next sample; for samples that are in no group, any
///               number of a sample
/// \return number of rounds
/// \throws Error (out_of_memory, device)
/// Waits for the stream once a round, every third round where groups are small.
///
/// Complexity: O(u log r) for u samples in groups, and repeats of r steps.
/// Memory for s samples: steps another time, 4 s bytes; keys 4 u and what a refinement or a sort of
/// the groups takes.
template <Position Index>
std::uint64_t double_steps(SuffixGroups<Index> list, DeviceBuffer<Index>& ranks,
                           DeviceBuffer<Index> steps, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
