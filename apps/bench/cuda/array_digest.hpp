// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/device_buffer.hpp"

namespace sortie::bench {

/// A 64-bit hash of an array in device memory, for telling whether two results have the same bits.
/// \param bytes  a multiple of 4
/// \param seed   the digest of what comes before the array
/// \throws Error (out_of_memory, device)
[[nodiscard]] std::uint64_t array_digest(const void* data, std::size_t bytes, std::uint64_t seed,
                                         cudaStream_t stream);

template <class T>
[[nodiscard]] std::uint64_t array_digest(const DeviceBuffer<T>& array, std::uint64_t seed = 0) {
  return array_digest(array.data(), array.bytes(), seed, array.stream());
}

}  // namespace sortie::bench
