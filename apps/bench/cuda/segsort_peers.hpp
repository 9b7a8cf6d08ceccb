#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// cub::DeviceSegmentedSort on a request (SortKeys or SortPairs, unstable, ascending): two-phase as
/// segsort::sort_on_device(). Built for u32 and u64 keys and 32-bit offsets.
/// \return cudaErrorNotSupported for other requests
cudaError_t cub_segmented_sort(void* temporary, std::size_t& bytes,
                               const segsort::DeviceRequest& request, cudaStream_t stream);

/// cub::DeviceRadixSort over all items, whatever the segments: the peer of a single segment.
/// \return cudaErrorNotSupported for keys other than u32 and u64
cudaError_t cub_radix_sort(void* temporary, std::size_t& bytes,
                           const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::bench
