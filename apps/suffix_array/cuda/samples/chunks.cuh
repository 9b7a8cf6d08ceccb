// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::suffix_array::cuda {

// Lists the suffixes of all chunks: ranges of neighbouring suffixes, one chunk a minimizer. A warp
// lists 32 chunks, which follow one another in the list, 32 suffixes at a time:
//
//   lane         0         1       2 ...          holds first suffix and end of its chunk
//   chunk        40 41 42  7 8     93 94 95 96
//   list      ...40 41 42  7 8     93 94 95 96...
//   lane          0  1  2  3 4      5  6  7  8    writes: finds its chunk among the 32 ends
//
// So a warp writes neighbours at once, and reads those of a chunk at once. `ends` are ends in the
// list, in the order of the chunks. write(place, suffix) is called for all suffixes.
template <class Index, class Write>
__global__ void __launch_bounds__(element_threads)
    list_chunks_kernel(const Index* firsts, const Index* ends, std::uint64_t count, Write write) {
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const Index end = ends[chunk < count ? chunk : count - 1];
  const Index begin = chunk == 0 ? Index{0} : ends[(chunk < count ? chunk : count) - 1];
  // From a place in the list to the suffix there, modulo the range of Index.
  const Index shift = chunk < count ? static_cast<Index>(firsts[chunk] - begin) : Index{0};
  const std::uint64_t stop = from_lane(end, 31);
  for (std::uint64_t first = from_lane(begin, 0); first < stop; first += 32) {
    const std::uint64_t at = first + lane();
    int own = 0;  // lanes whose chunks end at or before `at`
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
      if (from_lane(end, own + step - 1) <= at) own += step;
    const auto position = static_cast<Index>(static_cast<Index>(at) + from_lane(shift, own));
    if (at < stop) write(at, position);
  }
}

}  // namespace sortie::suffix_array::cuda
