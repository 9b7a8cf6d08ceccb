// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>

#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"

/// What spgemm.hpp and its companions call on each backend, for the types of
/// SORTIE_SPGEMM_FOR_EACH_TYPE. The callers check the shapes, choose the backend and write the
/// figures of the report; the functions add their phases.
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Index;
using matrices::Pattern;
using matrices::Scalar;

/// The backend to use. Backend::automatic selects the only backend that has the algorithm, if there
/// is only one.
/// \throws Error (unavailable) the algorithm does not run on the backend
[[nodiscard]] Backend choose_backend(const Context& context, Algorithm algorithm);

/// \throws Error (input) cols_a != rows_b
void check_shapes(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                  std::int64_t cols_b);
/// The same for matrices of any type.
template <class Matrix>
void check_shapes(const Matrix& a, const Matrix& b) {
  check_shapes(a.rows, a.cols, b.rows, b.cols);
}

/// The products of a row in messages. \param row  from 0
[[nodiscard]] std::string named_products(std::int64_t row, std::int64_t products);

/// The error for an algorithm that does not multiply in device memory.
[[nodiscard]] Error not_on_cuda(Algorithm algorithm);

/// What a backend does, as spgemm.hpp and its companions describe it.
/// \pre the algorithm runs on the backend and is one of the library's own; on CUDA, `multiply` also
///      takes baselines that have Baseline::prepare
template <Scalar Value, Index Idx>
struct BackendFunctions {
  using Matrix = Csr<Value, Idx>;
  Matrix (*multiply)(const Context&, const Matrix& a, const Matrix& b, Algorithm);
  void (*multiply_in_chunks)(const Context&, const Matrix& a, const Matrix& b,
                             const ProductSink<Value, Idx>&, Algorithm);
  WorkSpace (*work_space)(const Context&, const ProductSize&, Algorithm);
};

namespace host {

/// `automatic` is row_wise.
template <Scalar Value, Index Idx>
[[nodiscard]] BackendFunctions<Value, Idx> functions();

/// The structure of A * B, row by row: the columns of each row are marked in a bitmap. No value if
/// the bitmap of one thread does not fit the memory budget.
template <Index Idx>
[[nodiscard]] std::optional<Pattern<Idx>> multiply_structure(const HostContext& context,
                                                             const Pattern<Idx>& a,
                                                             const Pattern<Idx>& b);

}  // namespace host

namespace cuda {

/// `automatic` is fused if it can compute C, otherwise essc. The functions throw Error
/// (unavailable) for fused and too many columns.
/// \throws Error (unavailable) the build has no CUDA
template <Scalar Value, Index Idx>
[[nodiscard]] BackendFunctions<Value, Idx> functions();

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

/// Calls `INSTANTIATE(Value, Column)` for every pair of types of the device functions.
#define SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(INSTANTIATE) \
  INSTANTIATE(float, std::uint32_t)                     \
  INSTANTIATE(float, std::uint64_t)                     \
  INSTANTIATE(double, std::uint32_t)                    \
  INSTANTIATE(double, std::uint64_t)                    \
  INSTANTIATE(std::complex<double>, std::uint32_t)      \
  INSTANTIATE(std::complex<double>, std::uint64_t)

/// Instantiates the functions of a backend, in its namespace.
#define SORTIE_SPGEMM_INSTANTIATE_BACKEND(Value, Idx) \
  template BackendFunctions<Value, Idx> functions();
