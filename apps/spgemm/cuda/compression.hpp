#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/payload.hpp"
#include "sortie/apps/spgemm/cuda/run_heads.hpp"

namespace sortie::spgemm::cuda {

/// Writes the entry of C that each run of sorted products makes: its column, and the sum of its
/// products, in an order that depends on the length of the run only, so that sums come out with the
/// same bits on every run.
///
/// \param keys      of the products, as find_run_heads() had them
/// \param payloads  sorted with the keys
/// \param products  the products by number, where payloads are numbers
/// \param columns, sums  receive one entry for each run
/// Complexity: O(products), of which a warp sums the longest run alone.
template <class Value, class Column, class Key>
void sum_runs(const RunHeads& heads, const Key* keys, KeyLayout layout,
              const PayloadType<Value>* payloads, const Value* products, Column* columns,
              Value* sums, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
