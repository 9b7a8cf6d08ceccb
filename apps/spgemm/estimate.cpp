// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm_estimate.hpp"

#include <algorithm>

#include "apps/spgemm/backends.hpp"

namespace sortie::spgemm {

namespace {

template <class Value, class Idx>
std::uint64_t csr_bytes(std::int64_t rows, std::int64_t nnz) {
  return sizeof(std::int64_t) * (static_cast<std::uint64_t>(rows) + 1) +
         (sizeof(Idx) + sizeof(Value)) * static_cast<std::uint64_t>(nnz);
}

template <Scalar Value, Index Idx>
std::optional<WorkSpace> host_work_space(const Context& context, const ProductSize& size,
                                         Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::row_wise:
      return host::row_wise_work_space<Value, Idx>(context, size);
    case Algorithm::essc:
      return host::essc_work_space<Value, Idx>(context, size);
    default:
      return std::nullopt;
  }
}

}  // namespace

template <Scalar Value, Index Idx>
ProductSize product_size(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  ProductSize size;
  size.products = count_products(a, b);  // checks the shapes
  size.rows = a.rows;
  size.cols = b.cols;
  size.nnz_a = a.nnz();
  size.nnz_b = b.nnz();
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::int64_t products = 0;
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int64_t k = a.col_idx[i];
      products += b.row_ptr[k + 1] - b.row_ptr[k];
    }
    if (row == 0 || products > size.longest_row_products) {
      size.longest_row = row;
      size.longest_row_products = products;
    }
    size.nnz_c_bound += std::min(products, b.cols);
  }
  size.bytes_a = csr_bytes<Value, Idx>(a.rows, a.nnz());
  size.bytes_b = csr_bytes<Value, Idx>(b.rows, b.nnz());
  size.bytes_c_bound = csr_bytes<Value, Idx>(size.rows, size.nnz_c_bound);
  return size;
}

template <Scalar Value, Index Idx>
std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                    Algorithm algorithm) {
  return choose_backend(context, algorithm) == Backend::cuda
             ? cuda::work_space<Value, Idx>(context, size, algorithm)
             : host_work_space<Value, Idx>(context, size, algorithm);
}

#define INSTANTIATE(Value, Idx)                                                                \
  template ProductSize product_size(const Csr<Value, Idx>&, const Csr<Value, Idx>&);           \
  template std::optional<WorkSpace> work_space<Value, Idx>(const Context&, const ProductSize&, \
                                                           Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
