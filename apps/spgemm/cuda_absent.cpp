// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/backends.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

// Replaces the cuda/ folder in builds without CUDA.
namespace sortie::spgemm::cuda {

namespace {

[[noreturn]] void throw_unavailable() {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                         Algorithm) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                        const ProductSink<Value, Idx>&, Algorithm) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
WorkSpace work_space(const Context&, const ProductSize&, Algorithm) {
  throw_unavailable();
}

SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_SPGEMM_INSTANTIATE_BACKEND)

}  // namespace sortie::spgemm::cuda
