// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"

namespace sortie::matrices {

enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

/// The first two lines of a Matrix Market file.
struct MatrixMarketHeader {
  bool coordinate = true;  ///< false: dense "array"
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  ///< entries in the file (array: rows * cols, or the stored half)
};

/// Reads a matrix from a Matrix Market file.
///
/// Formats: coordinate and array; real, integer, pattern (every value 1) and complex; general,
/// symmetric, skew-symmetric and hermitian (expanded to the full matrix). Plain text, gzip or zstd,
/// recognised by content; "-" is standard input. Comments and blank lines are accepted anywhere
/// after the banner. Entries may be in any order; duplicates are summed in file order; zeros are
/// kept for coordinate files and dropped for array files. Numbers may begin with '+' and use the
/// exponent letter D; numbers too small for Value become 0. Integers beyond 64 bits are read as the
/// nearest real. The matrix does not depend on the number of threads.
///
/// \tparam Value  std::complex<double> for complex files
/// \param context  threads; memory budget: of the text, the entries and the result; progress: "read",
///                 "parse matrix"; report: phases "read", "parse matrix"
/// \param path     file name or "-"
/// \param header   if not null, receives the header of the file
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for the first error in the file: a
///         wrong banner, a missing or incomplete size line, too few or too many entries, an index
///         of 0 or beyond the size, an invalid number, sizes beyond Idx, a damaged stream, a
///         symmetric matrix that is not square, an entry above the diagonal of a symmetric file (or
///         on the diagonal of a skew-symmetric one), complex entries for a real Value
/// \throws Error (out_of_memory) "FILE: ..." if the budget, or the free memory, cannot hold the
///         matrix
/// Complexity: O(bytes), in parallel. Memory: the text, the entries and the result.
/// Source: Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935 (1996).
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] SORTIE_API Csr<Value, Idx> read_matrix_market(const HostContext& context,
                                                            const std::string& path,
                                                            MatrixMarketHeader* header = nullptr);

/// Reads only the header, e.g. to choose Value and Idx. Not suited to standard input: this consumes
/// bytes that read_matrix_market() would need.
/// \throws Error (input)
[[nodiscard]] SORTIE_API MatrixMarketHeader read_matrix_market_header(const std::string& path);

/// Writes a matrix as "coordinate real|complex|integer general", entries row by row, numbers in the
/// shortest form that reads back to the same bits. Integers and bools are an integer file. The file
/// is replaced atomically; "-" is standard output.
/// \param context  threads; progress and report: phase "write matrix". Takes some MiB per thread,
///                 which do not count against the budget.
/// \throws Error (output)
template <Element Value, Index Idx>
SORTIE_API void write_matrix_market(const HostContext& context, const std::string& path,
                                    const Csr<Value, Idx>& matrix);

/// Writes a pattern as "coordinate pattern general".
template <Index Idx>
SORTIE_API void write_matrix_market(const HostContext& context, const std::string& path,
                                    const Pattern<Idx>& pattern);

/// Writes a matrix to a Matrix Market file in chunks of rows. The number of entries need not be
/// known before the end:
///
///     MatrixMarketRows<double, std::int32_t> file(context, "C.mtx", rows, cols);
///     while (...) file.append(next_rows);
///     file.commit();
///
/// The file, created atomically, equals that of write_matrix_market() but for a comment line before
/// the size line: commit() fills with it the unused part of the space reserved for any number.
template <Scalar Value, Index Idx>
class SORTIE_API MatrixMarketRows {
 public:
  /// \param context  as write_matrix_market(); progress of append() in rows. Its report must
  ///                 outlive this object
  /// \param path     a regular file; pipes, devices and standard output cannot be rewritten
  /// \throws Error (output) the path is not a regular file or cannot be written
  MatrixMarketRows(const HostContext& context, const std::string& path, std::int64_t rows,
                   std::int64_t cols);
  ~MatrixMarketRows();
  MatrixMarketRows(MatrixMarketRows&&) noexcept;
  MatrixMarketRows& operator=(MatrixMarketRows&&) noexcept;

  /// Writes the next rows.
  /// \throws Error (usage) a different number of columns, or too many rows; (output)
  /// Complexity: O(nnz of the rows), on all threads. Memory: about 2 MiB per thread.
  void append(const Csr<Value, Idx>& rows);

  /// Writes the size line and gives the file its name.
  /// \throws Error (usage) rows are missing; (output)
  void commit();

  [[nodiscard]] std::int64_t rows_written() const;
  [[nodiscard]] std::int64_t nnz() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::matrices
