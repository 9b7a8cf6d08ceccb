#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// True for what the peers below are compiled for: u32 and u64 keys, 32-bit offsets. All their
/// types would take minutes to compile, and their speed depends on the width alone.
[[nodiscard]] bool has_cub_peers(const segsort::DeviceRequest& request);

/// cub::DeviceSegmentedSort on a request (SortKeys or SortPairs, unstable, ascending): two-phase as
/// segsort::sort_on_device().
/// \return cudaErrorNotSupported where has_cub_peers() is false
cudaError_t cub_segmented_sort(void* temporary, std::size_t& bytes,
                               const segsort::DeviceRequest& request, cudaStream_t stream);

/// cub::DeviceRadixSort over all items, whatever the segments: the peer of a single segment.
/// \return cudaErrorNotSupported where has_cub_peers() is false
cudaError_t cub_radix_sort(void* temporary, std::size_t& bytes,
                           const segsort::DeviceRequest& request, cudaStream_t stream);

/// Sorts pairs of segment and key by cub::DeviceRadixSort, as CUSP does for sparse matrices:
/// whatever the segments are, the time is the same. Numbering the items' segments is part of it.
///
/// u32 keys go with their segment number in one 64-bit word, of which only the bits in use are
/// sorted. u64 keys take two stable sorts of 32-bit indices, by key and then by segment, and a
/// gather of keys and values at the end.
/// \return cudaErrorNotSupported where has_cub_peers() is false
cudaError_t cub_radix_by_segment(void* temporary, std::size_t& bytes,
                                 const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::bench
