// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "sortie/error.hpp"

// The definition of a product, without what the backends share but the arithmetic of integers.

namespace sortie::spgemm {

namespace {

template <class Value>
Value plain_product(Semiring semiring, Value x, Value y) {
  if (semiring == Semiring::plus_pair || semiring == Semiring::any_pair) return Value{1};
  if (semiring == Semiring::or_and) return from_number<Value>(x != Value{} && y != Value{} ? 1 : 0);
  if constexpr (std::is_same_v<Value, std::uint8_t>) {
    return x != 0 && y != 0 ? 1 : 0;
  } else {
    if (semiring == Semiring::plus_times || semiring == Semiring::max_times)
      return rounded_product(x, y);
    return rounded_sum(x, y);
  }
}

template <class Value>
Value plain_sum(Semiring semiring, Value x, Value y) {
  if (semiring == Semiring::any_pair) return x;
  if (semiring == Semiring::or_and) return from_number<Value>(x != Value{} || y != Value{} ? 1 : 0);
  if constexpr (std::is_same_v<Value, std::uint8_t>) {
    return x != 0 || y != 0 ? 1 : 0;
  } else {
    if constexpr (!is_complex<Value>) {
      const bool least = semiring == Semiring::min_plus;
      if (least || semiring == Semiring::max_plus || semiring == Semiring::max_times) {
        if (x != x || (least ? y < x : x < y)) return y;
        return x;
      }
    }
    return rounded_sum(x, y);
  }
}

template <class Value>
double absolute(Value value) {
  return static_cast<double>(std::abs(value));
}
inline double absolute(std::uint8_t value) {
  return value;
}

/// An entry of the row that is expected.
template <class Value>
struct Expected {
  std::int64_t column;
  Value value;
  double allowed;  ///< difference
};

/// Row `row` of the product.
template <class Value, class Idx>
std::vector<Expected<Value>> expected_row(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                                          const ProductOptions<Idx>& options, std::int64_t row) {
  std::vector<std::pair<std::int64_t, Value>> products;
  for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
    const std::int64_t k = a.col_idx[i];
    for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j)
      products.emplace_back(b.col_idx[j],
                            plain_product(options.semiring, a.values[i], b.values[j]));
  }
  std::stable_sort(products.begin(), products.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<Expected<Value>> entries;
  for (const auto& [column, value] : products) {
    const double size = absolute(value);
    if (entries.empty() || entries.back().column != column) {
      entries.push_back({column, value, size});
    } else {
      entries.back().value = plain_sum(options.semiring, entries.back().value, value);
      entries.back().allowed += size;
    }
  }
  constexpr bool rounds = is_complex<Value> || std::is_floating_point_v<Value>;
  for (Expected<Value>& entry : entries) {
    if (!rounds || options.semiring != Semiring::plus_times) {
      entry.allowed = 0;
      continue;
    }
    using Real = decltype(std::abs(std::conditional_t<rounds, Value, double>{}));
    const auto terms = static_cast<double>(a.row_ptr[row + 1] - a.row_ptr[row]);
    entry.allowed = 2.0 * std::numeric_limits<Real>::epsilon() * (terms + 2) * entry.allowed +
                    terms * std::numeric_limits<Real>::denorm_min();
  }
  if (options.mask == nullptr) return entries;
  const auto begin = options.mask->col_idx.begin() + options.mask->row_ptr[row];
  const auto end = options.mask->col_idx.begin() + options.mask->row_ptr[row + 1];
  std::erase_if(entries, [&](const Expected<Value>& entry) {
    return std::binary_search(begin, end, static_cast<Idx>(entry.column)) == options.complement;
  });
  return entries;
}

template <class Found, class Value>
bool agrees(Found rounded, const Expected<Value>& expected) {
  const auto found = static_cast<Value>(rounded);
  if (found == expected.value) return true;
  if constexpr (std::is_integral_v<Value>) {
    return false;
  } else {
    // NaN equals NaN; of a complex number, any part.
    const auto is_nan = [](Value value) {
      return !(absolute(value) <= std::numeric_limits<double>::infinity());
    };
    if (is_nan(found) || is_nan(expected.value)) return is_nan(found) && is_nan(expected.value);
    if constexpr (Float16Like<Found>) {
      // Rounding keeps the order of numbers.
      const auto bound = [&](double allowed) {
        return float{Found(static_cast<float>(expected.value + allowed))};
      };
      return bound(-expected.allowed) <= found && found <= bound(expected.allowed);
    } else {
      return absolute(found - expected.value) <= expected.allowed;
    }
  }
}

/// check_product() with factors of a type that has arithmetic.
template <class Value, class Found, Index Idx>
void check_rows(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                const ProductOptions<Idx>& options, const Csr<Found, Idx>& c) {
  if (c.rows != a.rows || c.cols != b.cols || std::ssize(c.row_ptr) != c.rows + 1)
    throw Error(ErrorKind::check,
                fmt::format("C: found {} x {}, expected {} x {}", c.rows, c.cols, a.rows, b.cols));
  for (std::int64_t row = 0; row < c.rows; ++row) {
    const auto expected = expected_row(a, b, options, row);
    const std::int64_t begin = c.row_ptr[row];
    const std::int64_t entries = c.row_ptr[row + 1] - begin;
    for (std::int64_t i = 0; i < std::max(entries, std::ssize(expected)); ++i) {
      const auto place = [&](std::int64_t column) {
        return fmt::format("row {}, column {} of C", row + 1, column + 1);
      };
      if (i == entries || (i < std::ssize(expected) && expected[i].column < c.col_idx[begin + i]))
        throw Error(ErrorKind::check, place(expected[i].column) + ": found no entry, expected one");
      if (i == std::ssize(expected) || expected[i].column != c.col_idx[begin + i])
        throw Error(ErrorKind::check,
                    place(c.col_idx[begin + i]) + ": found an entry, expected none");
      if (!agrees(c.values[begin + i], expected[i]))
        throw Error(ErrorKind::check,
                    fmt::format("{}: found another value than expected, absolute values {} and {}",
                                place(expected[i].column),
                                absolute(static_cast<Value>(c.values[begin + i])),
                                absolute(expected[i].value)));
    }
  }
}

}  // namespace

