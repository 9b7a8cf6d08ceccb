#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/cuda/runs.cuh"
#include "sortie/apps/suffix_array/packing.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Fewest members of a run segment that is sorted by run lengths. Long runs, as gaps of N are,
/// would else go through log2(length) rounds with all their suffixes; a round over fewer members
/// than this costs no more than its launches.
inline constexpr std::uint64_t least_run_members = 4096;

/// Segments of suffixes that start with a run of one letter: at most one for each letter.
template <Position Index>
struct RunSegments {
  std::uint64_t count = 0;
  DeviceBuffer<Index> begins;  ///< first `count` items are used
  DeviceBuffer<Index> ends;
};

/// Finds the run segments with at least least_run_members members among the segments that the first
/// sort left. Waits for the stream.
/// \param words          sorted, by slot
/// \param segment_slots  by member
/// \param offsets        of the segments, one more than `segments`
template <Position Index>
[[nodiscard]] RunSegments<Index> find_run_segments(const PackingPlan& plan,
                                                   const std::uint64_t* words,
                                                   const Index* segment_slots, const Index* offsets,
                                                   std::uint64_t segments, cudaStream_t stream);

/// Writes the keys of one run segment.
template <Position Index>
void write_run_keys(const RunKeys<Index>& run_keys, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
