// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

namespace sortie {

/// "FILE:LINE" of a source location, without the folder.
[[nodiscard]] std::string describe(std::source_location where);

/// Throws if a CUDA call failed. The message contains the source location of the call, the name of
/// the CUDA error and its description. Out of memory becomes ErrorKind::out_of_memory, every other
/// error ErrorKind::device.
void check_cuda(cudaError_t status, std::source_location where = std::source_location::current());

}  // namespace sortie
