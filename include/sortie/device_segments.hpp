// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

/// Offsets of segments that are given in other ways, for DeviceSegmentedSort and DeviceTopK. Those
/// take pairs of begin and end offsets; n + 1 offsets are such pairs (`offsets` and `offsets + 1`).
/// A number of segments known only on the device is DeviceSortOptions::d_num_segments.
namespace sortie {

namespace segsort {

/// As offsets_of_ids() below, for numbers of 4 or 8 bytes.
SORTIE_API cudaError_t write_offsets_of_ids(const void* ids, int id_bytes, std::int64_t num_items,
                                            std::int64_t num_segments, void* offsets,
                                            int offset_bytes, cudaStream_t stream);
/// As offsets_of_length() below.
SORTIE_API cudaError_t write_offsets_of_length(std::int64_t length, std::int64_t num_items,
                                               std::int64_t num_segments, void* offsets,
                                               int offset_bytes, cudaStream_t stream);

}  // namespace segsort

/// The offsets of segments that are given by the number of the segment of each item.
///
/// \param d_ids         `num_items` numbers in ascending order, from 0 to num_segments - 1. Numbers
///                      may be missing: their segments are empty.
/// \param num_segments  an upper bound suffices; the segments beyond the last number are empty
/// \param d_offsets     receives num_segments + 1 offsets: segment i is the items
///                      d_offsets[i] .. d_offsets[i + 1]
/// \return cudaErrorInvalidValue for negative numbers; otherwise the launch error
/// Complexity: O(num_items + num_segments) in one kernel. No extra memory. Can be captured.
template <SegmentOffset Id, SegmentOffset Offset>
cudaError_t offsets_of_ids(const Id* d_ids, std::int64_t num_items, std::int64_t num_segments,
                           Offset* d_offsets, cudaStream_t stream = nullptr) {
  return segsort::write_offsets_of_ids(d_ids, static_cast<int>(sizeof(Id)), num_items, num_segments,
                                       d_offsets, static_cast<int>(sizeof(Offset)), stream);
}

/// The offsets of segments of equal length, of which the last may be shorter: offset i is
/// min(i * length, num_items). As above; \pre length > 0
template <SegmentOffset Offset>
cudaError_t offsets_of_length(std::int64_t length, std::int64_t num_items,
                              std::int64_t num_segments, Offset* d_offsets,
                              cudaStream_t stream = nullptr) {
  return segsort::write_offsets_of_length(length, num_items, num_segments, d_offsets,
                                          static_cast<int>(sizeof(Offset)), stream);
}

#ifdef __CUDACC__

namespace segsort {

inline constexpr int iterator_threads = 256;

template <class Iterator, class Offset>
__global__ void __launch_bounds__(iterator_threads)
    write_offsets_of_iterator(Iterator iterator, std::int64_t count, Offset* offsets) {
  const std::int64_t step = std::int64_t{gridDim.x} * iterator_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * iterator_threads + threadIdx.x; i < count;
       i += step)
    offsets[i] = static_cast<Offset>(iterator[i]);
}

}  // namespace segsort

/// The offsets that an iterator gives, as CUB's segmented sorts take them: a pointer, or a counting
/// or transforming iterator. Offset i is iterator[i], for `count` offsets. For sources compiled by
/// nvcc.
///
/// \param iterator  has operator[] on the device
/// \return cudaErrorInvalidValue for a negative count; otherwise the launch error
/// Complexity: O(count) in one kernel. No extra memory. Can be captured.
template <SegmentOffset Offset, class Iterator>
cudaError_t offsets_of_iterator(Iterator iterator, std::int64_t count, Offset* d_offsets,
                                cudaStream_t stream = nullptr) {
  if (count < 0) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  constexpr std::int64_t most_blocks = 1 << 16;
  const std::int64_t blocks = (count - 1) / segsort::iterator_threads + 1;
  segsort::write_offsets_of_iterator<<<static_cast<unsigned int>(
                                           blocks < most_blocks ? blocks : most_blocks),
                                       segsort::iterator_threads, 0, stream>>>(iterator, count,
                                                                               d_offsets);
  return cudaGetLastError();
}

#endif

}  // namespace sortie
