#pragma once

#include <span>
#include <string_view>

#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm {

/// Ways to compute C = A * B.
enum class Algorithm {
  automatic,         ///< the best that the chosen backend has
  essc,              ///< expansion, segmented sort, compression (host and CUDA)
  row_wise,          ///< host: an accumulator chosen for each row
  reference,         ///< sequential, plain, for tests
  eigen,             ///< Eigen's sparse product (host)
  esc,               ///< expansion, global sort by (row, column), compression (CUDA), as CUSP does it
  cusparse_default,  ///< cuSPARSE generic SpGEMM, CUSPARSE_SPGEMM_DEFAULT
  cusparse_alg1,
  cusparse_alg2,
  cusparse_alg3,
};

/// "auto", "essc", "row-wise", "reference", "eigen", "esc", "cusparse", "cusparse-alg1", ...
[[nodiscard]] std::string_view name(Algorithm algorithm);
/// The reverse of name(). \throws Error (usage)
[[nodiscard]] Algorithm parse_algorithm(std::string_view text);
/// Every algorithm that this build and machine can run on `backend` (host or cuda).
[[nodiscard]] std::span<const Algorithm> algorithms(Backend backend);

/// Number of scalar products that A * B needs: sum over the entries (i, k) of A of the length of row
/// k of B. \throws Error (input) shapes do not conform
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] std::int64_t count_products(const matrices::Csr<Value, Idx>& a,
                                          const matrices::Csr<Value, Idx>& b);

/// Multiplies two sparse matrices.
///
/// Columns ascend in every row of the result, and the result is the same, bit for bit, on every run
/// with the same algorithm, backend and machine, for any thread count and memory budget. Entries
/// that become zero by cancellation are kept, so that the structure depends on the structures of A
/// and B only.
///
/// \param context  backend, device, threads, memory budget for work space, progress, report (phases
///                 "analysis", "expansion", "sort", "compression" for the ESC family)
/// \param a,b      operands with columns ascending in each row; a.cols must equal b.rows
/// \throws Error (input)         a.cols != b.rows
/// \throws Error (unavailable)   algorithm not on this backend
/// \throws Error (out_of_memory) not even the products of one row fit the memory budget
/// Complexity: O(products * log(row products)). Extra memory: essc expands rows in chunks that keep
/// to the memory budget; row_wise takes O(cols) for each thread.
/// Source: section 5.2 of Hou et al. (ICS 2017); Bell, Dalton, Olson (SISC 2012) for ESC.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] matrices::Csr<Value, Idx> multiply(const Context& context,
                                                 const matrices::Csr<Value, Idx>& a,
                                                 const matrices::Csr<Value, Idx>& b,
                                                 Algorithm algorithm = Algorithm::automatic);

/// Compares two results: same shape and structure, and values within `tolerance` times the sum of
/// the absolute values of the products that make up an entry, estimated by |expected| row-wise maxima.
/// \throws Error (check) naming the first row and column that differ
template <matrices::Scalar Value, matrices::Index Idx>
void compare(const matrices::Csr<Value, Idx>& result, const matrices::Csr<Value, Idx>& expected,
             double tolerance);

}  // namespace sortie::spgemm
