// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "segsort/cuda/device_request.hpp"

namespace sortie::segsort {

/// Whether passes over the digits of `bits` bits, from the first of two buffers on, end in the first.
[[nodiscard]] constexpr bool passes_end_in_input(int bits) {
  constexpr int digit_bits = 8;
  return (bits + digit_bits - 1) / digit_bits % 2 == 0;
}

/// Sorts an array by digits or buckets, in passes that alternate between the input and the output, so that
/// temporary storage has no items. On GPUs with less shared memory, it is sorted by ranges.
/// \param is_in_input  set to whether the result is in the input, in both phases
/// \pre request.is_array and request.input_is_scratch; at least one bit is compared
cudaError_t sort_double_buffers_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                          const DeviceRequest& request, bool& is_in_input,
                                          cudaStream_t stream);

}  // namespace sortie::segsort
