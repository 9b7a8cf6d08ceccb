// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace sortie {

/// Whether the kernels of this build support programmatic dependent launch on the current device:
/// whether they were compiled for compute capability 9.0 or newer. The device alone does not tell:
/// the driver of a GPU of capability 9.0 may have compiled the kernels from PTX for 8.0, in which
/// the waits of primitives/cuda/hardware.cuh are empty. The answer is kept for each device.
[[nodiscard]] cudaError_t query_dependent_launch(bool& supported);

}  // namespace sortie
