// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"

namespace sortie::spgemm {

/// Ways to compute C = A * B. Programs that link Sortie's sources can register further ones, such
/// as other libraries to compare with; these have the numbers after the last one.
enum class Algorithm {
  automatic,  ///< the fastest algorithm of the chosen backend
  essc,       ///< expansion, segmented sort, compression (host and CUDA)
  fused,      ///< CUDA: each row in registers and shared memory, no expansion in device memory
  row_wise,   ///< host: an accumulator chosen per row
  pattern,    ///< CUDA: rows with the same columns relative to the row together, as on grids
};

/// "auto", "essc", "fused", "row-wise", "pattern", or the name of a registered algorithm
[[nodiscard]] SORTIE_API std::string_view name(Algorithm algorithm);
/// The inverse of name(). \throws Error (usage) unknown name
[[nodiscard]] SORTIE_API Algorithm parse_algorithm(std::string_view text);
/// All algorithms that this build can run on `backend` (automatic: the backend that
/// resolve_backend() returns), without Algorithm::automatic. Empty for CUDA if no GPU can be used.
[[nodiscard]] SORTIE_API std::span<const Algorithm> algorithms(Backend backend);

/// Number of scalar products of A * B: the sum of the lengths of rows k of B over the entries
/// (i, k) of A. \throws Error (input) shapes do not conform
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API std::int64_t count_products(const matrices::Csr<Value, Idx>& a,
                                                     const matrices::Csr<Value, Idx>& b);

/// Multiplies two sparse matrices.
///
/// Columns ascend in every row of the result. The result is bitwise reproducible for the same
/// algorithm, backend and machine, for any thread count and memory budget. Entries that become zero
/// by cancellation are kept, so the structure of C depends only on the structures of A and B;
/// matrices::drop_zeros() removes them. multiply_in_chunks() (spgemm_chunks.hpp) returns C in
/// chunks of rows, for a C too large for memory. ProductCheck (spgemm_check.hpp) checks results.
///
/// \param context  backend, device, threads, progress; memory budget of the work space, excluding
///                 the result; report: figures "products" and "nnz_c"; phases "analysis",
///                 "expansion", "sort", "compression" of essc; "analysis", "counting", "making" of
///                 fused; "analysis", "accumulation" of row_wise. Backend::automatic selects the
///                 backend that has the algorithm if only one has it.
/// \param a,b      operands with columns ascending in each row; a.cols must equal b.rows
/// \throws Error (input)         a.cols != b.rows
/// \throws Error (unavailable)   algorithm not on this backend
/// \throws Error (out_of_memory) the products of a single row do not fit the memory budget
/// Complexity: O(products * log(row products)). Extra memory:
/// - essc expands rows in chunks that fit the memory budget.
/// - fused takes 32 bytes per row of A and 1 byte per product. Within the budget it takes up to 2
///   more bytes per product for bitmaps, and 4 + sizeof(Value) bytes per product of rows with at
///   most 512 products for staging, rounded up to 8 products per row. It computes C in chunks of
///   rows if C does not fit the budget.
/// - row_wise takes O(cols) per thread. Without a budget, it copies the operands if most rows of B are
///   empty. Within the budget it takes up to 17 bytes per entry and 16
///   bytes per row of B for bitmaps of the columns. On one thread it reserves address space, not
///   memory, for as many entries as there are products, if that is less than half of what is free.
/// Source: section 5.2 of Hou et al. (ICS 2017) for essc.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Csr<Value, Idx> multiply(
    const Context& context, const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
    Algorithm algorithm = Algorithm::automatic);

/// Number of scalar products of A * B. \throws Error (input) shapes do not conform
template <matrices::Index Idx>
[[nodiscard]] SORTIE_API std::int64_t count_products(const matrices::Pattern<Idx>& a,
                                                     const matrices::Pattern<Idx>& b);

/// The structure of C = A * B, computed from the structures of A and B. It includes entries that
/// would cancel to zero. Columns ascend in every row.
///
/// `automatic` and row_wise on the host process columns only, if a bitmap of one bit per column
/// fits the memory budget. For wider matrices and other algorithms, single-precision matrices of
/// ones are multiplied and the values are discarded.
///
/// \param context  as for multiply()
/// \throws Error as multiply()
/// Complexity: O(products), and O(n log n) for a row whose n entries are few compared with the
/// number of columns. Extra memory per host thread: one bit per column, and the columns of such a
/// row twice. Other algorithms: their own work space, and 4 bytes per entry of A, B and C.
template <matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Pattern<Idx> multiply_structure(
    const Context& context, const matrices::Pattern<Idx>& a, const matrices::Pattern<Idx>& b,
    Algorithm algorithm = Algorithm::automatic);

}  // namespace sortie::spgemm
