// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "sortie/device_segmented_sort.hpp"

namespace sortie::bench {

/// Launches an empty kernel of one warp: a lower bound for the cost of any call.
cudaError_t launch_empty_kernel(cudaStream_t stream);

/// Copies keys and values from input to output, one thread per item: a lower bound for the cost of
/// any sort with a single launch.
cudaError_t launch_copy_kernel(const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::bench
