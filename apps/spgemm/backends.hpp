#pragma once

#include <complex>
#include <cstdint>

#include "sortie/apps/spgemm/estimate.hpp"
#include "sortie/apps/spgemm/multiply_in_chunks.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/error.hpp"
#include "sortie/matrices/pattern.hpp"

/// The implementations behind multiply(), one function each. multiply() has checked that the shapes
/// conform, has chosen the backend and writes the figures of the report; the functions add their
/// phases. All are instantiated for the types of SORTIE_SPGEMM_FOR_EACH_TYPE. The ..._work_space()
/// functions stand behind work_space() in the same way, the ..._in_chunks() functions behind
/// multiply_in_chunks().
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Index;
using matrices::Pattern;
using matrices::Scalar;

/// The backend to use; an algorithm that only one backend has decides where the caller does not.
/// \throws Error (unavailable) the algorithm does not run there
[[nodiscard]] Backend choose_backend(const Context& context, Algorithm algorithm);

/// The error for shapes that do not conform.
[[nodiscard]] Error shapes_error(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                                 std::int64_t cols_b);

namespace host {

/// Expansion of row chunks, segmented sort, compression. Source: Hou et al. (ICS 2017),
/// section 5.2.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace essc_work_space(const Context& context, const ProductSize& size);

/// Two passes over the rows, each row sorted in registers or in memory, or by a dense accumulator
/// that reads the columns of B as words of bits.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_row_wise(const Context& context, const Csr<Value, Idx>& a,
                                                const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
void multiply_row_wise_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                                 const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace row_wise_work_space(const Context& context, const ProductSize& size);

/// The structure of A * B alone, row by row: each row's columns are marked in a bitmap.
/// \pre structure_fits(context, b.cols)
template <Index Idx>
[[nodiscard]] Pattern<Idx> multiply_structure(const Context& context, const Pattern<Idx>& a,
                                              const Pattern<Idx>& b);
/// True when the bitmap of one thread fits the memory budget.
template <Index Idx>
[[nodiscard]] bool structure_fits(const Context& context, std::int64_t cols);

}  // namespace host

namespace baselines {

/// Sequential and plain: what everything else is tested against.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

/// Eigen's product of sparse matrices, sequential.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

/// The same by Eigen on all threads: each multiplies blocks of rows of A. Bit for bit as
/// multiply_eigen(). \pre the host runtime runs
/// Extra memory: A, B and C once more.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_eigen_by_blocks(const Csr<Value, Idx>& a,
                                                       const Csr<Value, Idx>& b);

/// KokkosSparse::spgemm, symbolic and numeric phase, rows sorted after it. Only where CMake found
/// KokkosKernels. \throws Error (unavailable) more than 2^31 - 1 entries in A, B or C
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_kokkos_kernels(const Context& context,
                                                      const Csr<Value, Idx>& a,
                                                      const Csr<Value, Idx>& b);

/// GrB_mxm of SuiteSparse:GraphBLAS over (+, *), with everything that the library puts off done.
/// Only where CMake found it. Phases: "import", A and B copied into arrays of the library, whose
/// offsets and columns have 64 bits; "product"; "export", the way back. Extra memory: A, B and C
/// once more, columns as 64-bit numbers, beside what the library takes. The library is started by
/// the first call and finished at the end of the program; one that the embedding program has
/// started is used, with the threads of the host runtime from then on, and never finished.
/// \throws std::bad_alloc  not enough memory
/// \throws Error (device)  a call of the library failed
/// Source: Davis, ACM TOMS 45 (2019) 44, and 49 (2023) 28.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_graphblas(const Context& context, const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

}  // namespace baselines

/// In a build without CUDA these throw Error (unavailable).
namespace cuda {

/// Expansion, segmented sort and compression of row chunks on the device.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace essc_work_space(const Context& context, const ProductSize& size);

/// Every row in registers and shared memory; see FusedProduct.
/// \throws Error (unavailable) more columns than that can hold
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_fused(const Context& context, const Csr<Value, Idx>& a,
                                             const Csr<Value, Idx>& b);

template <Scalar Value, Index Idx>
void multiply_fused_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);

/// Where fused cannot make a product, what essc takes, as multiply_automatic() does.
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace fused_work_space(const Context& context, const ProductSize& size);

/// The faster of the two that can make this product.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_automatic(const Context& context, const Csr<Value, Idx>& a,
                                                 const Csr<Value, Idx>& b);

template <Scalar Value, Index Idx>
void multiply_automatic_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink);

/// Expansion, one global sort by (row, column), compression.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                                           const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
[[nodiscard]] WorkSpace esc_work_space(const Context& context, const ProductSize& size);

/// A product of another library: cuSPARSE, or CUSP where it was found. \param which  one of the
/// cusparse_... algorithms, or cusp
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
