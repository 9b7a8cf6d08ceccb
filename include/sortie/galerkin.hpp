// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::host {
template <matrices::Scalar Value, matrices::Index Idx>
class RowPrograms;
}

namespace sortie::spgemm {

/// The product of three sparse matrices C = R * A * P, such as the Galerkin product of multigrid:
/// the operator A of a fine grid on a coarse grid, with the prolongation P and the restriction R.
///
/// Columns ascend in every row of C. Entries that become zero by cancellation are kept, so the
/// structure of C depends only on those of R, A and P. The result is bitwise reproducible for the
/// same backend and machine, for any thread count and memory budget.
///
/// On the host, neither A * P nor R * A exists as a whole: each thread computes a row of R * A and
/// multiplies it by P. The sums are those of multiply(R * A, P):
///
///     C_ij = sum over l of (sum over k of R_ik A_kl) P_lj,  k and l ascending
///
/// If the rows of A, R and P repeat, as those of a grid do, no columns are searched: all rows of C with
/// the same structure relative to their first column of R share a list of steps, a program, and are
/// computed at the same time. The sums are the same.
///
/// If no row of P has more than one entry (unsmoothed aggregation), not even a row of R * A exists,
/// and the sums are those of
///
///     C_ij = sum over k of (sum over l of (R_ik A_kl) P_lj), added one product at a time
///
/// On CUDA, the rows of C are computed in chunks that fit the memory budget; see galerkin_on_device()
/// (device_galerkin.hpp) for the sums, where R * A is by essc or fused for every other P.
///
/// \param context  backend, device, threads, progress; memory budget of the work space, excluding
///                 C; report: figure "nnz_c", phases "analysis" and "galerkin"; on CUDA
///                 "copy in", "copy out" and those of multiply_on_device()
/// \param r,a,p    with columns ascending in each row; r.cols == a.rows and a.cols == p.rows
/// \throws Error (input)         shapes that do not conform
/// \throws Error (unavailable)   no such backend
/// \throws Error (out_of_memory) the work space of one thread, or one row, does not fit the budget
/// Complexity on the host: O(products of R * A + products of (R * A) * P), and sorting the columns
/// of each row of C. Extra memory: sizeof(Value) + 2 sizeof(Idx) + 1 bytes per column of P and
/// thread, 8 bytes per row of C; with more than one entry in a row of P also that of multiply() by
/// row_wise per thread, and a row of R * A. Joining the parts of C keeps two copies of one part.
/// Programs: 4 bytes per row of A, up to 40 per row of C, 1.25 per product of R * A, and some MiB per
/// thread; if they do not fit the budget, columns are searched.
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978) for the sums.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Csr<Value, Idx> galerkin(const Context& context,
                                                            const matrices::Csr<Value, Idx>& r,
                                                            const matrices::Csr<Value, Idx>& a,
                                                            const matrices::Csr<Value, Idx>& p);

/// C = P^T * A * P, without conjugation. Also takes the memory of P^T, which counts against the
/// budget; phase "transpose". \throws Error (input) a.rows != p.rows or a.cols != p.rows
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Csr<Value, Idx> galerkin(const Context& context,
                                                            const matrices::Csr<Value, Idx>& a,
                                                            const matrices::Csr<Value, Idx>& p);

/// Sizes of C = R * A * P that are known before the product is computed.
struct GalerkinSize {
  std::int64_t rows = 0;      ///< of C
  std::int64_t cols = 0;      ///< of C
  std::int64_t products = 0;  ///< scalar products of R * A
  /// Upper bound of the scalar products that add up to C: one for each triple of entries R_ik,
  /// A_kl, P_lj.
  std::int64_t triples = 0;
  std::int64_t nnz_c_bound = 0;     ///< sum of min(triples, columns) over the rows of C
  std::uint64_t bytes_c_bound = 0;  ///< of the three arrays of C
  WorkSpace space;                  ///< in addition to the operands and C; see WorkSpace
};

/// \throws Error as galerkin()
/// Complexity: O(nnz(R) + nnz(A)). Extra memory: 16 bytes per row of R and 8 bytes per row of A.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API GalerkinSize galerkin_size(const Context& context,
                                                    const matrices::Csr<Value, Idx>& r,
                                                    const matrices::Csr<Value, Idx>& a,
                                                    const matrices::Csr<Value, Idx>& p);

/// The same for C = P^T * A * P, with P^T in the work space.
/// Extra memory: also that of P^T.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API GalerkinSize galerkin_size(const Context& context,
                                                    const matrices::Csr<Value, Idx>& a,
                                                    const matrices::Csr<Value, Idx>& p);

/// C = R * A * P or P^T * A * P on the host for operands whose values change while their structure
/// stays the same, as in a time loop or in Newton's method. The constructor computes C; multiply()
/// computes new values with the bits of galerkin(), without finding the columns of C again. Where
/// rows repeat, the plan keeps their programs (see galerkin()), and new values take half of the time:
/// 30 of 65 ms for the 27-point grid of 100^3 points and aggregates of 27 (Zen 5, one thread).
///
///     GalerkinPlan<double, std::int32_t> plan(context, a, p);
///     while (...) {
///       change(a.values);
///       plan.multiply(context, a, p);
///       use(plan.c());
///     }
template <matrices::Scalar Value, matrices::Index Idx>
class SORTIE_API GalerkinPlan {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// \throws Error as galerkin()
  GalerkinPlan(const HostContext& context, const Matrix& r, const Matrix& a, const Matrix& p);
  /// For C = P^T * A * P.
  GalerkinPlan(const HostContext& context, const Matrix& a, const Matrix& p);

  [[nodiscard]] const Matrix& c() const { return c_; }

  /// Computes the values of c(). \pre the operands have the structure of those of the constructor
  /// \throws Error (input) another number of rows, columns or entries than those; (out_of_memory)
  void multiply(const HostContext& context, const Matrix& r, const Matrix& a, const Matrix& p);
  /// The same for a plan of P^T * A * P, which keeps P^T.
  void multiply(const HostContext& context, const Matrix& a, const Matrix& p);

 private:
  void require_same(const Matrix& matrix, const char* name, std::size_t number) const;

  Matrix c_;
  std::vector<std::int64_t> sizes_;  ///< rows, columns and entries of R, A and P
  std::shared_ptr<const host::RowPrograms<Value, Idx>> programs_;
  Matrix transposed_;  ///< P^T, in a plan of P^T * A * P
};

}  // namespace sortie::spgemm
