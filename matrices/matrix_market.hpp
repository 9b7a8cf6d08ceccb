#pragma once

#include <string>

#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"
#include "sortie/matrices/pattern.hpp"

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
  std::int64_t entries = 0;  ///< entries in the file (for array: rows * cols, or the stored half)
};

/// Reads a matrix from a Matrix Market file.
///
/// Formats: coordinate and array; real, integer, pattern (every entry 1) and complex; general,
/// symmetric, skew-symmetric and hermitian (expanded to the full matrix). Plain or gzip by content;
/// "-" is standard input. Comments and blank lines may stand anywhere after the banner. Entries may
/// stand in any order; duplicates are summed in file order; zeros are kept for coordinate files and
/// dropped for array files. Numbers may begin with '+' and have the exponent letter D; those too
/// small for Value become 0. Integers beyond 64 bits are read as the nearest real. The matrix is
/// the same for any number of threads.
///
/// \tparam Value  complex files need std::complex<double>
/// \param context   threads and progress
/// \param path      file name or "-"
/// \param header    when not null, receives what the file's first lines say
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for a wrong banner, a missing or
/// short
///         size line, too few or too many entries, an index of 0 or beyond the size, a non-number,
///         sizes beyond Idx, a damaged gzip stream, a symmetric matrix that is not square, an entry
///         above the diagonal of a symmetric file (or on that of a skew-symmetric one), complex
///         entries for a real Value; always the first fault of the file
/// \throws Error (out_of_memory) sizes that the memory of this machine cannot hold
/// Complexity: O(bytes); chunks of lines are parsed in parallel. Memory: the text, the entries and
/// the result at once.
/// Source: Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935 (1996).
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> read_matrix_market(const Context& context, const std::string& path,
                                                 MatrixMarketHeader* header = nullptr);

/// Reads only the header (for choosing Value and Idx before reading the matrix). From standard
/// input this takes away what the matrix would be read from; read the text once instead and use
/// parse_matrix_market_header and parse_matrix_market (matrix_market_text.hpp).
/// \throws Error (input)
[[nodiscard]] MatrixMarketHeader read_matrix_market_header(const std::string& path);

/// Writes a matrix as "coordinate real|complex general", entries row by row, numbers in the
/// shortest form that reads back to the same bits. The file appears whole or not at all; "-" is
/// standard output. \throws Error (output)
template <Scalar Value, Index Idx>
void write_matrix_market(const Context& context, const std::string& path,
                         const Csr<Value, Idx>& matrix);

/// The same for a structure, as "coordinate pattern general".
template <Index Idx>
void write_matrix_market(const Context& context, const std::string& path,
                         const Pattern<Idx>& pattern);

}  // namespace sortie::matrices
