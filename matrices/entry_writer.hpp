// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/whole_file.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/csr.hpp"

/// Internal to matrices: writer for the entry lines of a Matrix Market file.
namespace sortie::matrices::detail {

/// Entries per buffer: about 1 MiB of text, which stays in the L2 cache between formatting and
/// writing.
inline constexpr std::int64_t entries_per_block = std::int64_t{1} << 15;

/// Maximum length of an index (19 digits) and of a double in shortest form
/// ("-2.2250738585072014e-308"), each including the separator after it.
inline constexpr std::size_t index_room = 20;
inline constexpr std::size_t number_room = 25;

/// The text form of the entries of a matrix type: the field name in the banner, and the numbers
/// after the indices.
template <class Matrix>
struct EntryForm;

template <Scalar Value, Index Idx>
struct EntryForm<Csr<Value, Idx>> {
  static constexpr bool complex = std::is_same_v<Value, std::complex<double>>;
  static constexpr const char* field = complex ? "complex" : "real";
  static constexpr std::size_t numbers = complex ? 2 : 1;
};

template <Index Idx>
struct EntryForm<Pattern<Idx>> {
  static constexpr const char* field = "pattern";
  static constexpr std::size_t numbers = 0;
};

template <class Number>
char* put(char* at, Number number, char separator) {
  at = std::to_chars(at, at + number_room, number).ptr;
  *at = separator;
  return at + 1;
}

/// Formats the entries [begin, end), which may start and end within rows.
/// \param first_row  0-based row number of row 0 of the matrix in the file
template <class Matrix>
std::string_view format_entries(const Matrix& matrix, std::int64_t first_row, std::int64_t begin,
                                std::int64_t end, std::vector<char>& buffer) {
  constexpr std::size_t room = 2 * index_room + EntryForm<Matrix>::numbers * number_room;
  buffer.resize(room * static_cast<std::size_t>(end - begin));
  char* at = buffer.data();
  const auto& row_ptr = matrix.row_ptr;
  std::int64_t row = std::upper_bound(row_ptr.begin(), row_ptr.end(), begin) - row_ptr.begin() - 1;
  for (std::int64_t i = begin; i < end; ++i) {
    while (row_ptr[static_cast<std::size_t>(row) + 1] <= i) ++row;
    const auto entry = static_cast<std::size_t>(i);
    at = put(at, first_row + row + 1, ' ');
    constexpr std::size_t numbers = EntryForm<Matrix>::numbers;
    at = put(at, static_cast<std::int64_t>(matrix.col_idx[entry]) + 1, numbers == 0 ? '\n' : ' ');
    if constexpr (numbers == 2) {
      at = put(at, matrix.values[entry].real(), ' ');
      at = put(at, matrix.values[entry].imag(), '\n');
    } else if constexpr (numbers == 1) {
      at = put(at, matrix.values[entry], '\n');
    }
  }
  return {buffer.data(), static_cast<std::size_t>(at - buffer.data())};
}

/// Writes the entries of a matrix row by row. Each thread formats one block; then the blocks are
/// written in order.
/// \param first_row  0-based row number of row 0 of the matrix in the file
/// \param tell       called repeatedly as tell(blocks done, total blocks)
template <class Matrix, class Tell>
void write_entries(WholeFile& file, const Matrix& matrix, std::int64_t first_row,
                   const Tell& tell) {
  const std::int64_t blocks = (matrix.nnz() + entries_per_block - 1) / entries_per_block;
  const std::int64_t batch = std::min(blocks, static_cast<std::int64_t>(worker_threads()));
  std::vector<std::vector<char>> buffers(static_cast<std::size_t>(batch));
  std::vector<std::string_view> texts(static_cast<std::size_t>(batch));
  for (std::int64_t first = 0; first < blocks; first += batch) {
    const std::int64_t count = std::min(batch, blocks - first);
    for_each_range(count, 1, [&](std::int64_t i, std::int64_t) {
      const std::int64_t begin = (first + i) * entries_per_block;
      const std::int64_t end = std::min(matrix.nnz(), begin + entries_per_block);
      texts[static_cast<std::size_t>(i)] =
          format_entries(matrix, first_row, begin, end, buffers[static_cast<std::size_t>(i)]);
    });
    for (std::int64_t i = 0; i < count; ++i) file.write(texts[static_cast<std::size_t>(i)]);
    tell(first + count, blocks);
  }
}

}  // namespace sortie::matrices::detail
