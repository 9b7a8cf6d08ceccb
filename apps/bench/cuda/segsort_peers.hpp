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

}  // namespace sortie::bench
