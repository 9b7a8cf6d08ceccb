#pragma once

#include <span>
#include <string_view>

#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm {

/// Ways to compute C = A * B.
enum class Algorithm {
  automatic,  ///< the best that the chosen backend has
  essc,       ///< expansion, segmented sort, compression (host and CUDA)
  fused,      ///< CUDA: every row made in registers and shared memory, nothing expanded in memory
  row_wise,   ///< host: an accumulator chosen for each row
  reference,  ///< sequential, plain, for tests
  eigen,      ///< Eigen's sparse product (host)
  esc,        ///< expansion, global sort by (row, column), compression (CUDA), as CUSP does it
  cusparse_default,  ///< cuSPARSE generic SpGEMM, CUSPARSE_SPGEMM_DEFAULT
  cusparse_alg1,
  cusparse_alg2,
  cusparse_alg3,
  cusparse_reuse,  ///< cuSPARSE's SpGEMMreuse: the structure first, then the values
  cusp,            ///< CUSP's product (CUDA), where CMake found CUSP
  kokkos_kernels,  ///< KokkosSparse::spgemm (host), where CMake found KokkosKernels
  graphblas,       ///< GrB_mxm of SuiteSparse:GraphBLAS (host), where CMake found it
};

/// "auto", "essc", "fused", "row-wise", "reference", "eigen", "esc", "cusparse", "cusparse-alg1",
/// ..., "cusparse-reuse", "cusp", "kokkos-kernels", "graphblas"
[[nodiscard]] std::string_view name(Algorithm algorithm);
/// The reverse of name(). \throws Error (usage)
[[nodiscard]] Algorithm parse_algorithm(std::string_view text);
/// Every algorithm that this build and machine can run on `backend` (automatic: the one that
/// resolve_backend() takes); empty for CUDA where no GPU can be used. Without `automatic`, which is
/// one of them.
[[nodiscard]] std::span<const Algorithm> algorithms(Backend backend);

/// Number of scalar products that A * B needs: sum over the entries (i, k) of A of the length of
/// row k of B. \throws Error (input) shapes do not conform
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] std::int64_t count_products(const matrices::Csr<Value, Idx>& a,
                                          const matrices::Csr<Value, Idx>& b);

/// Multiplies two sparse matrices.
///
/// Columns ascend in every row of the result, and the result is the same, bit for bit, on every run
/// with the same algorithm, backend and machine, for any thread count and memory budget. Entries
/// that become zero by cancellation are kept, so that the structure depends on the structures of A
/// and B only; matrices::drop_zeros() takes them out. Where the structure is all that is wanted,
/// multiply_structure() (structure.hpp) needs no values; where no memory holds C,
/// multiply_in_chunks() (multiply_in_chunks.hpp) hands its rows out as they are finished.
///
/// \param context  backend, device, threads, progress; memory budget for work space, the result not
///                 counted; report: figures "products" and "nnz_c", phases "analysis", "expansion",
///                 "sort", "compression" of the ESC family, "analysis", "counting", "making" of
///                 fused, "analysis", "accumulation" of row_wise.
///                 With Backend::automatic an algorithm that one backend alone has runs there.
/// \param a,b      operands with columns ascending in each row; a.cols must equal b.rows
/// \throws Error (input)         a.cols != b.rows
/// \throws Error (unavailable)   algorithm not on this backend
/// \throws Error (out_of_memory) not even the products of one row fit the memory budget
/// Complexity: O(products * log(row products)). Extra memory: essc expands rows in chunks that keep
/// to the memory budget; fused takes up to 3 bytes a product and works in chunks of rows
/// where C does not fit that; row_wise takes O(cols) for each thread, and where the budget has room
/// up to 17 bytes an entry and 16 bytes a row of B for its columns as words of bits.
/// Source: section 5.2 of Hou et al. (ICS 2017); Bell, Dalton, Olson (SISC 2012) for ESC.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] matrices::Csr<Value, Idx> multiply(const Context& context,
                                                 const matrices::Csr<Value, Idx>& a,
                                                 const matrices::Csr<Value, Idx>& b,
                                                 Algorithm algorithm = Algorithm::automatic);

/// Compares a result with the expected one when only these are known: same shape, same structure,
/// and every value within `tolerance` times the largest finite |expected| of its row.
///
/// That is a rough scale: errors in entries far smaller than their row's largest pass, and rows
/// that cancel as a whole fail. Where A and B are at hand, prefer the overload that takes them.
///
/// NaN equals NaN, and an infinity only itself. Rows and columns in messages count from 1, as they
/// do in Matrix Market files.
/// \throws Error (check) naming the first row and column that differ
/// Complexity: O(nnz(C)), sequential.
template <matrices::Scalar Value, matrices::Index Idx>
void compare(const matrices::Csr<Value, Idx>& result, const matrices::Csr<Value, Idx>& expected,
             double tolerance);

/// Compares two results for C = A * B: same shape, same structure, and every value within
/// `tolerance` times the sum of the absolute values of the products that it is made of,
/// (|A| * |B|)_ij.
///
/// This is the bound that rounding keeps: sums of n products taken in two different orders differ
/// by less than 2 n u (|A| * |B|)_ij, with u = 2^-53 (2^-24 for f32), whatever cancels. A tolerance
/// of 4 n u, n being the largest number of products of an entry, thus never fails a right result.
/// Source: Higham: Accuracy and Stability of Numerical Algorithms, section 3.5.
/// \pre the shapes of a and b conform, and `expected` has the structure of A * B
/// \throws Error (check) as above
/// Complexity: O(products), sequential. Extra memory: 8 bytes a column.
template <matrices::Scalar Value, matrices::Index Idx>
void compare(const matrices::Csr<Value, Idx>& result, const matrices::Csr<Value, Idx>& expected,
             const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
             double tolerance);

/// The same for a result whose zeros were dropped (matrices::drop_zeros): an entry that it lacks
/// counts as zero, and one that is zero is a fault. \param expected  with its zeros
template <matrices::Scalar Value, matrices::Index Idx>
void compare_without_zeros(const matrices::Csr<Value, Idx>& result,
                           const matrices::Csr<Value, Idx>& expected,
                           const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
                           double tolerance);

}  // namespace sortie::spgemm
