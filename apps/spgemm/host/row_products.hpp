#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::host {

/// How many entries of A ahead rows of B are asked for: near enough to be there in time, and far
/// enough not to be driven out before.
inline constexpr std::int64_t rows_ahead = 12;
inline constexpr std::int64_t offsets_ahead = 2 * rows_ahead;

/// Asks for what the products of entries of A some way behind entry `i` will need of B: where the
/// rows of B lie is nothing that the processor could foresee, so each first access would wait.
/// \tparam WithValues  the values too, not only the columns
// Inlined in any case: GCC 12 takes a function that only prefetches for one without effects.
template <bool WithValues, class Matrix>
[[gnu::always_inline]] inline void fetch_ahead(const Matrix& a, const Matrix& b, std::int64_t i) {
  if (i + offsets_ahead >= static_cast<std::int64_t>(a.col_idx.size())) return;
  __builtin_prefetch(b.row_ptr.data() + a.col_idx[i + offsets_ahead]);
  const std::int64_t begin = b.row_ptr[a.col_idx[i + rows_ahead]];
  __builtin_prefetch(b.col_idx.data() + begin);
  if constexpr (WithValues) {
    // Short rows often lie in two cache lines; those of long ones follow by themselves.
    constexpr std::int64_t line = 64 / sizeof(b.values[0]);
    __builtin_prefetch(b.values.data() + begin);
    __builtin_prefetch(b.values.data() + begin + line);
  }
}

/// The same for what the words of B's columns (ColumnWords) are needed of.
template <class Matrix, class Words>
[[gnu::always_inline]] inline void fetch_words_ahead(const Matrix& a, const Words& words,
                                                     std::int64_t i) {
  if (i + offsets_ahead >= static_cast<std::int64_t>(a.col_idx.size())) return;
  __builtin_prefetch(words.begins() + a.col_idx[i + offsets_ahead]);
  const std::int64_t begin = words.begins()[a.col_idx[i + rows_ahead]];
  __builtin_prefetch(words.words() + begin);
  __builtin_prefetch(words.masks() + begin);
}

/// Visits the products of row `row` of A * B in the order that fixes every sum of Sortie: entries
/// of A's row from left to right, and for each the entries of the row of B that it names. \param
/// visit  called as visit(column, product)
template <matrices::Scalar Value, matrices::Index Idx, class Visit>
inline void for_each_product(const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
                             std::int64_t row, const Visit& visit) {
  const std::int64_t end_a = a.row_ptr[row + 1];
  for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
    fetch_ahead<true>(a, b, i);
    const Value factor = a.values[i];
    const std::int64_t k = a.col_idx[i];
    const Idx* const columns = b.col_idx.data();
    const Value* const values = b.values.data();
    const std::int64_t end_b = b.row_ptr[k + 1];
    for (std::int64_t j = b.row_ptr[k]; j < end_b; ++j) visit(columns[j], factor * values[j]);
  }
}

/// As for_each_product, for the columns alone. \tparam Matrix  Csr or Pattern
template <class Matrix, class Visit>
inline void for_each_column(const Matrix& a, const Matrix& b, std::int64_t row,
                            const Visit& visit) {
  const std::int64_t end_a = a.row_ptr[row + 1];
  for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
    fetch_ahead<false>(a, b, i);
    const std::int64_t k = a.col_idx[i];
    const auto* const columns = b.col_idx.data();
    const std::int64_t end_b = b.row_ptr[k + 1];
    for (std::int64_t j = b.row_ptr[k]; j < end_b; ++j) visit(columns[j]);
  }
}

/// Running number of products: element i is the number of products of the rows before row i, the
/// last of the rows + 1 elements the number of all.
/// \pre the host runtime runs
/// \tparam Matrix  Csr or Pattern
template <class Matrix>
[[nodiscard]] std::vector<std::int64_t> product_offsets(const Matrix& a, const Matrix& b);

/// Cuts the rows into consecutive blocks of at most `max_products` products and `max_rows` rows, as
/// few as a greedy cut needs; a row of more products is a block of its own.
/// \return first row of each block, and the number of rows at the end; {0} for no rows
[[nodiscard]] std::vector<std::int64_t> cut_rows(std::span<const std::int64_t> product_offsets,
                                                 std::int64_t max_products, std::int64_t max_rows);

/// The row with the most products; -1 for no rows.
[[nodiscard]] std::int64_t longest_row(std::span<const std::int64_t> product_offsets);

}  // namespace sortie::spgemm::host
