#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <vector>

namespace sortie::matrices {

/// Types of entries.
template <class T>
concept Scalar =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<double>>;

/// Types of row and column numbers.
template <class T>
concept Index = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// A sparse matrix in compressed sparse row form.
///
/// Row i holds entries row_ptr[i] .. row_ptr[i+1] of col_idx and values. Unless a function says
/// otherwise, columns ascend strictly within a row. row_ptr is 64 bits wide for every Index, since
/// the number of entries may pass 2^31 where the numbers of rows and columns do not.
template <Scalar Value, Index Idx = std::int32_t>
struct Csr {
  using value_type = Value;
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_ptr{0};  ///< rows + 1 offsets
  std::vector<Idx> col_idx;              ///< nnz columns, from 0
  std::vector<Value> values;             ///< nnz entries

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  friend bool operator==(const Csr&, const Csr&) = default;
};

/// A sparse matrix as a list of entries in any order, duplicates allowed.
template <Scalar Value, Index Idx = std::int32_t>
struct Coo {
  using value_type = Value;
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<Idx> row_idx;
  std::vector<Idx> col_idx;
  std::vector<Value> values;

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(row_idx.size()); }
};

/// Sorts entries by row and column and sums duplicates in the order in which they stand. Runs on
/// the threads of the host runtime when it has been started (start_host_runtime), else on one; the
/// result is the same. Complexity O(nnz + rows) plus the sort of each row; extra memory about one
/// copy of the entries. \throws Error (input) an index outside the matrix, or index and value lists
/// of different length
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> to_csr(const Coo<Value, Idx>& coo);

/// The entries row by row. O(nnz + rows).
template <Scalar Value, Index Idx>
[[nodiscard]] Coo<Value, Idx> to_coo(const Csr<Value, Idx>& csr);

/// The transpose (no conjugation). O(nnz + rows + cols); extra memory one Idx an entry. Threads as
/// for to_csr.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> transpose(const Csr<Value, Idx>& csr);

/// Takes out the entries that are zero, of either sign (complex: both parts); the others keep their
/// order. NaN is no zero. \return how many were taken out
/// Complexity: O(nnz + rows), sequential. Memory: in place; what the arrays had room for stays
/// theirs.
template <Scalar Value, Index Idx>
std::int64_t drop_zeros(Csr<Value, Idx>& csr);

/// Checks the invariants of Csr: sizes, monotone row_ptr, columns in range and strictly ascending.
/// \throws Error (input) naming the first row that breaks one
template <Scalar Value, Index Idx>
void validate(const Csr<Value, Idx>& csr);

}  // namespace sortie::matrices
