#include <Eigen/SparseCore>
#include <algorithm>
#include <limits>

#include "sortie/apps/spgemm/backends.hpp"

namespace sortie::spgemm::baselines {

namespace {

// Eigen has one integer type for columns and for offsets.
template <class StorageIndex, Scalar Value>
using EigenMatrix = Eigen::SparseMatrix<Value, Eigen::RowMajor, StorageIndex>;

template <class StorageIndex, Scalar Value, Index Idx>
EigenMatrix<StorageIndex, Value> to_eigen(const Csr<Value, Idx>& matrix) {
  EigenMatrix<StorageIndex, Value> result(matrix.rows, matrix.cols);
  result.resizeNonZeros(matrix.nnz());
  std::copy(matrix.row_ptr.begin(), matrix.row_ptr.end(), result.outerIndexPtr());
  std::copy(matrix.col_idx.begin(), matrix.col_idx.end(), result.innerIndexPtr());
  std::copy(matrix.values.begin(), matrix.values.end(), result.valuePtr());
  return result;
}

template <class StorageIndex, Scalar Value, Index Idx>
Csr<Value, Idx> multiply_with(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const EigenMatrix<StorageIndex, Value> product =
      to_eigen<StorageIndex>(a) * to_eigen<StorageIndex>(b);
  Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr.assign(product.outerIndexPtr(), product.outerIndexPtr() + a.rows + 1);
  c.col_idx.assign(product.innerIndexPtr(), product.innerIndexPtr() + product.nonZeros());
  c.values.assign(product.valuePtr(), product.valuePtr() + product.nonZeros());
  return c;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const bool small = std::max(count_products(a, b), std::max(a.nnz(), b.nnz())) <=
                     std::numeric_limits<std::int32_t>::max();
  if constexpr (std::same_as<Idx, std::int32_t>) {
    if (small) return multiply_with<std::int32_t>(a, b);
  }
  return multiply_with<std::int64_t>(a, b);
}

#define INSTANTIATE(Value, Idx) \
  template Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>&, const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::baselines
