// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "apps/spgemm/backends.hpp"

namespace sortie::spgemm::baselines {

// Gustavson's row-by-row product: one sum per column, and a list of the columns of the row. O(cols)
// extra memory.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  std::vector<Value> sums(b.cols);
  std::vector<bool> touched(b.cols, false);
  std::vector<Idx> columns;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    columns.clear();
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int64_t k = a.col_idx[i];
      for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j) {
        const Idx column = b.col_idx[j];
        const Value product = a.values[i] * b.values[j];
        if (touched[column]) {
          sums[column] += product;
        } else {
          touched[column] = true;
          columns.push_back(column);
          sums[column] = product;
        }
      }
    }
    std::sort(columns.begin(), columns.end());
    for (const Idx column : columns) {
      c.col_idx.push_back(column);
      c.values.push_back(sums[column]);
      touched[column] = false;
    }
    c.row_ptr.push_back(c.nnz());
  }
  return c;
}

#define INSTANTIATE(Value, Idx) \
  template Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>&, const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::baselines
