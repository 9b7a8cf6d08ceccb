// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/essc/payload.hpp"
#include "apps/spgemm/cuda/essc/run_heads.hpp"

namespace sortie::spgemm::cuda {

/// Writes one entry of C per run of sorted products: its column, and the sum of its products. The
/// order of summation depends on the length of the run only, so results are reproducible.
///
/// \param keys      of the products, as passed to find_run_heads()
/// \param payloads  sorted with the keys
/// \param products  the products by index, if payloads are indices
/// \param columns, sums  receive one entry per run
/// Complexity: O(products); one warp sums the longest run.
template <class Value, class Column, class Key>
void sum_runs(const RunHeads& heads, const Key* keys, KeyLayout layout,
              const PayloadType<Value>* payloads, const Value* products, Column* columns,
              Value* sums, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
