// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Sorts the columns of every row in ascending order if they are not. Synchronises the stream.
/// \pre fewer than 2^32 entries; no column twice in a row
/// \throws Error (out_of_memory, device)
/// Extra memory: one copy of the entries, and 12 bytes per entry for complex values.
template <class Value>
void sort_rows(DeviceCsr<Value>& matrix, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
