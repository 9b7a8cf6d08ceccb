// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "segsort/cuda/device_request.hpp"

/// Segments of keys of 1 or 2 bytes. Kernels of their own sort them by whole keys (segsort/README.md);
/// one long segment is sorted as an array. By some bits of the keys, they are sorted as words of
/// 4 bytes: one pass over all items widens the keys, another one narrows the sorted words.
namespace sortie::segsort {

/// As sort_bounded_on_device(). \pre keys of 1 or 2 bytes; no key ranges, no array
cudaError_t sort_narrow_keys(void* temp_storage, std::size_t& temp_storage_bytes,
                             const DeviceRequest& request, std::uint64_t longest,
                             cudaStream_t stream);

}  // namespace sortie::segsort
