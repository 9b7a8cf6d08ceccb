// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>

#include "apps/spgemm/backends.hpp"
#include "sortie/error.hpp"

/// Comparison of matrices and its error messages. Internal.
namespace sortie::spgemm::detail {

template <Scalar Value>
std::string shown(const Value& value) {
  if constexpr (std::same_as<Value, std::complex<double>>) {
    return fmt::format("{} + {}i", value.real(), value.imag());
  } else {
    return fmt::format("{}", value);
  }
}

inline bool is_finite(double value) {
  return std::isfinite(value);
}
inline bool is_finite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// NaN equals NaN, since the payload of a NaN that results from a sum is not defined.
inline bool same_part(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
inline bool same(double x, double y) {
  return same_part(x, y);
}
inline bool same(const std::complex<double>& x, const std::complex<double>& y) {
  return same_part(x.real(), y.real()) && same_part(x.imag(), y.imag());
}

[[noreturn]] inline void throw_difference(const std::string& place, const std::string& found,
                                          const std::string& expected) {
  throw Error(ErrorKind::check,
              fmt::format("C: {}: found {}, expected {}", place, found, expected));
}

template <Scalar Value, Index Idx>
std::size_t number_of_values(const Csr<Value, Idx>& matrix) {
  return matrix.values.size();
}
template <Index Idx>
std::size_t number_of_values(const Pattern<Idx>& pattern) {
  return pattern.col_idx.size();  // a pattern has no values: counts columns
}

/// \throws Error (check)
template <class Matrix>
void compare_shape(const Matrix& result, const Matrix& expected) {
  if (result.rows == expected.rows && result.cols == expected.cols) return;
  throw_difference("shape", fmt::format("{} x {}", result.rows, result.cols),
                   fmt::format("{} x {}", expected.rows, expected.cols));
}

/// Compares shape, offsets and columns. \param first_row  row number of row 0 in messages, from 0
/// \throws Error (check)
template <class Matrix>
void compare_structure(const Matrix& result, const Matrix& expected, std::int64_t first_row = 0) {
  compare_shape(result, expected);
  const std::size_t values = number_of_values(result);
  if (result.row_ptr.size() != expected.row_ptr.size() || values != result.col_idx.size()) {
    throw_difference("arrays",
                     fmt::format("{} offsets, {} columns and {} values", result.row_ptr.size(),
                                 result.col_idx.size(), values),
                     fmt::format("{} offsets, as many values as columns", expected.row_ptr.size()));
  }
  for (std::int64_t row = 0; row < expected.rows; ++row) {
    const std::int64_t begin = expected.row_ptr[row];
    const std::int64_t end = expected.row_ptr[row + 1];
    const auto columns = expected.col_idx.begin() + begin;
    // All preceding rows have equal lengths, so this row begins at the same position in both.
    const std::int64_t shared = std::min({end, result.row_ptr[row + 1], result.nnz()}) - begin;
    const std::int64_t at =
        shared <= 0
            ? 0
            : std::mismatch(columns, columns + shared, result.col_idx.begin() + begin).first -
                  columns;
    if (at < shared) {
      throw_difference(fmt::format("row {}", first_row + row + 1),
                       fmt::format("column {}", result.col_idx[begin + at] + 1),
                       fmt::format("column {}", columns[at] + 1));
    }
    if (result.row_ptr[row + 1] != end) {
      throw_difference(fmt::format("row {}", first_row + row + 1),
                       fmt::format("{} entries", result.row_ptr[row + 1] - begin),
                       fmt::format("{} entries", end - begin));
    }
  }
}

/// \param allowed  largest error of a finite result
template <Scalar Value>
bool entry_agrees(const Value& result, const Value& expected, double allowed) {
  return same(result, expected) ||
         (is_finite(result) && is_finite(expected) && std::abs(result - expected) <= allowed);
}

/// \param row, column  from 0 \throws Error (check)
template <Scalar Value>
void compare_entry(std::int64_t row, std::int64_t column, const Value& result,
                   const Value& expected, double allowed) {
  if (entry_agrees(result, expected, allowed)) return;
  const bool finite = is_finite(result) && is_finite(expected);
  throw_difference(
      fmt::format("row {}, column {}", row + 1, column + 1), shown(result),
      finite ? fmt::format("{} within {:.3g}", shown(expected), allowed) : shown(expected));
}

/// The result with explicit zeros where only `structure` has an entry. \param first_row  as above
/// \throws Error (check) an entry that `structure` lacks, or an explicit zero
template <Scalar Value, Index Idx>
Csr<Value, Idx> restore_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& structure,
                              std::int64_t first_row = 0) {
  Csr<Value, Idx> whole = structure;
  std::fill(whole.values.begin(), whole.values.end(), Value{});
  for (std::int64_t row = 0; row < structure.rows; ++row) {
    auto at = structure.col_idx.begin() + structure.row_ptr[row];
    const auto end = structure.col_idx.begin() + structure.row_ptr[row + 1];
    for (std::int64_t i = result.row_ptr[row]; i < result.row_ptr[row + 1]; ++i) {
      const Idx column = result.col_idx[i];
      const std::string place = fmt::format("row {}, column {}", first_row + row + 1, column + 1);
      at = std::lower_bound(at, end, column);
      if (at == end || *at != column) throw_difference(place, "an entry", "none");
      if (result.values[i] == Value{}) throw_difference(place, "zero", "no entry for it");
      whole.values[at - structure.col_idx.begin()] = result.values[i];
      ++at;
    }
  }
  return whole;
}

}  // namespace sortie::spgemm::detail
