// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sortie/device_segmented_sort.hpp"

namespace sortie::segsort {

/// Longest segment of a sort of which nothing is known.
inline constexpr std::uint64_t any_length = std::numeric_limits<std::uint64_t>::max();

/// As sort_on_device(), of segments that have at most `longest` items each: kernels for longer ones
/// are not launched, and lists of them take no storage. \pre Policy::tuned; no array
cudaError_t sort_bounded_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                   const DeviceRequest& request, std::uint64_t longest,
                                   cudaStream_t stream);

}  // namespace sortie::segsort
