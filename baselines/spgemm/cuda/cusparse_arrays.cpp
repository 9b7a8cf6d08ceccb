// SPDX-License-Identifier: Apache-2.0
#include "baselines/spgemm/cuda/cusparse_arrays.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "apps/spgemm/cuda/cusparse_functions.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "baselines/spgemm/cuda/sort_rows.hpp"
#include "core/cuda/check.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

template <class Value>
CusparseArrays<Value>::CusparseArrays(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                      const DeviceCsrView<Value>& b)
    : context_(context),
      a_(a),
      b_(b),
      handle_(create_cusparse_handle(context.stream)),
      a_row_ptr_(narrow_row_ptr("A", a, context.stream)),
      b_row_ptr_(narrow_row_ptr("B", b, context.stream)) {}

template <class Value>
void CusparseArrays<Value>::start_result() {
  work_space_ = 0;
  c_col_idx_.reset();
  c_values_.reset();
  c_row_ptr_ = DeviceBuffer<std::int32_t>(a_row_ptr_.size(), context_.stream);
  // Otherwise the library writes the offsets.
  if (!has_products())
    check_cuda(cudaMemsetAsync(c_row_ptr_.data(), 0, c_row_ptr_.bytes(), context_.stream));
}

template <class Value>
CusparseMatrix CusparseArrays<Value>::describe_c() {
  return describe_result(a_.rows, b_.cols, c_row_ptr_.data(), cusparse_type<Value>);
}

template <class Value>
bool CusparseArrays<Value>::allocate_result(const CusparseMatrix& c) {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  check_cusparse(cusparseSpMatGetSize(c.get(), &rows, &cols, &nnz));
  check_cusparse_size("entries of C", nnz);
  if (nnz == 0) {
    check_cuda(cudaMemsetAsync(c_row_ptr_.data(), 0, c_row_ptr_.bytes(), context_.stream));
    return false;
  }
  c_col_idx_ = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(nnz), context_.stream);
  c_values_ = DeviceBuffer<Value>(static_cast<std::size_t>(nnz), context_.stream);
  check_cusparse(
      cusparseCsrSetPointers(c.get(), c_row_ptr_.data(), c_col_idx_.data(), c_values_.data()));
  return true;
}

template <class Value>
DeviceBuffer<char> CusparseArrays<Value>::work_buffer(std::size_t bytes) {
  work_space_ += bytes;
  if (context_.memory_budget != 0 && work_space_ > context_.memory_budget)
    throw out_of_memory_error("the work space of cuSPARSE SpGEMM", work_space_,
                              context_.memory_budget);
  // A null pointer makes cuSPARSE return a size instead, so even an empty buffer is not null.
  return DeviceBuffer<char>(std::max<std::size_t>(bytes, 1), context_.stream);
}

template <class Value>
DeviceCsr<Value> CusparseArrays<Value>::take_result() {
  DeviceCsr<Value> c;
  c.rows = a_.rows;
  c.cols = b_.cols;
  c.row_ptr = DeviceBuffer<std::int64_t>(c_row_ptr_.size(), context_.stream);
  convert(c_row_ptr_.data(), c.row_ptr.data(), c.rows + 1, context_.stream);
  c.col_idx = std::move(c_col_idx_);
  c.values = std::move(c_values_);
  sort_rows(c, context_.stream);
  return c;
}

template class CusparseArrays<float>;
template class CusparseArrays<double>;
template class CusparseArrays<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
