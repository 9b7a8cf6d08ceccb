// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm {

/// Sizes of C = A * B that are known before the product is computed.
struct ProductSize {
  std::int64_t rows = 0;   ///< of C
  std::int64_t cols = 0;   ///< of C
  std::int64_t nnz_a = 0;  ///< entries of A
  std::int64_t nnz_b = 0;  ///< entries of B
  std::int64_t products = 0;
  std::int64_t longest_row = -1;          ///< first row with the most products; -1 for no rows
  std::int64_t longest_row_products = 0;  ///< products of that row
  /// Upper bound of the entries of C: the sum of min(products, columns) over its rows.
  std::int64_t nnz_c_bound = 0;
  std::uint64_t bytes_a = 0;        ///< of the three arrays of A
  std::uint64_t bytes_b = 0;        ///< of the three arrays of B, also where B is A
  std::uint64_t bytes_c_bound = 0;  ///< upper bound for the three arrays of C
};

/// \throws Error (input) a.cols != b.rows
/// Complexity: O(nnz(A)), sequential, no extra memory.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API ProductSize product_size(const matrices::Csr<Value, Idx>& a,
                                                  const matrices::Csr<Value, Idx>& b);

/// Bytes that an algorithm takes in addition to A, B and C.
struct WorkSpace {
  std::uint64_t least = 0;  ///< multiply() throws Error (out_of_memory) if the limit is smaller
  /// Upper bound under `limit`. On the host this includes offsets of 8 or 16 bytes per row, which
  /// do not count against the limit.
  std::uint64_t most = 0;
  std::uint64_t limit = 0;  ///< the context's memory budget, else a fixed share of the free memory
};

/// The work space of multiply(context, A, B, algorithm) for matrices of these types and sizes.
/// Depends on the memory that is free at the time of the call.
/// \return no value for a registered algorithm that obeys no limit
/// \throws Error (unavailable) as multiply()
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API std::optional<WorkSpace> work_space(const Context& context,
                                                             const ProductSize& size,
                                                             Algorithm algorithm);

}  // namespace sortie::spgemm
