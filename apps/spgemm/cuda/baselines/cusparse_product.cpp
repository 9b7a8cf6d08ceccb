// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/baselines/cusparse_product.hpp"

#include <fmt/format.h>

#include <complex>

#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Fraction of the products that CUSPARSE_SPGEMM_ALG3 computes at a time: the value in NVIDIA's
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
    check_cusparse_offers(function(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a.get(),
        b.get(), &zero, c.get(), cusparse_type<Value>, algorithm, descriptor.get(), rest...));
  }
};

template <class Value>
void CusparseProduct<Value>::multiply(Algorithm which) {
  const cusparseSpGEMMAlg_t algorithm = library_algorithm(which);
  this->start_result();
  if (!this->has_products()) return;
  Call call{this->handle(), this->describe_a(), this->describe_b(), this->describe_c(), algorithm};
  estimate(call);
  const DeviceBuffer<char> buffer = compute(call, which);  // needed until C is copied
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
DeviceBuffer<char> CusparseProduct<Value>::compute(Call& call, Algorithm which) {
  std::size_t bytes = 0;
  if (which == Algorithm::cusparse_alg2 || which == Algorithm::cusparse_alg3) {
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

}  // namespace sortie::spgemm::cuda
