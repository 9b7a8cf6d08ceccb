// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "sortie/device_segmented_sort.hpp"

/// CUB of a CCCL that the user names, as a peer beside that of the toolkit: a build has it where
/// SORTIE_NEWER_CCCL_DIR names its folder. One source file alone includes its headers; CUB's
/// namespaces bear the version, so that both may be linked.
namespace sortie::baselines {

/// "3.2.0"; "" if this build has none.
[[nodiscard]] std::string newer_cub_version();

/// cub::DeviceSegmentedSort of that version, like cub_segmented_sort().
/// \return cudaErrorNotSupported for keys other than u32 and u64, for offsets of 8 bytes, and in a
///         build without it
cudaError_t newer_cub_segmented_sort(void* temporary, std::size_t& bytes,
                                     const segsort::DeviceRequest& request, cudaStream_t stream);

/// cub::DeviceRadixSort of that version over all items, whatever the segments, like
/// cub_radix_sort().
/// \return cudaErrorNotSupported for keys that are not unsigned, for keys of 1 and 2 bytes with
///         values of 8, and in a build without it
cudaError_t newer_cub_radix_sort(void* temporary, std::size_t& bytes,
                                 const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::baselines
