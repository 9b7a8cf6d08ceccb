#pragma once

#include <cstdint>

namespace sortie::spgemm::cuda {

/// The arrays of a matrix in device memory, as kernels take them.
template <class Value>
struct MatrixArrays {
  const std::int64_t* row_ptr;
  const std::uint32_t* col_idx;
  const Value* values;
};

/// Some neighbouring rows of A, and B.
template <class Value>
struct ProductOperands {
  MatrixArrays<Value> a;
  MatrixArrays<Value> b;
  std::int64_t columns;    ///< of B and C
  std::int64_t b_entries;  ///< nnz(B)
};

/// Where the rows of C go that belong to those of A: row_ptr is known.
template <class Value>
struct ProductRows {
  const std::int64_t* row_ptr;
  std::uint32_t* col_idx;
  Value* values;
};

}  // namespace sortie::spgemm::cuda
