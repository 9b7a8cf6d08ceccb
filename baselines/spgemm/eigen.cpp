// SPDX-License-Identifier: Apache-2.0
#include <Eigen/SparseCore>
#include <algorithm>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm::baselines {

namespace {

// Eigen uses one integer type for columns and offsets.
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
Csr<Value, Idx> from_eigen(const EigenMatrix<StorageIndex, Value>& matrix) {
  Csr<Value, Idx> result;
  result.rows = matrix.rows();
  result.cols = matrix.cols();
  result.row_ptr.assign(matrix.outerIndexPtr(), matrix.outerIndexPtr() + result.rows + 1);
  result.col_idx.assign(matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros());
  result.values.assign(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
  return result;
}

template <class StorageIndex, Scalar Value, Index Idx>
Csr<Value, Idx> multiply_with(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const EigenMatrix<StorageIndex, Value> product =
      to_eigen<StorageIndex>(a) * to_eigen<StorageIndex>(b);
  return from_eigen<StorageIndex, Value, Idx>(product);
}

/// Concatenates the rows of `parts`; cuts[i] is the first row of part i.
template <Scalar Value, Index Idx>
Csr<Value, Idx> joined(const std::vector<Csr<Value, Idx>>& parts,
                       std::span<const std::int64_t> cuts, std::int64_t cols) {
  Csr<Value, Idx> c;
  c.rows = cuts.back();
  c.cols = cols;
  c.row_ptr.reserve(static_cast<std::size_t>(c.rows) + 1);
  std::vector<std::int64_t> begin;
  for (const auto& part : parts) {
    begin.push_back(c.row_ptr.back());
    for (std::int64_t row = 1; row <= part.rows; ++row)
      c.row_ptr.push_back(begin.back() + part.row_ptr[row]);
  }
  host::resize_for_overwrite(c.col_idx, c.row_ptr.back());
  host::resize_for_overwrite(c.values, c.row_ptr.back());
  host::for_each_block(host_threads(), 0, std::ssize(parts), [&](int, std::int64_t i) {
    std::copy(parts[i].col_idx.begin(), parts[i].col_idx.end(), c.col_idx.begin() + begin[i]);
    std::copy(parts[i].values.begin(), parts[i].values.end(), c.values.begin() + begin[i]);
  });
  return c;
}

template <class StorageIndex, Scalar Value, Index Idx>
Csr<Value, Idx> multiply_blocks_with(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  // Few blocks per thread: enough for load balance, but each block clears memory as wide as B.
  constexpr std::int64_t blocks_per_thread = 4;
  constexpr std::int64_t least_products = std::int64_t{1} << 16;
  const std::vector<std::int64_t> offsets = host::product_offsets(a, b);
  const std::int64_t most =
      std::max(least_products, offsets.back() / (blocks_per_thread * host_threads()));
  const std::vector<std::int64_t> cuts = host::cut_rows(offsets, most, std::max(a.rows, most));
  const auto eigen_a = to_eigen<StorageIndex>(a);
  const auto eigen_b = to_eigen<StorageIndex>(b);
  const auto blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  std::vector<Csr<Value, Idx>> parts(blocks);
  std::vector<std::exception_ptr> failures(blocks);  // exceptions must not leave a parallel loop
  host::for_each_block(host_threads(), 0, blocks, [&](int, std::int64_t i) {
    try {
      const EigenMatrix<StorageIndex, Value> rows =
          eigen_a.middleRows(cuts[i], cuts[i + 1] - cuts[i]);
      const EigenMatrix<StorageIndex, Value> product = rows * eigen_b;
      parts[i] = from_eigen<StorageIndex, Value, Idx>(product);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return joined(parts, cuts, b.cols);
}

/// True if 32-bit offsets suffice for Eigen.
template <Scalar Value, Index Idx>
bool is_small(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  return std::max(count_products(a, b), std::max(a.nnz(), b.nnz())) <=
         std::numeric_limits<std::int32_t>::max();
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  if constexpr (std::same_as<Idx, std::int32_t>) {
    if (is_small(a, b)) return multiply_with<std::int32_t>(a, b);
  }
  return multiply_with<std::int64_t>(a, b);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_eigen_by_blocks(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  if constexpr (std::same_as<Idx, std::int32_t>) {
    if (is_small(a, b)) return multiply_blocks_with<std::int32_t>(a, b);
  }
  return multiply_blocks_with<std::int64_t>(a, b);
}

#define INSTANTIATE(Value, Idx)                                                            \
  template Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>&, const Csr<Value, Idx>&); \
  template Csr<Value, Idx> multiply_eigen_by_blocks(const Csr<Value, Idx>&, const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::baselines
