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
Csr<Value, Idx> multiply_essc(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_fused(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_automatic(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_esc(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_cusparse(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                                  Algorithm) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                             const ProductSink<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
void multiply_fused_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                              const ProductSink<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
void multiply_automatic_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                                  const ProductSink<Value, Idx>&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
WorkSpace essc_work_space(const Context&, const ProductSize&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
WorkSpace esc_work_space(const Context&, const ProductSize&) {
  throw_unavailable();
}

template <Scalar Value, Index Idx>
WorkSpace fused_work_space(const Context&, const ProductSize&) {
  throw_unavailable();
}

#define INSTANTIATE(Value, Idx)                                                                   \
  template Csr<Value, Idx> multiply_essc(const Context&, const Csr<Value, Idx>&,                  \
                                         const Csr<Value, Idx>&);                                 \
  template Csr<Value, Idx> multiply_fused(const Context&, const Csr<Value, Idx>&,                 \
                                          const Csr<Value, Idx>&);                                \
  template Csr<Value, Idx> multiply_automatic(const Context&, const Csr<Value, Idx>&,             \
                                              const Csr<Value, Idx>&);                            \
  template Csr<Value, Idx> multiply_esc(const Context&, const Csr<Value, Idx>&,                   \
                                        const Csr<Value, Idx>&);                                  \
  template Csr<Value, Idx> multiply_cusparse(const Context&, const Csr<Value, Idx>&,              \
                                             const Csr<Value, Idx>&, Algorithm);                  \
  template void multiply_essc_in_chunks(const Context&, const Csr<Value, Idx>&,                   \
                                        const Csr<Value, Idx>&, const ProductSink<Value, Idx>&);  \
  template void multiply_fused_in_chunks(const Context&, const Csr<Value, Idx>&,                  \
                                         const Csr<Value, Idx>&, const ProductSink<Value, Idx>&); \
  template void multiply_automatic_in_chunks(const Context&, const Csr<Value, Idx>&,              \
                                             const Csr<Value, Idx>&,                              \
                                             const ProductSink<Value, Idx>&);                     \
  template WorkSpace essc_work_space<Value, Idx>(const Context&, const ProductSize&);             \
  template WorkSpace esc_work_space<Value, Idx>(const Context&, const ProductSize&);              \
  template WorkSpace fused_work_space<Value, Idx>(const Context&, const ProductSize&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::cuda
