// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/device_segmented_sort.hpp"

namespace sortie::spgemm::cuda {

/// Stable sort of a device array of pairs by bits 0 .. end_bit - 1 of the keys.
/// \param payload_bytes  size of a payload, 4 or 8; payloads are moved as bits
/// \throws Error (out_of_memory, device)
/// Complexity: O(count * end_bit / 8). Extra memory: less than 1 byte per item.
void radix_sort_pairs(DoubleBuffer<std::uint64_t>& keys, DoubleBuffer<void>& payloads,
                      int payload_bytes, std::int64_t count, int end_bit, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
