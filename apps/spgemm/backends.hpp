// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"

/// The implementations behind multiply(), one function each, for the types of
/// SORTIE_SPGEMM_FOR_EACH_TYPE. multiply() checks the shapes, selects the backend and writes the
/// figures of the report; the functions add their phases. Likewise, ..._work_space() functions
/// implement work_space(), and ..._in_chunks() functions implement multiply_in_chunks().
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Index;
using matrices::Pattern;
using matrices::Scalar;

/// The backend to use. Backend::automatic selects the only backend that has the algorithm, if there
/// is only one.
/// \throws Error (unavailable) the algorithm does not run on the backend
[[nodiscard]] Backend choose_backend(const Context& context, Algorithm algorithm);

/// The error for shapes that do not conform.
[[nodiscard]] Error shapes_error(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                                 std::int64_t cols_b);

namespace host {

/// Expansion of row chunks, segmented sort, compression.
/// Source: Hou et al. (ICS 2017), section 5.2.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_essc(const HostContext& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const HostContext& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace essc_work_space(const HostContext& context, const ProductSize& size);

/// Two passes over the rows. Each row is sorted in registers or in memory, or computed with a dense
/// accumulator that reads the columns of B as bitmap words.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_row_wise(const HostContext& context,
                                                const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
void multiply_row_wise_in_chunks(const HostContext& context, const Csr<Value, Idx>& a,
                                 const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace row_wise_work_space(const HostContext& context, const ProductSize& size);

/// The structure of A * B, row by row: the columns of each row are marked in a bitmap.
/// \pre structure_fits(context, b.cols)
template <Index Idx>
[[nodiscard]] Pattern<Idx> multiply_structure(const HostContext& context, const Pattern<Idx>& a,
                                              const Pattern<Idx>& b);
/// True if the bitmap of one thread fits the memory budget.
template <Index Idx>
[[nodiscard]] bool structure_fits(const HostContext& context, std::int64_t cols);

}  // namespace host

namespace baselines {

/// Sequential; the reference that all other implementations are tested against.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

/// Eigen's sparse matrix product, sequential.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

/// Eigen on all threads: each thread multiplies blocks of rows of A. Bitwise equal to
/// multiply_eigen(). \pre the host runtime is running
/// Extra memory: copies of A, B and C.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_eigen_by_blocks(const Csr<Value, Idx>& a,
                                                       const Csr<Value, Idx>& b);

/// KokkosSparse::spgemm, symbolic and numeric phase, then a sort of the rows. Only if CMake found
/// KokkosKernels. \throws Error (unavailable) more than 2^31 - 1 entries in A, B or C
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_kokkos_kernels(const HostContext& context,
                                                      const Csr<Value, Idx>& a,
                                                      const Csr<Value, Idx>& b);

/// GrB_mxm of SuiteSparse:GraphBLAS over (+, *), including the library's deferred work. Only if
/// CMake found it. Phases: "import", copies A and B to arrays of the library with 64-bit offsets
/// and columns; "product"; "export", copies C back. Extra memory: copies of A, B and C with 64-bit
/// columns, and the work space of the library. The first call initialises the library, which is
/// finalised at the end of the program. If the embedding program has already initialised it, it is
/// set to the threads of the host runtime and not finalised.
/// \throws std::bad_alloc  not enough memory
/// \throws Error (device)  a call of the library failed
/// Source: Davis, ACM TOMS 45 (2019) 44, and 49 (2023) 28.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_graphblas(const HostContext& context,
                                                 const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

}  // namespace baselines

/// In a build without CUDA these throw Error (unavailable).
namespace cuda {

/// C by any algorithm that runs on CUDA. `automatic` is fused if it can compute C, otherwise essc.
/// \throws Error (unavailable) fused, and too many columns
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a,
                                       const Csr<Value, Idx>& b, Algorithm algorithm);
/// \pre makes_chunks(algorithm)
template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const ProductSink<Value, Idx>& sink, Algorithm algorithm);
/// No value for algorithms of other libraries.
template <Scalar Value, Index Idx>
[[nodiscard]] std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                                  Algorithm algorithm);

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
