// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie::spgemm::cuda {

/// The arrays of a matrix in device memory, as kernel arguments.
template <class Value>
struct MatrixArrays {
  const std::int64_t* row_ptr;
  const std::uint32_t* col_idx;
  const Value* values;
};

/// Consecutive rows of A, and all of B.
template <class Value>
struct ProductOperands {
  MatrixArrays<Value> a;
  MatrixArrays<Value> b;
  std::int64_t columns;    ///< of B and C
  std::int64_t b_entries;  ///< nnz(B)
};

/// Destination of the corresponding rows of C; row_ptr is already computed.
template <class Value>
struct ProductRows {
  const std::int64_t* row_ptr;
  std::uint32_t* col_idx;
  Value* values;
};

}  // namespace sortie::spgemm::cuda
