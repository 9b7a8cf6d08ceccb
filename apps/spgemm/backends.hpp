#pragma once

#include <complex>
#include <cstdint>

#include "sortie/apps/spgemm/spgemm.hpp"

/// The implementations behind multiply(), one function each. multiply() has checked that the shapes
/// conform, has chosen the backend and writes the figures of the report; the functions add their
/// phases. All are instantiated for the types of SORTIE_SPGEMM_FOR_EACH_TYPE.
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Index;
using matrices::Scalar;

namespace host {

/// Expansion of row chunks, segmented sort, compression. Source: Hou et al. (ICS 2017),
/// section 5.2.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b);

/// Two passes over the rows, each row by sorting or by a dense accumulator.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_row_wise(const Context& context, const Csr<Value, Idx>& a,
                                                const Csr<Value, Idx>& b);

}  // namespace host

namespace baselines {

/// Sequential and plain: what everything else is tested against.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

/// Eigen's product of sparse matrices, sequential.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

}  // namespace baselines

/// In a build without CUDA these throw Error (unavailable).
namespace cuda {

/// Expansion, segmented sort and compression of row chunks on the device.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b);

/// Every row in registers and shared memory; see FusedProduct.
/// \throws Error (unavailable) more columns than that can hold
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_fused(const Context& context, const Csr<Value, Idx>& a,
                                             const Csr<Value, Idx>& b);

/// The faster of the two that can make this product.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_automatic(const Context& context, const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

/// Expansion, one global sort by (row, column), compression.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                                           const Csr<Value, Idx>& b);

/// cuSPARSE's generic SpGEMM. \param which  one of the cusparse_... algorithms
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_cusparse(const Context& context, const Csr<Value, Idx>& a,
                                                const Csr<Value, Idx>& b, Algorithm which);

}  // namespace cuda

}  // namespace sortie::spgemm

/// Calls `INSTANTIATE(Value, Idx)` for every pair of types that SpGEMM is built for.
#define SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)  \
  INSTANTIATE(float, std::int32_t)                \
  INSTANTIATE(float, std::int64_t)                \
  INSTANTIATE(double, std::int32_t)               \
  INSTANTIATE(double, std::int64_t)               \
  INSTANTIATE(std::complex<double>, std::int32_t) \
  INSTANTIATE(std::complex<double>, std::int64_t)
