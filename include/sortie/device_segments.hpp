// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

/// Offsets of segments that are given in other ways, for DeviceSegmentedSort and DeviceTopK. Those
/// take pairs of begin and end offsets; n + 1 offsets are such pairs (`offsets` and `offsets + 1`).
/// A number of segments known only on the device is DeviceSortOptions::d_num_segments.
/// DeviceSegmentedSort also takes iterators.
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

namespace segsort {

/// Whether both are pointers to offsets of the same width, which the sorts read as they are.
template <class Begin, class End>
inline constexpr bool are_offset_arrays = false;
template <class Begin, class End>
inline constexpr bool are_offset_arrays<Begin*, End*> = SegmentOffset<Begin>&& SegmentOffset<End> &&
                                                        sizeof(Begin) == sizeof(End);

/// Calls a two-phase `sort(storage, bytes, request)` with a copy of the offsets in device memory,
/// which is the end of its storage. For sources compiled by nvcc.
template <class Request, class Begin, class End, class Sort>
cudaError_t with_copied_offsets(void* temp_storage, std::size_t& temp_storage_bytes,
                                Request request, Begin begin, End end, cudaStream_t stream,
                                const Sort& sort);

}  // namespace segsort

/// Begin or end offsets of DeviceSegmentedSort: a pointer to offsets in device memory or, in sources
/// compiled by nvcc, anything whose operator[] gives integers on the device.
template <class Offsets>
concept SegmentOffsets = segsort::are_offset_arrays<Offsets, Offsets>
#ifdef __CUDACC__
    || requires(Offsets offsets, std::int64_t i) {
  static_cast<std::int64_t>(offsets[i]);
}
#endif
;

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

namespace segsort {

template <class Request, class Begin, class End, class Sort>
cudaError_t with_copied_offsets(void* temp_storage, std::size_t& temp_storage_bytes,
                                Request request, Begin begin, End end, cudaStream_t stream,
                                const Sort& sort) {
  using BeginOffset = std::remove_cvref_t<decltype(begin[std::int64_t{}])>;
  using EndOffset = std::remove_cvref_t<decltype(end[std::int64_t{}])>;
  constexpr bool is_wide = sizeof(BeginOffset) > 4 || sizeof(EndOffset) > 4;
  using Offset = std::conditional_t<is_wide, std::int64_t, std::int32_t>;
  if (request.num_segments < 0) return cudaErrorInvalidValue;
  constexpr std::size_t alignment = 16;
  const auto aligned = [](std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  const std::size_t bytes_of_offsets =
      2 * aligned(static_cast<std::size_t>(request.num_segments) * sizeof(Offset));
  request.offset_bytes = static_cast<int>(sizeof(Offset));
  std::size_t sort_bytes = 0;
  cudaError_t status = sort(nullptr, sort_bytes, request);
  if (status != cudaSuccess) return status;
  const std::size_t bytes = aligned(sort_bytes) + bytes_of_offsets;
  if (temp_storage == nullptr) {
    temp_storage_bytes = bytes;
    return cudaSuccess;
  }
  if (temp_storage_bytes < bytes) return cudaErrorInvalidValue;
  char* const copies = static_cast<char*>(temp_storage) + aligned(sort_bytes);
  auto* const begins = reinterpret_cast<Offset*>(copies);
  auto* const ends = reinterpret_cast<Offset*>(copies + bytes_of_offsets / 2);
  status = offsets_of_iterator(begin, request.num_segments, begins, stream);
  if (status == cudaSuccess) status = offsets_of_iterator(end, request.num_segments, ends, stream);
  if (status != cudaSuccess) return status;
  request.begin_offsets = begins;
  request.end_offsets = ends;
  return sort(temp_storage, sort_bytes, request);
}

}  // namespace segsort

#endif

}  // namespace sortie
