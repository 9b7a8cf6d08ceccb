// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// Element-wise operations and scans of offsets and column indices in device memory. All work is
/// ordered on `stream`.
namespace sortie::spgemm::cuda {

/// to[i] = from[i] for device arrays of integers of different width.
/// Instantiated for int64 -> uint32, uint32 -> int64, int64 -> int32 and int32 -> int64.
/// \pre every number fits To
template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, cudaStream_t stream);

/// to[i] = from[i] + amount for `count` offsets on the device. \throws Error (device)
void shift_offsets(const std::int64_t* from, std::int64_t amount, std::int64_t* to,
                   std::int64_t count, cudaStream_t stream);

/// Replaces each of `count` device integers by the sum of those before it.
/// \throws Error (out_of_memory, device)
void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
