// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/device_segmented_sort.hpp"
#include "sortie/device_top_k.hpp"

namespace sortie::bench {

/// Reads `bytes` bytes once, in words of 16 bytes: the limit of a selection that reads each key.
/// \param sum  one number in device memory; keeps the compiler from omitting the reads
void read_once(const void* data, std::uint64_t bytes, unsigned long long* sum, cudaStream_t stream);

/// Number of results of `top` that differ from the first k items of the segments sorted by `sort`,
/// a stable sort of the same input. Waits for the stream.
[[nodiscard]] unsigned long long count_wrong_results(const segsort::DeviceRequest& sort,
                                                     const segsort::DeviceTopKRequest& top,
                                                     cudaStream_t stream);

}  // namespace sortie::bench
