// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm {

/// Compares a result with an expected matrix without the operands: same shape, same structure, and
/// every value within `tolerance` times the largest finite |expected| of its row. NaN equals NaN,
/// and an infinity equals only itself. Rows and columns in messages count from 1, as in Matrix
/// Market files.
///
/// This scale is coarse: errors in entries that are much smaller than the largest of their row
/// pass, and a row in which all entries cancel fails. If A and B are available, use the overload
/// that takes them; to compare several results, use ProductCheck.
/// \throws Error (check) naming the first row and column that differ
/// Complexity: O(nnz(C)), sequential.
template <matrices::Scalar Value, matrices::Index Idx>
SORTIE_API void compare(const matrices::Csr<Value, Idx>& result,
                        const matrices::Csr<Value, Idx>& expected, double tolerance);

/// Compares two results for C = A * B: same shape, same structure, and every value within
/// `tolerance` times the sum of the absolute values of its products, (|A| * |B|)_ij.
///
/// Rounding obeys this bound: sums of n products in two different orders differ by less than
/// 2 n u (|A| * |B|)_ij, with u = 2^-53 (2^-24 for f32), whether or not terms cancel. A tolerance
/// of 4 n u, where n is the largest number of products of an entry, never rejects a correct result.
/// Source: Higham: Accuracy and Stability of Numerical Algorithms, section 3.5.
/// \pre the shapes of a and b conform, and `expected` has the structure of A * B
/// \throws Error (check) as above
/// Complexity: O(products), sequential. Extra memory: 8 bytes per column.
template <matrices::Scalar Value, matrices::Index Idx>
SORTIE_API void compare(const matrices::Csr<Value, Idx>& result,
                        const matrices::Csr<Value, Idx>& expected,
                        const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
                        double tolerance);

/// The same for a result whose zeros were removed (matrices::drop_zeros): a missing entry counts as
/// zero, and an explicit zero is an error. \param expected  including its zeros
template <matrices::Scalar Value, matrices::Index Idx>
SORTIE_API void compare_without_zeros(const matrices::Csr<Value, Idx>& result,
                                      const matrices::Csr<Value, Idx>& expected,
                                      const matrices::Csr<Value, Idx>& a,
                                      const matrices::Csr<Value, Idx>& b, double tolerance);

/// Compares two structures. \throws Error (check) naming the first row and column that differ
template <matrices::Index Idx>
SORTIE_API void compare(const matrices::Pattern<Idx>& result,
                        const matrices::Pattern<Idx>& expected);

/// Checks any number of results for C = A * B against one product that another algorithm computed
/// on the host, with a rounding-error bound per entry.
///
/// The caller names that algorithm, so that a check can be independent of what it checks. The
/// program `sortie` registers Eigen and compares with it. With the library alone, use row_wise for
/// results of a GPU and of essc: its long rows are summed without segmented sort.
///
/// An entry of row i may differ by 4 (n + 2) u (|A| * |B|)_ij plus n times the smallest denormal
/// number. Here n is the number of entries of row i of A, each of which contributes at most one
/// product to an entry of C, and u = 2^-53 (2^-24 for f32). Two sums of n products in different
/// orders differ by less than 2 n u (|A| * |B|)_ij, and the relative error of a complex product is
/// at most sqrt(5) u, so no correct result fails. A missing or wrong product fails unless it is
/// smaller than the bound. The denormal term covers products that underflow.
/// Source: Higham: Accuracy and Stability of Numerical Algorithms, sections 3.5 and 3.6.
template <matrices::Scalar Value, matrices::Index Idx>
class SORTIE_API ProductCheck {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Multiplies on the host, as multiply() does, on all threads. Keeps no reference to the operands.
  /// \param context    threads
  /// \param a,b        with columns ascending in each row
  /// \param algorithm  a host algorithm
  /// \param first_row  row number of the first row of `a` in messages, from 0
  /// \throws Error (input) a.cols != b.rows; (unavailable) not a host algorithm; (out_of_memory)
  /// Complexity: that of the algorithm, and O(products). Memory: C, 8 bytes per entry of C, and 8
  /// bytes per column of C and thread.
  ProductCheck(const HostContext& context, const Matrix& a, const Matrix& b, Algorithm algorithm,
               std::int64_t first_row = 0);

  /// \throws Error (check) naming the first row and column that differ, counted from 1
  /// Complexity: O(nnz(C)), on all threads.
  void compare(const Matrix& result) const;

  /// The same for a result whose zeros were removed (matrices::drop_zeros): a missing entry counts
  /// as zero, and an explicit zero is an error. Extra memory: a copy of C.
  void compare_without_zeros(const Matrix& result) const;

  /// The product, including its zeros.
  [[nodiscard]] const Matrix& expected() const { return expected_; }

 private:
  void find_bounds(const Matrix& a, const Matrix& b);

  std::int64_t first_row_;
  Matrix expected_;
  std::vector<double> allowed_;  ///< largest allowed error of each entry
};

}  // namespace sortie::spgemm
