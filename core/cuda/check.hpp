#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

namespace sortie {

/// "FILE:LINE" of a place in the source, without its folder.
[[nodiscard]] std::string describe(std::source_location where);

/// Throws when a CUDA call failed; the message names the call's place, the CUDA error and its text.
/// Out of memory becomes ErrorKind::out_of_memory, everything else ErrorKind::device.
void check_cuda(cudaError_t status, std::source_location where = std::source_location::current());

}  // namespace sortie
