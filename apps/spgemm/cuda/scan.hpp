#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sortie::spgemm::cuda {

/// Replaces each of `count` device integers by the sum of those before it.
/// \throws Error (out_of_memory, device)
void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
