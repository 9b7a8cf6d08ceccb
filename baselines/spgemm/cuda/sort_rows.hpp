// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "sortie/device_csr.hpp"

/// Libraries return the columns of a row in any order. Sortie's results, and those that tests and
/// benchmarks compare, have them in ascending order.
namespace sortie::spgemm::cuda {

/// Sorts the columns of every row in ascending order if they are not, by segmented sort.
/// Synchronises the stream.
/// \tparam Value  float, double or std::complex<double>
/// \pre fewer than 2^32 entries; no column twice in a row
/// \throws Error (out_of_memory, device)
/// Complexity: O(nnz) to find whether the rows are sorted; then that of the segmented sort.
/// Extra memory: one copy of the entries, and 12 bytes per entry for complex values.
template <class Value>
void sort_rows(DeviceCsr<Value>& matrix, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
