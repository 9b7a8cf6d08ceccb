#pragma once

#include <cstdint>
#include <vector>

#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm {

/// What results for C = A * B have to be, to compare any number of them: the product by another
/// algorithm on the host, and how far rounding may take each entry from it.
///
/// An entry of row i may differ by 4 (n + 2) u (|A| * |B|)_ij, n being the entries of row i of A,
/// of which each gives one product at most, and u = 2^-53 (2^-24 for f32). Two sums of n products
/// in different orders differ by less than 2 n u (|A| * |B|)_ij, and a complex product is within
/// sqrt(5) u of the true one, so no right result fails; one product that is missing or wrong does
/// fail unless it is smaller than that. Beside it stand n smallest numbers, for products that
/// underflow.
/// Source: Higham: Accuracy and Stability of Numerical Algorithms, sections 3.5 and 3.6.
template <matrices::Scalar Value, matrices::Index Idx>
class ProductCheck {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Multiplies on the host: by Eigen on all threads, each of which has a block of rows, and by any
  /// other algorithm as multiply() does. Keeps nothing of the operands.
  /// \param context    threads
  /// \param a,b        with columns ascending in each row
  /// \param algorithm  one of the host's
  /// \param first_row  what the first row of `a` counts as in messages, from 0
  /// \throws Error (input) a.cols != b.rows; (unavailable) not an algorithm of the host;
  ///         (out_of_memory)
  /// Complexity: O(products) and what the algorithm takes. Memory: C and 8 bytes an entry of it;
  /// 8 bytes a column of C for every thread.
  ProductCheck(const Context& context, const Matrix& a, const Matrix& b, Algorithm algorithm,
               std::int64_t first_row = 0);

  /// \throws Error (check) naming the first row and column that differ, counted from 1
  /// Complexity: O(nnz(C)), on all threads.
  void compare(const Matrix& result) const;

  /// The same for a result whose zeros were dropped (matrices::drop_zeros): an entry that it lacks
  /// counts as zero, and one that is zero is a fault. Memory: C once more.
  void compare_without_zeros(const Matrix& result) const;

  /// The product, with its zeros.
  [[nodiscard]] const Matrix& expected() const { return expected_; }

 private:
  void find_bounds(const Matrix& a, const Matrix& b);

  std::int64_t first_row_;
  Matrix expected_;
  std::vector<double> allowed_;  ///< how far each entry may be from the expected one
};

}  // namespace sortie::spgemm
