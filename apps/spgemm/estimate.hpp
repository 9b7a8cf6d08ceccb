#pragma once

#include <cstdint>
#include <optional>

#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm {

/// Sizes of C = A * B, known before any of it is computed.
struct ProductSize {
  std::int64_t rows = 0;   ///< of C
  std::int64_t cols = 0;   ///< of C
  std::int64_t nnz_a = 0;  ///< entries of A
  std::int64_t nnz_b = 0;  ///< entries of B
  std::int64_t products = 0;
  std::int64_t longest_row = -1;          ///< the first row of most products; -1 for no rows
  std::int64_t longest_row_products = 0;  ///< products of that row
  /// Entries that C has at most: the sum over its rows of the smaller of products and columns.
  std::int64_t nnz_c_bound = 0;
  std::uint64_t bytes_a = 0;        ///< of the three arrays of A
  std::uint64_t bytes_b = 0;        ///< of the three arrays of B, also where B is A
  std::uint64_t bytes_c_bound = 0;  ///< of the three arrays of C, at most
};

/// \throws Error (input) a.cols != b.rows
/// Complexity: O(nnz(A)), sequential, no extra memory.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] ProductSize product_size(const matrices::Csr<Value, Idx>& a,
                                       const matrices::Csr<Value, Idx>& b);

/// Bytes that an algorithm takes beside A, B and C.
struct WorkSpace {
  std::uint64_t least = 0;  ///< with a smaller limit multiply() throws Error (out_of_memory)
  /// What it takes at most under `limit`. On the host this includes offsets of 8 or 16 bytes a row,
  /// which do not count against the limit.
  std::uint64_t most = 0;
  std::uint64_t limit = 0;  ///< the context's memory budget, or what is free
};

/// The work space of multiply(context, A, B, algorithm) for matrices of these types and sizes;
/// looks at what memory is free now. \return nothing for an algorithm that keeps to no limit, so
/// that it cannot be known before: the
///         baselines but esc
/// \throws Error (unavailable) as multiply()
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                                  Algorithm algorithm);

}  // namespace sortie::spgemm
