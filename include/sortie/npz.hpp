// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"

/// Sparse matrices in the binary form of SciPy: .npz files, which scipy.sparse.load_npz() reads and
/// scipy.sparse.save_npz() writes.
///
/// Such a file is a zip archive of NumPy arrays (.npy). Those of format csr are:
///
///   | member      | type written                                   | elements                     |
///   |-------------|------------------------------------------------|------------------------------|
///   | data.npy    | as Value; bool for std::uint8_t and Pattern    | the values, row by row       |
///   | indices.npy | int32 or int64, as Idx                         | their columns, 0-based       |
///   | indptr.npy  | int32 if Idx and the last offset fit, or int64 | rows + 1 offsets of the rows |
///   | shape.npy   | int64                                          | rows, columns                |
///   | format.npy  | 3 bytes                                        | "csr"                        |
///
/// load_npz() keeps indices and indptr as they are if both have the narrowest type that holds the
/// sizes and the number of entries, as here; only beyond 2^31 - 1 entries in fewer rows and columns,
/// it widens the indices to int64. It converts none of the values.
namespace sortie::matrices {

/// What an .npz file holds.
struct NpzHeader {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  ///< entries in the file; duplicates count
  std::string format;        ///< "csr", "csc" or "coo"
  std::string dtype;         ///< type of the values, as NumPy writes it: "<f8"
  bool complex = false;      ///< the values are complex
};

/// Reads a sparse matrix from an .npz file.
///
/// Formats: csr, csc and coo, stored or deflated (`compressed=True`). Values: bool, integers of 8 to
/// 64 bits, floating point of 16 to 64 bits, complex numbers of 64 and 128 bits, little-endian,
/// converted to the nearest Value. Rows are sorted, and duplicates summed in file order; zeros are
/// kept. Other members are ignored. The matrix does not depend on the number of threads.
///
/// The arrays of a file that was opened by its name are read by several threads into their places.
/// Pipes, "-" (standard input) and compressed files (gzip, zstd) are read into memory first.
///
/// \tparam Value  std::complex<double> for complex files
/// \param context  threads; memory budget: of the arrays, the result and what deflated arrays take
///                 while they are decompressed; progress: "read"; report: phases "read", "parse
///                 matrix"
/// \param path     file name or "-"
/// \param header   if not null, receives what the file holds
/// \throws Error (input) "FILE: MEMBER: found ..., expected ...": no zip archive or one that is cut
///         short, a checksum that does not match, a missing member, other formats, types and byte
///         orders, arrays of unequal length, offsets that do not ascend, an index beyond the shape, a
///         number beyond Value, sizes beyond Idx, complex values for a real Value
/// \throws Error (out_of_memory) "FILE: ..." if the budget, or the free memory, cannot hold the
///         matrix
/// Complexity: O(bytes), in parallel, plus sorting rows that are not in order. Memory: the result,
/// if the file is of format csr, in order and stored; else a copy of the entries, too.
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] SORTIE_API Csr<Value, Idx> read_npz(const HostContext& context,
                                                  const std::string& path,
                                                  NpzHeader* header = nullptr);

/// Reads only what the file holds, e.g. to choose Value and Idx. Not suited to standard input, whose
/// bytes read_npz() would need.
/// \throws Error (input)
[[nodiscard]] SORTIE_API NpzHeader read_npz_header(const std::string& path);

/// Writes a matrix. The archive does not compress, has the form of zip for files beyond 4 GiB at any
/// size, and time stamps of 1980: equal matrices give equal bytes. The file is replaced atomically.
/// "-" is standard output; to such a stream, whose headers cannot be filled in later, the arrays are
/// read twice, first for their checksums.
/// \param context  threads; progress and report: phase "write matrix". Takes 1 MiB per thread, which
///                 does not count against the budget.
/// \throws Error (output)
/// Complexity: O(bytes), in parallel.
template <Element Value, Index Idx>
SORTIE_API void write_npz(const HostContext& context, const std::string& path,
                          const Csr<Value, Idx>& matrix);

/// Writes a pattern: all values are the bool True.
template <Index Idx>
SORTIE_API void write_npz(const HostContext& context, const std::string& path,
                          const Pattern<Idx>& pattern);

/// Writes a matrix to an .npz file in chunks of rows. The number of entries need not be known before
/// the end:
///
///     NpzRows<double, std::int32_t> file(context, "C.npz", rows, cols);
///     while (...) file.append(next_rows);
///     file.commit();
///
/// The file, created atomically, equals that of write_npz(). Values are written to their place; the
/// column indices, which follow them, are kept in a temporary file in the same folder until
/// commit(), on file systems that support it one without a name. So the folder needs space for the
/// indices twice.
template <Scalar Value, Index Idx = std::int32_t>
class SORTIE_API NpzRows {
 public:
  /// \param context  threads; memory budget: 8 bytes per row, for the offsets of the rows; progress
  ///                 of append() in rows; report: phase "write matrix". Its report must outlive this
  ///                 object
  /// \param path     a regular file; pipes, devices and standard output cannot be rewritten
  /// \throws Error (output) the path is not a regular file or cannot be written; (out_of_memory)
  NpzRows(const HostContext& context, const std::string& path, std::int64_t rows,
          std::int64_t cols);
  ~NpzRows();
  NpzRows(NpzRows&&) noexcept;
  NpzRows& operator=(NpzRows&&) noexcept;

  /// Writes the next rows.
  /// \throws Error (usage) a different number of columns, or too many rows; (output)
  /// Complexity: O(nnz of the rows), on all threads.
  void append(const Csr<Value, Idx>& rows);

  /// Writes the other arrays and gives the file its name.
  /// \throws Error (usage) rows are missing; (output)
  /// Complexity: O(nnz + rows), on all threads. Memory: 1 MiB per thread.
  void commit();

  [[nodiscard]] std::int64_t rows_written() const;
  [[nodiscard]] std::int64_t nnz() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::matrices