template <Element Value, Index Idx>
void check_product(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                   const ProductOptions<Idx>& options, const Csr<Value, Idx>& c) {
  if constexpr (Float16Like<Value>) {
    const auto widened = [](const Csr<Value, Idx>& matrix) {
      Csr<float, Idx> wide{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, {}};
      for (const Value value : matrix.values) wide.values.push_back(float{value});
      return wide;
    };
    check_rows(widened(a), widened(b), options, c);
  } else {
    check_rows(a, b, options, c);
  }
}

template <Element Value, Index Idx>
void check_filtered(const Csr<Value, Idx>& product, const RowFilter& filter,
                    const Csr<Value, Idx>& c) {
  for (std::int64_t row = 0; row < product.rows; ++row) {
    std::vector<std::int64_t> kept;
    for (std::int64_t i = product.row_ptr[row]; i < product.row_ptr[row + 1]; ++i)
      if (magnitude_key(product.values[i]) >= least_key<Value>(filter.drop_below))
        kept.push_back(i);
    std::stable_sort(kept.begin(), kept.end(), [&](std::int64_t x, std::int64_t y) {
      return magnitude_key(product.values[x]) > magnitude_key(product.values[y]);
    });
    if (filter.keep_top && std::ssize(kept) > *filter.keep_top)
      kept.resize(static_cast<std::size_t>(*filter.keep_top));
    std::sort(kept.begin(), kept.end());
    const std::int64_t begin = c.row_ptr[row];
    const bool equal =
        c.row_ptr[row + 1] - begin == std::ssize(kept) &&
        std::equal(kept.begin(), kept.end(), c.col_idx.begin() + begin,
                   [&](std::int64_t i, Idx column) { return product.col_idx[i] == column; }) &&
        std::equal(kept.begin(), kept.end(), c.values.begin() + begin,
                   [&](std::int64_t i, const Value& value) {
                     return std::memcmp(&product.values[i], &value, sizeof value) == 0;
                   });
    if (!equal)
      throw Error(ErrorKind::check,
                  fmt::format("row {} of C: found other entries than the filter keeps", row + 1));
  }
}

#define INSTANTIATE_TYPES(Value, Idx)                                              \
  template void check_product(const Csr<Value, Idx>&, const Csr<Value, Idx>&,      \
                              const ProductOptions<Idx>&, const Csr<Value, Idx>&); \
  template void check_filtered(const Csr<Value, Idx>&, const RowFilter&, const Csr<Value, Idx>&);
#define INSTANTIATE(Value)               \
  INSTANTIATE_TYPES(Value, std::int32_t) \
  INSTANTIATE_TYPES(Value, std::int64_t)
SORTIE_SEMIRING_FOR_EACH_VALUE(INSTANTIATE)
SORTIE_SEMIRING_FOR_EACH_FLOAT16(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_TYPES

}  // namespace sortie::spgemm
