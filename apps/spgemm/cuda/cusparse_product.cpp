#include "sortie/apps/spgemm/cuda/cusparse_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sortie/apps/spgemm/cuda/conversion.hpp"
#include "sortie/apps/spgemm/cuda/sort_rows.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// The part of all products that CUSPARSE_SPGEMM_ALG3 makes at a time: the value of NVIDIA's own
/// example of that algorithm.
constexpr float kChunkFraction = 0.2F;

cusparseSpGEMMAlg_t library_algorithm(Algorithm which) {
  switch (which) {
    case Algorithm::cusparse_default:
      return CUSPARSE_SPGEMM_DEFAULT;
    case Algorithm::cusparse_alg1:
      return CUSPARSE_SPGEMM_ALG1;
    case Algorithm::cusparse_alg2:
      return CUSPARSE_SPGEMM_ALG2;
    case Algorithm::cusparse_alg3:
      return CUSPARSE_SPGEMM_ALG3;
    default:
      throw Error(ErrorKind::unavailable,
                  fmt::format("cuSPARSE SpGEMM: found algorithm {}, expected one of cuSPARSE's",
                              name(which)));
  }
}

}  // namespace

/// What all steps of one product share: every cuSPARSE function of it begins with the same
/// arguments.
template <class Value>
struct CusparseProduct<Value>::Call {
  cusparseHandle_t handle;
  CusparseConstMatrix a;
  CusparseConstMatrix b;
  CusparseMatrix c;
  cusparseSpGEMMAlg_t algorithm;
  CusparseDescriptor descriptor = create_cusparse_descriptor();
  Value one{1};
  Value zero{0};
  DeviceBuffer<char> estimation_buffer = {};  ///< used by all later steps as well

  /// function(handle, op A, op B, alpha, A, B, beta, C, type, algorithm, descriptor, rest...)
  template <class Function, class... Rest>
  void operator()(Function function, Rest... rest) const {
    check_cusparse_offers(function(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a.get(),
        b.get(), &zero, c.get(), cusparse_type<Value>, algorithm, descriptor.get(), rest...));
  }
};

template <class Value>
CusparseProduct<Value>::CusparseProduct(const Context& context, const DeviceCsr<Value>& a,
                                        const DeviceCsr<Value>& b)
    : context_(context),
      a_(a),
      b_(b),
      handle_(create_cusparse_handle(context.stream)),
      a_row_ptr_(narrow_row_ptr("A", a, context.stream)),
      b_row_ptr_(narrow_row_ptr("B", b, context.stream)) {}

template <class Value>
void CusparseProduct<Value>::multiply(Algorithm which) {
  const cusparseSpGEMMAlg_t algorithm = library_algorithm(which);
  work_space_ = 0;
  c_row_ptr_ = DeviceBuffer<std::int32_t>(a_row_ptr_.size(), context_.stream);
  c_col_idx_.reset();
  c_values_.reset();
  if (a_.nnz() == 0 || b_.nnz() == 0) {  // cuSPARSE refuses matrices without arrays
    check_cuda(cudaMemsetAsync(c_row_ptr_.data(), 0, c_row_ptr_.bytes(), context_.stream));
    return;
  }
  Call call{handle_.get(), describe_operand(a_, a_row_ptr_), describe_operand(b_, b_row_ptr_),
            describe_result(a_.rows, b_.cols, c_row_ptr_.data(), cusparse_type<Value>), algorithm};
  estimate(call);
  const DeviceBuffer<char> buffer = compute(call, which);  // needed until C is copied
  copy_result(call);
}

template <class Value>
void CusparseProduct<Value>::estimate(Call& call) {
  std::size_t bytes = 0;
  call(cusparseSpGEMM_workEstimation, &bytes, nullptr);
  call.estimation_buffer = work_buffer(bytes);
  call(cusparseSpGEMM_workEstimation, &bytes, call.estimation_buffer.data());
}

template <class Value>
DeviceBuffer<char> CusparseProduct<Value>::compute(Call& call, Algorithm which) {
  std::size_t bytes = 0;
  if (which == Algorithm::cusparse_alg2 || which == Algorithm::cusparse_alg3) {
    std::size_t estimate_bytes = 0;
    call(cusparseSpGEMM_estimateMemory, kChunkFraction, &estimate_bytes, nullptr, nullptr);
    const DeviceBuffer<char> estimate_buffer = work_buffer(estimate_bytes);
    call(cusparseSpGEMM_estimateMemory, kChunkFraction, &estimate_bytes,
         const_cast<char*>(estimate_buffer.data()), &bytes);
  } else {
    call(cusparseSpGEMM_compute, &bytes, nullptr);
  }
  DeviceBuffer<char> buffer = work_buffer(bytes);
  call(cusparseSpGEMM_compute, &bytes, buffer.data());
  return buffer;
}

template <class Value>
void CusparseProduct<Value>::copy_result(Call& call) {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  check_cusparse(cusparseSpMatGetSize(call.c.get(), &rows, &cols, &nnz));
  check_cusparse_size("entries of C", nnz);
  if (nnz == 0) {
    check_cuda(cudaMemsetAsync(c_row_ptr_.data(), 0, c_row_ptr_.bytes(), context_.stream));
    return;
  }
  c_col_idx_ = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(nnz), context_.stream);
  c_values_ = DeviceBuffer<Value>(static_cast<std::size_t>(nnz), context_.stream);
  check_cusparse(
      cusparseCsrSetPointers(call.c.get(), c_row_ptr_.data(), c_col_idx_.data(), c_values_.data()));
  call(cusparseSpGEMM_copy);
}

template <class Value>
DeviceBuffer<char> CusparseProduct<Value>::work_buffer(std::size_t bytes) {
  work_space_ += bytes;
  if (context_.memory_budget != 0 && work_space_ > context_.memory_budget)
    throw out_of_memory_error("the work space of cuSPARSE SpGEMM", work_space_,
                              context_.memory_budget);
  // cuSPARSE takes a null pointer for a question, so even an empty buffer must be one.
  return DeviceBuffer<char>(std::max<std::size_t>(bytes, 1), context_.stream);
}

template <class Value>
DeviceCsr<Value> CusparseProduct<Value>::take_result() {
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

template class CusparseProduct<float>;
template class CusparseProduct<double>;
template class CusparseProduct<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
