#pragma once

#include <cstdint>
#include <string>

#include "sortie/core/context.hpp"
#include "sortie/core/whole_file.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::matrices {

/// Writes a matrix that comes in chunks of rows, and whose number of entries is known only at the
/// end, to a Matrix Market file: what no memory holds as a whole. Used so:
///
///     MatrixMarketRows<double, std::int32_t> file(context, "C.mtx", rows, cols);
///     while (...) file.append(next_rows);
///     file.commit();
///
/// The file is that of write_matrix_market(), byte by byte, but for a comment line before the line
/// of sizes: sizes stand before entries in this format, so there is room for any number, and what
/// the number leaves of it is the comment. The file appears whole or not at all.
template <Scalar Value, Index Idx>
class MatrixMarketRows {
 public:
  /// \param context  threads
  /// \param path     a file: no pipe, device or standard output, which cannot be gone back in; see
  ///                 WholeFile::takes_rewrites()
  /// \throws Error (output) it is none, or cannot be written
  MatrixMarketRows(const Context& context, const std::string& path, std::int64_t rows,
                   std::int64_t cols);

  /// Writes the next rows, with all columns.
  /// \throws Error (usage) other columns, or more rows than there are; (output)
  /// Complexity: O(nnz of the rows), on all threads. Memory: about 2 MiB a thread.
  void append(const Csr<Value, Idx>& rows);

  /// \throws Error (usage) rows are missing; (output)
  void commit();

  [[nodiscard]] std::int64_t rows_written() const { return rows_written_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }

 private:
  /// The comment and the line of sizes: as many bytes for any number of entries.
  [[nodiscard]] std::string sizes() const;

  std::string path_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t rows_written_ = 0;
  std::int64_t nnz_ = 0;
  WholeFile file_;
  std::uint64_t sizes_at_ = 0;  ///< first byte of sizes() in the file
};

}  // namespace sortie::matrices
