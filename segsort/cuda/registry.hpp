// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/device_segmented_sort.hpp"

/// What a program or a test may set before it sorts. Not thread-safe.
namespace sortie::segsort {

/// A two-phase sort with the conventions of sort_on_device().
using DeviceSort = cudaError_t (*)(void* temp_storage, std::size_t& temp_storage_bytes,
                                   const DeviceRequest& request, cudaStream_t stream);

/// Makes sort_on_device() call `sort` for requests with this policy. A second registration of the
/// same policy is ignored. \pre policy != Policy::tuned
void register_policy(Policy policy, DeviceSort sort);

/// Makes Policy::tuned choose its kernels as on a GPU that has at most `bytes` of shared memory per
/// block; 0: as the GPU has. For tests of GPUs with less shared memory. Must not change between the
/// two phases of a call.
void limit_shared_bytes(int bytes);

}  // namespace sortie::segsort
