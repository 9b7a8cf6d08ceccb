#include "sortie/apps/spgemm/cuda/cusparse_reuse.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "sortie/apps/spgemm/cuda/conversion.hpp"
#include "sortie/apps/spgemm/cuda/sort_rows.hpp"
#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {

namespace {

// Others of its algorithms cannot be reused.
constexpr cusparseSpGEMMAlg_t algorithm = CUSPARSE_SPGEMM_DEFAULT;
constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

template <class Value>
CusparseReuse<Value>::CusparseReuse(const Context& context, const DeviceCsr<Value>& a,
                                    const DeviceCsr<Value>& b)
    : context_(context),
      a_(a),
      b_(b),
      handle_(create_cusparse_handle(context.stream)),
      a_row_ptr_(narrow_row_ptr("A", a, context.stream)),
      b_row_ptr_(narrow_row_ptr("B", b, context.stream)) {}

/// function(handle, op A, op B, A, B, C, algorithm, descriptor, rest...)
template <class Value>
template <class Function, class... Rest>
void CusparseReuse<Value>::call(Function function, Rest... rest) const {
  check_cusparse_offers(function(handle_.get(), as_it_is, as_it_is, a_matrix_.get(),
                                 b_matrix_.get(), c_matrix_.get(), algorithm, descriptor_.get(),
                                 rest...));
}

template <class Value>
void CusparseReuse<Value>::analyse() {
  descriptor_.reset();
  nnz_buffer_.reset();
  copy_buffer_.reset();
  c_col_idx_.reset();
  c_values_.reset();
  work_space_ = 0;
  c_row_ptr_ = DeviceBuffer<std::int32_t>(a_row_ptr_.size(), context_.stream);
  check_cuda(cudaMemsetAsync(c_row_ptr_.data(), 0, c_row_ptr_.bytes(), context_.stream));
  if (!has_products()) return;  // cuSPARSE refuses matrices without arrays
  a_matrix_ = describe_operand(a_, a_row_ptr_);
  b_matrix_ = describe_operand(b_, b_row_ptr_);
  c_matrix_ = describe_result(a_.rows, b_.cols, c_row_ptr_.data(), cusparse_type<Value>);
  descriptor_ = create_cusparse_descriptor();

  std::size_t bytes = 0;
  call(cusparseSpGEMMreuse_workEstimation, &bytes, nullptr);
  DeviceBuffer<char> estimation_buffer = work_buffer(bytes);
  call(cusparseSpGEMMreuse_workEstimation, &bytes, estimation_buffer.data());

  std::size_t hash_bytes = 0;
  std::size_t copied_bytes = 0;
  std::size_t kept_bytes = 0;
  call(cusparseSpGEMMreuse_nnz, &hash_bytes, nullptr, &copied_bytes, nullptr, &kept_bytes, nullptr);
  DeviceBuffer<char> hash_buffer = work_buffer(hash_bytes);
  const DeviceBuffer<char> copied_buffer = work_buffer(copied_bytes);
  nnz_buffer_ = work_buffer(kept_bytes);
  call(cusparseSpGEMMreuse_nnz, &hash_bytes, hash_buffer.data(), &copied_bytes,
       const_cast<char*>(copied_buffer.data()), &kept_bytes, nnz_buffer_.data());
  estimation_buffer.reset();
  hash_buffer.reset();

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  check_cusparse(cusparseSpMatGetSize(c_matrix_.get(), &rows, &cols, &nnz));
  check_cusparse_size("entries of C", nnz);
  if (nnz == 0) return;
  c_col_idx_ = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(nnz), context_.stream);
  c_values_ = DeviceBuffer<Value>(static_cast<std::size_t>(nnz), context_.stream);
  check_cusparse(cusparseCsrSetPointers(c_matrix_.get(), c_row_ptr_.data(), c_col_idx_.data(),
                                        c_values_.data()));
  call(cusparseSpGEMMreuse_copy, &bytes, nullptr);
  copy_buffer_ = work_buffer(bytes);
  call(cusparseSpGEMMreuse_copy, &bytes, copy_buffer_.data());
}

template <class Value>
void CusparseReuse<Value>::compute() {
  if (c_values_.size() == 0) return;
  const Value one{1};
  const Value zero{0};
  check_cusparse_offers(cusparseSpGEMMreuse_compute(
      handle_.get(), as_it_is, as_it_is, &one, a_matrix_.get(), b_matrix_.get(), &zero,
      c_matrix_.get(), cusparse_type<Value>, algorithm, descriptor_.get()));
}

template <class Value>
DeviceBuffer<char> CusparseReuse<Value>::work_buffer(std::size_t bytes) {
  work_space_ += bytes;
  if (context_.memory_budget != 0 && work_space_ > context_.memory_budget)
    throw out_of_memory_error("the work space of cuSPARSE SpGEMM", work_space_,
                              context_.memory_budget);
  // cuSPARSE takes a null pointer for a question, so even an empty buffer must be one.
  return DeviceBuffer<char>(std::max<std::size_t>(bytes, 1), context_.stream);
}

template <class Value>
DeviceCsr<Value> CusparseReuse<Value>::take_result() {
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

template class CusparseReuse<float>;
template class CusparseReuse<double>;
template class CusparseReuse<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
