#pragma once

#include "sortie/apps/spgemm/cuda/device_csr.cuh"

namespace sortie::spgemm::cuda {

/// Brings the columns of every row into ascending order where they are not. Synchronises the
/// stream. \pre fewer than 2^32 entries; no column twice in a row \throws Error (out_of_memory,
/// device) Extra memory: one copy of the entries, and 12 bytes an entry for complex values.
template <class Value>
void sort_rows(DeviceCsr<Value>& matrix, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
