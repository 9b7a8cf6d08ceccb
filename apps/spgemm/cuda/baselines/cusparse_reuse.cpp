// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/baselines/cusparse_reuse.hpp"

#include <complex>

namespace sortie::spgemm::cuda {

namespace {

// The only algorithm of cuSPARSE that supports reuse.
constexpr cusparseSpGEMMAlg_t algorithm = CUSPARSE_SPGEMM_DEFAULT;
constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

/// function(handle, op A, op B, A, B, C, algorithm, descriptor, rest...)
template <class Value>
template <class Function, class... Rest>
void CusparseReuse<Value>::call(Function function, Rest... rest) const {
  check_cusparse_offers(function(this->handle(), as_it_is, as_it_is, a_matrix_.get(),
                                 b_matrix_.get(), c_matrix_.get(), algorithm, descriptor_.get(),
                                 rest...));
}

template <class Value>
void CusparseReuse<Value>::analyse() {
  descriptor_.reset();
  nnz_buffer_.reset();
  copy_buffer_.reset();
  this->start_result();
  if (!this->has_products()) return;
  a_matrix_ = this->describe_a();
  b_matrix_ = this->describe_b();
  c_matrix_ = this->describe_c();
  descriptor_ = create_cusparse_descriptor();

  std::size_t bytes = 0;
  call(cusparseSpGEMMreuse_workEstimation, &bytes, nullptr);
  DeviceBuffer<char> estimation_buffer = this->work_buffer(bytes);
  call(cusparseSpGEMMreuse_workEstimation, &bytes, estimation_buffer.data());

  std::size_t hash_bytes = 0;
  std::size_t copied_bytes = 0;
  std::size_t kept_bytes = 0;
  call(cusparseSpGEMMreuse_nnz, &hash_bytes, nullptr, &copied_bytes, nullptr, &kept_bytes, nullptr);
  DeviceBuffer<char> hash_buffer = this->work_buffer(hash_bytes);
  const DeviceBuffer<char> copied_buffer = this->work_buffer(copied_bytes);
  nnz_buffer_ = this->work_buffer(kept_bytes);
  call(cusparseSpGEMMreuse_nnz, &hash_bytes, hash_buffer.data(), &copied_bytes,
       const_cast<char*>(copied_buffer.data()), &kept_bytes, nnz_buffer_.data());
  estimation_buffer.reset();
  hash_buffer.reset();

  if (!this->allocate_result(c_matrix_)) return;
  call(cusparseSpGEMMreuse_copy, &bytes, nullptr);
  copy_buffer_ = this->work_buffer(bytes);
  call(cusparseSpGEMMreuse_copy, &bytes, copy_buffer_.data());
}

template <class Value>
void CusparseReuse<Value>::compute() {
  if (!this->result_has_entries()) return;
  const Value one{1};
  const Value zero{0};
  check_cusparse_offers(cusparseSpGEMMreuse_compute(
      this->handle(), as_it_is, as_it_is, &one, a_matrix_.get(), b_matrix_.get(), &zero,
      c_matrix_.get(), cusparse_type<Value>, algorithm, descriptor_.get()));
}

template class CusparseReuse<float>;
template class CusparseReuse<double>;
template class CusparseReuse<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
