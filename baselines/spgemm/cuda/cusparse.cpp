// SPDX-License-Identifier: Apache-2.0
#include "baselines/spgemm/cuda/cusparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <memory>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Fraction of the products that CUSPARSE_SPGEMM_ALG3 computes at a time: the value in NVIDIA's
/// example of that algorithm.
constexpr float kChunkFraction = 0.2F;

/// The only algorithm of cuSPARSE that supports reuse.
constexpr cusparseSpGEMMAlg_t reuse_algorithm = CUSPARSE_SPGEMM_DEFAULT;
constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

/// State of one product. All cuSPARSE functions that compute it have the same leading arguments.
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
  DeviceBuffer<char> estimation_buffer = {};  ///< used by all later steps

  /// function(handle, op A, op B, alpha, A, B, beta, C, type, algorithm, descriptor, rest...)
  template <class Function, class... Rest>
  void operator()(Function function, Rest... rest) const {
    check_cusparse_offers(function(handle, as_it_is, as_it_is, &one, a.get(), b.get(), &zero,
                                   c.get(), cusparse_type<Value>, algorithm, descriptor.get(),
                                   rest...));
  }
};

template <class Value>
void CusparseProduct<Value>::multiply(cusparseSpGEMMAlg_t algorithm) {
  this->start_result();
  if (!this->has_products()) return;
  Call call{this->handle(), this->describe_a(), this->describe_b(), this->describe_c(), algorithm};
  estimate(call);
  const DeviceBuffer<char> buffer = compute(call);  // needed until C is copied
  if (this->allocate_result(call.c)) call(cusparseSpGEMM_copy);
}

template <class Value>
void CusparseProduct<Value>::estimate(Call& call) {
  std::size_t bytes = 0;
  call(cusparseSpGEMM_workEstimation, &bytes, nullptr);
  call.estimation_buffer = this->work_buffer(bytes);
  call(cusparseSpGEMM_workEstimation, &bytes, call.estimation_buffer.data());
}

template <class Value>
DeviceBuffer<char> CusparseProduct<Value>::compute(Call& call) {
  std::size_t bytes = 0;
  if (call.algorithm == CUSPARSE_SPGEMM_ALG2 || call.algorithm == CUSPARSE_SPGEMM_ALG3) {
    std::size_t estimate_bytes = 0;
    call(cusparseSpGEMM_estimateMemory, kChunkFraction, &estimate_bytes, nullptr, nullptr);
    const DeviceBuffer<char> estimate_buffer = this->work_buffer(estimate_bytes);
    call(cusparseSpGEMM_estimateMemory, kChunkFraction, &estimate_bytes,
         const_cast<char*>(estimate_buffer.data()), &bytes);
  } else {
    call(cusparseSpGEMM_compute, &bytes, nullptr);
  }
  DeviceBuffer<char> buffer = this->work_buffer(bytes);
  call(cusparseSpGEMM_compute, &bytes, buffer.data());
  return buffer;
}

template class CusparseProduct<float>;
template class CusparseProduct<double>;
template class CusparseProduct<std::complex<double>>;

/// function(handle, op A, op B, A, B, C, algorithm, descriptor, rest...)
template <class Value>
template <class Function, class... Rest>
void CusparseReuse<Value>::call(Function function, Rest... rest) const {
  check_cusparse_offers(function(this->handle(), as_it_is, as_it_is, a_matrix_.get(),
                                 b_matrix_.get(), c_matrix_.get(), reuse_algorithm,
                                 descriptor_.get(), rest...));
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
      c_matrix_.get(), cusparse_type<Value>, reuse_algorithm, descriptor_.get()));
}

template class CusparseReuse<float>;
template class CusparseReuse<double>;
template class CusparseReuse<std::complex<double>>;

}  // namespace sortie::spgemm::cuda

namespace sortie::spgemm::baselines {
namespace {

using cuda::CusparseProduct;
using cuda::CusparseReuse;
using cuda::DeviceCsr;
using cuda::DeviceCsrView;

/// A product of the library; take_result() is the same for both of its interfaces.
template <class Product, class Value>
class Steps : public DeviceBaseline<Value, std::uint32_t> {
 public:
  Steps(const DeviceContext& context, const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b)
      : context_(context), product_(context, a, b) {}

  DeviceCsr<Value> take_result() override {
    DevicePhase phase(context_, "sort");
    DeviceCsr<Value> c = product_.take_result();
    phase.stop();
    return c;
  }

 protected:
  const DeviceContext& context_;
  Product product_;
};

template <class Value>
class Generic : public Steps<CusparseProduct<Value>, Value> {
 public:
  Generic(const DeviceContext& context, const DeviceCsrView<Value>& a,
          const DeviceCsrView<Value>& b, cusparseSpGEMMAlg_t algorithm)
      : Steps<CusparseProduct<Value>, Value>(context, a, b), algorithm_(algorithm) {}

  void compute() override {
    DevicePhase phase(this->context_, "cusparse");
    this->product_.multiply(algorithm_);
    phase.stop();
  }

 private:
  cusparseSpGEMMAlg_t algorithm_;
};

template <class Value>
class Reuse : public Steps<CusparseReuse<Value>, Value> {
 public:
  using Steps<CusparseReuse<Value>, Value>::Steps;

  void analyse() override {
    DevicePhase phase(this->context_, "structure");
    this->product_.analyse();
    phase.stop();
  }
  void compute() override {
    DevicePhase phase(this->context_, "values");
    this->product_.compute();
    phase.stop();
  }
};

/// A product of this class, or the error for 64-bit columns.
template <template <class> class Steps, class Value, class Column, class... Rest>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare(const DeviceContext& context,
                                                       const DeviceCsrView<Value, Column>& a,
                                                       const DeviceCsrView<Value, Column>& b,
                                                       Rest... rest) {
  if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
    return std::make_unique<Steps<Value>>(context, a, b, rest...);
  } else {
    throw Error(ErrorKind::unavailable,
                fmt::format("cuSPARSE SpGEMM: found a matrix of {} columns, expected at most "
                            "2147483647: it takes 32-bit indices only",
                            std::max(a.cols, b.cols)));
  }
}

}  // namespace

template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse(
    const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
    const DeviceCsrView<Value, Column>& b, int number) {
  constexpr cusparseSpGEMMAlg_t algorithms[] = {CUSPARSE_SPGEMM_DEFAULT, CUSPARSE_SPGEMM_ALG1,
                                                CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3};
  return prepare<Generic>(context, a, b, algorithms[number]);
}

template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse_reuse(
    const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
    const DeviceCsrView<Value, Column>& b) {
  return prepare<Reuse>(context, a, b);
}

#define SORTIE_INSTANTIATE(Value, Column)                                         \
  template std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse(       \
      const DeviceContext&, const DeviceCsrView<Value, Column>&,                  \
      const DeviceCsrView<Value, Column>&, int);                                  \
  template std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse_reuse( \
      const DeviceContext&, const DeviceCsrView<Value, Column>&,                  \
      const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::baselines
