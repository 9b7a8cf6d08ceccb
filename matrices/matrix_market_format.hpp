// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/decimal_text.hpp"
#include "matrices/rows_view.hpp"

/// Internal to matrices: the text of a Matrix Market file of a sparse matrix.
namespace sortie::matrices::detail {

/// Maximum length of an index (19 digits) and of a double in shortest form
/// ("-2.2250738585072014e-308"), each including the separator after it.
inline constexpr std::size_t max_index_length = 20;
inline constexpr std::size_t max_number_length = 25;

/// Numbers after the indices of an entry.
template <class Value>
inline constexpr std::size_t numbers_per_entry = 1;
template <>
inline constexpr std::size_t numbers_per_entry<NoValue> = 0;
template <class Real>
inline constexpr std::size_t numbers_per_entry<std::complex<Real>> = 2;

/// The first line.
template <class Value>
[[nodiscard]] std::string banner() {
  constexpr std::array fields{"pattern", std::integral<Value> ? "integer" : "real", "complex"};
  return fmt::format("%%MatrixMarket matrix coordinate {} general\n",
                     fields[numbers_per_entry<Value>]);
}

/// The second line.
[[nodiscard]] inline std::string size_line(std::int64_t rows, std::int64_t cols,
                                           std::int64_t entries) {
  return fmt::format("{} {} {}\n", rows, cols, entries);
}

/// Entries per block: about 1 MiB of text, which stays in the L2 cache between formatting and
/// writing.
template <class Value>
inline constexpr std::int64_t entries_per_block =
    std::int64_t{1} << (numbers_per_entry<Value> == 0 ? 16 : 15);

/// The text of one block for each worker. Allocated once a worker has a block, and not filled with
/// zeros: pages without text take no memory.
template <class Value>
class TextBuffers {
 public:
  explicit TextBuffers(std::uint64_t workers) : buffers_(workers) {}

  [[nodiscard]] int workers() const { return static_cast<int>(buffers_.size()); }

  [[nodiscard]] char* of(int worker) {
    std::unique_ptr<char[]>& buffer = buffers_[worker];
    if (!buffer) buffer = std::make_unique_for_overwrite<char[]>(size);
    return buffer.get();
  }

 private:
  static inline constexpr std::size_t max_entry_length =
      2 * max_index_length + numbers_per_entry<Value> * max_number_length;
  static constexpr std::size_t size =
      static_cast<std::size_t>(entries_per_block<Value>) * max_entry_length + decimal_text_room;

  std::vector<std::unique_ptr<char[]>> buffers_;
};

/// Stores a number and returns its end.
template <class Number>
char* put_number(char* at, Number number) {
  if constexpr (std::integral<Number>) {
    const auto word = static_cast<std::uint64_t>(number);
    if (number >= 0) return put_decimal(at, word);
    *at = '-';
    return put_decimal(at + 1, 0 - word);
  } else {
    return put_decimal(at, number);
  }
}

/// Formats the entries [begin, end), which may start and end within rows.
/// \param first_row  0-based row number of row 0 of the matrix in the file
template <class Value, Index Idx>
std::span<const char> format_entries(const RowsView<Value, Idx>& matrix, std::int64_t first_row,
                                     std::int64_t begin, std::int64_t end, char* buffer) {
  // Stores of characters could change any member, so the loop keeps the pointers.
  const std::int64_t* const row_ptr = matrix.row_ptr.data();
  const Idx* const col_idx = matrix.col_idx.data();
  if (matrix.await) matrix.await(end);
  std::int64_t row = std::upper_bound(row_ptr, row_ptr + matrix.rows + 1, begin) - row_ptr - 1;
  char* at = buffer;
  for (std::int64_t i = begin; i < end; ++row) {
    const std::int64_t row_end = std::min(end, row_ptr[row + 1]);
    if (i == row_end) continue;
    // The number of the row and its separator, which each entry begins with.
    std::array<char, decimal_text_room> prefix = {};
    char* const prefix_end =
        put_decimal(prefix.data(), static_cast<std::uint64_t>(first_row + row + 1));
    *prefix_end = ' ';
    const std::ptrdiff_t prefix_length = prefix_end + 1 - prefix.data();
    for (; i < row_end; ++i) {
      static_assert(max_index_length <= 24);
      std::memcpy(at, prefix.data(), 24);  // a constant length: two registers
      at += prefix_length;
      at = put_decimal(at, static_cast<std::uint64_t>(col_idx[i]) + 1);
      if constexpr (numbers_per_entry<Value> == 2) {
        *at++ = ' ';
        at = put_decimal(at, matrix.values[i].real());
        *at++ = ' ';
        at = put_decimal(at, matrix.values[i].imag());
      } else if constexpr (numbers_per_entry<Value> == 1) {
        *at++ = ' ';
        at = put_number(at, matrix.values[i]);
      }
      *at++ = '\n';
    }
  }
  return {buffer, at};
}

}  // namespace sortie::matrices::detail
