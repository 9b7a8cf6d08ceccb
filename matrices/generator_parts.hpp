// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/host_memory.hpp"
#include "core/random.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"

/// Internal to matrices: building blocks of the generators.
namespace sortie::matrices::detail {

inline constexpr std::int64_t rows_per_task = 1024;

inline void require(bool holds, const std::string& found, const std::string& expected) {
  if (holds) return;
  throw Error(ErrorKind::usage,
              fmt::format("matrix generator: found {}, expected {}", found, expected));
}

template <Index Idx>
void require_size(std::int64_t size, std::string_view what) {
  require(size >= 0 && size <= std::numeric_limits<Idx>::max(), fmt::format("{} {}", size, what),
          fmt::format("0 to {}", std::numeric_limits<Idx>::max()));
}

/// Uniform in [-1, 1): a multiple of 2^-23 for float and of 2^-52 for double, so nothing is
/// rounded.
template <Scalar Value>
Value random_value(Random& random) {
  if constexpr (std::is_same_v<Value, float>) {
    return static_cast<float>(random.next() >> 40) * 0x1p-23F - 1.0F;
  } else if constexpr (std::is_same_v<Value, double>) {
    return static_cast<double>(random.next() >> 11) * 0x1p-52 - 1.0;
  } else {
    const double real = random_value<double>(random);
    return {real, random_value<double>(random)};
  }
}

/// `count` distinct numbers below `bound` in ascending order; every such set is equally likely.
/// Draws numbers until enough of them are distinct.
inline std::vector<std::int64_t> draw_distinct(Random& random, std::int64_t count,
                                               std::int64_t bound) {
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  while (std::ssize(drawn) < count) {
    while (std::ssize(drawn) < count) {
      drawn.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound))));
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
  return drawn;
}

/// draw_distinct() for any count: if most columns are required, draws the complement.
inline std::vector<std::int64_t> draw_columns(Random& random, std::int64_t count,
                                              std::int64_t cols) {
  if (count <= cols / 2) return draw_distinct(random, count, cols);
  const std::vector<std::int64_t> missing = draw_distinct(random, cols - count, cols);
  std::vector<std::int64_t> all(static_cast<std::size_t>(cols));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  std::set_difference(all.begin(), all.end(), missing.begin(), missing.end(),
                      std::back_inserter(drawn));
  return drawn;
}

/// Builds a matrix with the given row lengths; fill(row, put) calls put(col, value) for the entries
/// of a row in order.
template <Scalar Value, Index Idx, class Length, class Fill>
Csr<Value, Idx> build_rows(std::int64_t rows, std::int64_t cols, const Length& length,
                           const Fill& fill) {
  Csr<Value, Idx> csr{.rows = rows, .cols = cols, .row_ptr = {}, .col_idx = {}, .values = {}};
  require_memory({}, "a generated matrix", bytes_of({{rows, sizeof(std::int64_t)}}));
  csr.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  std::int64_t nnz = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (__builtin_add_overflow(nnz, length(row), &nnz)) break;
    csr.row_ptr[static_cast<std::size_t>(row) + 1] = nnz;
  }
  require(nnz >= 0, "more than 2^63 entries", "fewer");
  require_memory({}, "a generated matrix", bytes_of({{nnz, sizeof(Value) + sizeof(Idx)}}));
  csr.col_idx.resize(static_cast<std::size_t>(nnz));
  csr.values.resize(static_cast<std::size_t>(nnz));
  for_each_range(rows, rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t begin = csr.row_ptr[static_cast<std::size_t>(row)];
      Idx* cols_of_row = csr.col_idx.data() + begin;
      Value* values = csr.values.data() + begin;
      fill(row, [&](std::int64_t col, Value value) {
        *cols_of_row++ = static_cast<Idx>(col);
        *values++ = value;
      });
    }
  });
  return csr;
}

/// Row lengths in 1..maximum with P(l) ~ l^-exponent.
///
/// The distribution is stored in multiples of 2^-32. Differences in the last bit of pow between
/// mathematical libraries therefore do not change the generated lengths.
class PowerLaw {
 public:
  PowerLaw(double exponent, std::int64_t maximum) {
    std::vector<double> sums;
    double sum = 0;
    for (std::int64_t length = 1; length <= maximum; ++length) {
      sum += std::pow(static_cast<double>(length), -exponent);
      sums.push_back(sum);
    }
    for (const double partial : sums) {
      thresholds_.push_back(static_cast<std::uint64_t>(std::llround(partial / sum * 0x1p32)));
    }
  }

  std::int64_t draw(Random& random) const {
    const std::uint64_t point = random.next() >> 32;
    const auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), point);
    return above - thresholds_.begin() + 1;
  }

 private:
  std::vector<std::uint64_t> thresholds_;  // the last one is 2^32, above every point
};

}  // namespace sortie::matrices::detail
