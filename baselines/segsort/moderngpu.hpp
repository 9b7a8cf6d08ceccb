// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "sortie/device_segmented_sort.hpp"

/// moderngpu 2.0 as a peer of segmented sort: headers that no package has. A build has them where
/// MODERNGPU_INCLUDE_DIR names their folder (that with moderngpu/kernel_segsort.hxx).
namespace sortie::baselines {

/// Whether this build has moderngpu, and it sorts this request: u32 keys with values of 4 or 8
/// bytes, and 32-bit offsets.
[[nodiscard]] bool moderngpu_sorts(const segsort::DeviceRequest& request);

/// mgpu::segmented_sort on a request, ascending.
/// Two-phase like segsort::sort_on_device(). It sorts in place, so the input is copied to the output
/// first. Its work space comes from the pool of the device in each call.
/// \pre segments follow each other without gaps
/// \return cudaErrorNotSupported unless moderngpu_sorts()
cudaError_t moderngpu_segmented_sort(void* temporary, std::size_t& bytes,
                                     const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::baselines
