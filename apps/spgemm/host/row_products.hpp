// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_memory.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm::host {

/// Prefetch distance in entries of A: large enough to hide latency, small enough that lines are not
/// evicted before use.
inline constexpr std::int64_t rows_ahead = 12;
inline constexpr std::int64_t offsets_ahead = 2 * rows_ahead;

/// For the products of entries of A after entry `i`: prefetches where the rows of B begin, and the
/// arrays of B there. The addresses are data-dependent, so the hardware prefetcher cannot predict
/// them.
// always_inline: GCC 12 removes calls of functions that only prefetch, as free of side effects.
template <class Matrix, class... Element>
[[gnu::always_inline]] inline void fetch_ahead(const Matrix& a, std::int64_t i,
                                               const std::int64_t* begins,
                                               const Element*... arrays) {
  if (i + offsets_ahead >= static_cast<std::int64_t>(a.col_idx.size())) return;
  __builtin_prefetch(begins + a.col_idx[i + offsets_ahead]);
  const std::int64_t begin = begins[a.col_idx[i + rows_ahead]];
  (__builtin_prefetch(arrays + begin), ...);
}

/// The same for columns and, WithValues, values of B.
template <bool WithValues, class Matrix>
[[gnu::always_inline]] inline void fetch_row_ahead(const Matrix& a, const Matrix& b,
                                                   std::int64_t i) {
  if constexpr (WithValues) {
    if (i + offsets_ahead >= static_cast<std::int64_t>(a.col_idx.size())) return;
    // Rows of some 30 entries in random order span four lines of values: a 27-point stencil with
    // shuffled rows squared takes 198 instead of 247 ms with all four (Zen 4, one thread). The
    // hardware prefetches further lines of longer rows.
    constexpr std::int64_t line = 64 / sizeof(b.values[0]);
    constexpr std::int64_t line_of_columns = 64 / sizeof(b.col_idx[0]);
    const auto* const columns = b.col_idx.data();
    const auto* const values = b.values.data();
    fetch_ahead(a, i, b.row_ptr.data(), columns, columns + line_of_columns, values, values + line,
                values + 2 * line, values + 3 * line);
  } else {
    fetch_ahead(a, i, b.row_ptr.data(), b.col_idx.data());
  }
}

/// True for the types that have code with AVX-512 intrinsics.
template <matrices::Scalar Value, matrices::Index Idx>
inline constexpr bool has_vector_code =
#ifdef SORTIE_HAVE_VECTOR_UNITS
    std::same_as<Value, double>&& std::same_as<Idx, std::int32_t>;
#else
    false;
#endif

/// Initial value of a sum, for which the first product keeps its bits: -0.0 + x has the bits of x
/// for every x, whereas +0.0 + -0.0 loses the sign.
template <matrices::Scalar Value>
[[nodiscard]] constexpr Value additive_identity() {
  if constexpr (std::same_as<Value, std::complex<double>>) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

/// Visits the products of row `row` of A * B in the order that defines all sums of Sortie: entries
/// of the row of A in ascending order, and for each the entries of the matching row of B.
/// \tparam Matrix  Csr; also Pattern without values
/// \param visit  called as visit(column, product), or visit(column) without values
template <bool WithValues = true, class Matrix, class Visit>
inline void for_each_product(const Matrix& a, const Matrix& b, std::int64_t row,
                             const Visit& visit) {
  const std::int64_t end_a = a.row_ptr[row + 1];
  for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
    fetch_row_ahead<WithValues>(a, b, i);
    const std::int64_t k = a.col_idx[i];
    const auto* const columns = b.col_idx.data();
    const std::int64_t end_b = b.row_ptr[k + 1];
    if constexpr (WithValues) {
      const auto factor = a.values[i];
      const auto* const values = b.values.data();
      for (std::int64_t j = b.row_ptr[k]; j < end_b; ++j) visit(columns[j], factor * values[j]);
    } else {
      for (std::int64_t j = b.row_ptr[k]; j < end_b; ++j) visit(columns[j]);
    }
  }
}

/// Number of products of row `row` of A * B. \tparam Matrix  Csr or Pattern
template <class Matrix>
[[nodiscard]] std::int64_t products_of_row(const Matrix& a, const Matrix& b, std::int64_t row) {
  const auto entries = static_cast<std::int64_t>(a.col_idx.size());
  std::int64_t products = 0;
  for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
    // Offsets of rows that are far apart take a cache miss each.
    if (i + offsets_ahead < entries)
      __builtin_prefetch(b.row_ptr.data() + a.col_idx[i + offsets_ahead]);
    const std::int64_t k = a.col_idx[i];
    products += b.row_ptr[k + 1] - b.row_ptr[k];
  }
  return products;
}

/// Prefix sum of products: element i is the number of products of the rows before row i; rows + 1
/// elements. \pre the host runtime is running
template <class Matrix>
[[nodiscard]] std::vector<std::int64_t> product_offsets(const Matrix& a, const Matrix& b) {
  std::vector<std::int64_t> offsets;
  resize_for_overwrite(offsets, a.rows + 1);
  offsets[0] = 0;
  // Counting a row takes about 10 ns, so a block takes about 0.1 ms.
  constexpr std::int64_t rows_per_block = 1 << 13;
  for_each_block_of(a.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) offsets[row + 1] = products_of_row(a, b, row);
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

/// Cuts the rows greedily into consecutive blocks of at most `max_products` products and `max_rows`
/// rows. A row with more products is a block of its own.
/// \return first row of each block, then the number of rows; {0} for no rows
[[nodiscard]] inline std::vector<std::int64_t> cut_rows(
    std::span<const std::int64_t> product_offsets, std::int64_t max_products,
    std::int64_t max_rows) {
  const auto rows = static_cast<std::int64_t>(product_offsets.size()) - 1;
  std::vector<std::int64_t> cuts{0};
  while (cuts.back() < rows) {
    const std::int64_t first = cuts.back();
    const auto begin = product_offsets.begin() + first + 1;
    const auto end = product_offsets.begin() + std::min(rows, first + max_rows) + 1;
    const auto fitting = std::upper_bound(begin, end, product_offsets[first] + max_products);
    cuts.push_back(first + std::max<std::int64_t>(1, fitting - begin));
  }
  return cuts;
}

struct LongestRow {
  std::int64_t row = -1;
  std::int64_t products = 0;
};
/// The first row with the most products; -1 for no rows.
[[nodiscard]] inline LongestRow longest_row(std::span<const std::int64_t> product_offsets) {
  LongestRow longest;
  for (std::size_t row = 0; row + 1 < product_offsets.size(); ++row) {
    const std::int64_t products = product_offsets[row + 1] - product_offsets[row];
    if (row == 0 || products > longest.products)
      longest = {static_cast<std::int64_t>(row), products};
  }
  return longest;
}

/// A work space of up to so many bytes is not compared with the free memory, which takes 80 us to
/// read from /proc: the product of a matrix of 10 rows took 83 us, and takes 2 without. The operands
/// and the program take more than this, so a machine that has less left cannot go on anyway.
inline constexpr std::uint64_t unmeasured_work_space = std::uint64_t{1} << 20;

/// Usable bytes of work space: the context's budget, else half of the free memory, which leaves the
/// other half for the result.
/// \param most  that the call can use; more is not needed
[[nodiscard]] inline std::uint64_t work_space_budget(
    const HostContext& context, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  if (context.memory_budget != 0) return context.memory_budget;
  return most <= unmeasured_work_space ? unmeasured_work_space : host_memory_available() / 2;
}

}  // namespace sortie::spgemm::host
