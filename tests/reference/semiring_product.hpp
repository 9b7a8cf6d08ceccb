// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "sortie/csr.hpp"
#include "sortie/semiring_spgemm.hpp"

/// The definition of products over semirings: a std::map for each row.
namespace sortie::test::reference {

using spgemm::Semiring;

template <class Value>
Value semiring_product(Semiring semiring, Value x, Value y) {
  constexpr bool is_bool = std::is_same_v<Value, std::uint8_t>;
  switch (semiring) {
    case Semiring::plus_times:
    case Semiring::max_times:
      return is_bool ? Value(x != Value(0) && y != Value(0)) : Value(x * y);
    case Semiring::min_plus:
    case Semiring::max_plus:
      return static_cast<Value>(x + y);
    case Semiring::or_and:
      return Value(x != Value(0) && y != Value(0));
    default:
      return Value(1);
  }
}

template <class Value>
Value semiring_sum(Semiring semiring, Value x, Value y) {
  constexpr bool is_bool = std::is_same_v<Value, std::uint8_t>;
  if (semiring == Semiring::any_pair) return x;
  if (semiring == Semiring::or_and || is_bool) return Value(x != Value(0) || y != Value(0));
  if constexpr (std::is_floating_point_v<Value>) {
    if (semiring == Semiring::min_plus) return std::fmin(x, y);
    if (semiring == Semiring::max_plus || semiring == Semiring::max_times) return std::fmax(x, y);
  } else if constexpr (std::is_integral_v<Value>) {
    if (semiring == Semiring::min_plus) return std::min(x, y);
    if (semiring == Semiring::max_plus || semiring == Semiring::max_times) return std::max(x, y);
  }
  return static_cast<Value>(x + y);
}

template <class Value>
long double magnitude(Value value) {
  if constexpr (requires { value.imag(); }) {
    const long double re = value.real();
    const long double im = value.imag();
    return std::sqrt(re * re + im * im);  // exact squares, so that equal numbers are equal
  } else {
    return std::abs(static_cast<long double>(value));
  }
}

/// The entries of a row that the filter keeps.
template <class Value>
std::map<std::int64_t, Value> filtered(const std::map<std::int64_t, Value>& row,
                                       const spgemm::RowFilter& filter) {
  std::vector<std::pair<std::int64_t, Value>> entries;
  for (const auto& entry : row) {
    if (!(magnitude(entry.second) < filter.drop_below)) entries.push_back(entry);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& x, const auto& y) {
    const long double of_x = magnitude(x.second);
    const long double of_y = magnitude(y.second);
    return (of_x != of_x) != (of_y != of_y) ? of_x != of_x : of_x > of_y;
  });
  if (filter.keep_top && std::ssize(entries) > *filter.keep_top)
    entries.resize(static_cast<std::size_t>(*filter.keep_top));
  return {entries.begin(), entries.end()};
}

/// \param round  applied to the sums before the filter
template <class Value, class Idx, class Round = std::identity>
requires(!Float16Like<Value>) matrices::Csr<Value, Idx> multiply(
    const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
    const spgemm::ProductOptions<Idx>& options, Round round = {}) {
  matrices::Csr<Value, Idx> c{a.rows, b.cols, {0}, {}, {}};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::map<std::int64_t, Value> sums;
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int64_t k = a.col_idx[i];
      for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j) {
        const Value product = semiring_product(options.semiring, a.values[i], b.values[j]);
        const auto [place, is_new] = sums.try_emplace(b.col_idx[j], product);
        if (!is_new) place->second = semiring_sum(options.semiring, place->second, product);
      }
    }
    if (options.mask != nullptr) {
      const auto& columns = options.mask->col_idx;
      const auto begin = columns.begin() + options.mask->row_ptr[row];
      const auto end = columns.begin() + options.mask->row_ptr[row + 1];
      std::erase_if(sums, [&](const auto& entry) {
        return (std::find(begin, end, static_cast<Idx>(entry.first)) != end) == options.complement;
      });
    }
    for (auto& [column, value] : sums) value = round(value);
    for (const auto& [column, value] : filtered(sums, options.filter)) {
      c.col_idx.push_back(static_cast<Idx>(column));
      c.values.push_back(value);
    }
    c.row_ptr.push_back(c.nnz());
  }
  return c;
}

template <class To, class From, class Idx>
matrices::Csr<To, Idx> converted(const matrices::Csr<From, Idx>& matrix) {
  matrices::Csr<To, Idx> result{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, {}};
  for (const From value : matrix.values) result.values.push_back(static_cast<To>(value));
  return result;
}
template <Float16Like Value, class Idx>
matrices::Csr<Value, Idx> multiply(const matrices::Csr<Value, Idx>& a,
                                   const matrices::Csr<Value, Idx>& b,
                                   const spgemm::ProductOptions<Idx>& options) {
  return converted<Value>(multiply(converted<float>(a), converted<float>(b), options,
                                   [](float sum) { return float{Value(sum)}; }));
}

}  // namespace sortie::test::reference
