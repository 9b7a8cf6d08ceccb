#pragma once

#include <cuda_runtime_api.h>

#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// A kernel of one warp that does nothing: what no call can be cheaper than.
cudaError_t launch_empty_kernel(cudaStream_t stream);

/// Copies keys and values from input to output, one thread an item: what no sort in a single launch
/// can be cheaper than.
cudaError_t launch_copy_kernel(const segsort::DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::bench
