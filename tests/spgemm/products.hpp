// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {

using matrices::Csr;
using spgemm::Algorithm;

/// A pair of types that SpGEMM is instantiated for, as one test parameter.
template <class ValueType, class IndexType>
struct Types {
  using Value = ValueType;
  using Idx = IndexType;
};

using AllTypes = testing::Types<Types<float, std::int32_t>, Types<float, std::int64_t>,
                                Types<double, std::int32_t>, Types<double, std::int64_t>,
                                Types<std::complex<double>, std::int32_t>,
                                Types<std::complex<double>, std::int64_t>>;

/// A matrix from (row, column, value) with rows and columns in order.
template <class Value, class Idx>
Csr<Value, Idx> from_entries(
    std::int64_t rows, std::int64_t cols,
    const std::vector<std::tuple<std::int64_t, std::int64_t, Value>>& list) {
  Csr<Value, Idx> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.row_ptr.assign(rows + 1, 0);
  for (const auto& [row, column, value] : list) {
    ++matrix.row_ptr[row + 1];
    matrix.col_idx.push_back(static_cast<Idx>(column));
    matrix.values.push_back(value);
  }
  for (std::int64_t row = 0; row < rows; ++row) matrix.row_ptr[row + 1] += matrix.row_ptr[row];
  return matrix;
}

/// Relative error that sums of at most `terms` products may have in any order of summation; see
/// spgemm::compare().
template <class Value>
double rounding_tolerance(std::int64_t terms) {
  using Real = decltype(std::abs(Value{}));
  return 4.0 * static_cast<double>(terms) * std::numeric_limits<Real>::epsilon();
}

template <class Value, class Idx>
std::int64_t longest_row(const Csr<Value, Idx>& matrix) {
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    longest = std::max(longest, matrix.row_ptr[row + 1] - matrix.row_ptr[row]);
  }
  return longest;
}

/// Equality of bits, where operator== would take -0.0 for 0.0.
template <class Value, class Idx>
bool same_bits(const Csr<Value, Idx>& x, const Csr<Value, Idx>& y) {
  return x.rows == y.rows && x.cols == y.cols && x.row_ptr == y.row_ptr && x.col_idx == y.col_idx &&
         (x.values.empty() ||
          std::memcmp(x.values.data(), y.values.data(), x.values.size() * sizeof(Value)) == 0);
}

/// A baseline by its name on the command line.
inline Algorithm baseline(std::string_view name) {
  return spgemm::parse_algorithm(name);
}

template <class Value, class Idx>
Csr<Value, Idx> reference_product(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  Context context;
  context.backend = Backend::host;
  return spgemm::multiply(context, a, b, baseline("reference"));
}

inline bool is_cusparse(Algorithm algorithm) {
  return spgemm::name(algorithm).substr(0, 8) == "cusparse";
}

/// True for algorithms that are not Sortie's own and sum in an order of their own.
inline bool is_library(Algorithm algorithm) {
  return is_cusparse(algorithm) || algorithm == baseline("cusp") ||
         algorithm == baseline("kokkos-kernels") || algorithm == baseline("graphblas");
}

/// Multiplies by `algorithm` on the backend of this run and checks the result against `expected`:
/// bit by bit on the host, within the bound of rounding on CUDA, where Sortie's own algorithms must
/// give the same bits again on a second run.
template <class Value, class Idx>
void expect_product(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                    const Csr<Value, Idx>& expected, Algorithm algorithm) {
  SCOPED_TRACE(std::string(spgemm::name(algorithm)));
  Csr<Value, Idx> c;
  try {
    c = spgemm::multiply(context(), a, b, algorithm);
  } catch (const Error& error) {
    // Libraries do not have every algorithm for every type; Sortie's own have no such excuse.
    const bool excused = is_library(algorithm) && error.kind() == ErrorKind::unavailable;
    EXPECT_TRUE(excused) << error.what();
    return;
  }
  EXPECT_NO_THROW(matrices::validate(c));
  EXPECT_NO_THROW(spgemm::compare(c, expected, a, b, rounding_tolerance<Value>(longest_row(a))));
  if (is_library(algorithm)) return;
  if (backend() == Backend::host) {
    EXPECT_TRUE(same_bits(c, expected));
  } else {
    EXPECT_TRUE(same_bits(c, spgemm::multiply(context(), a, b, algorithm)));
  }
}

/// expect_product() for every algorithm of the backend and for the automatic choice.
template <class Value, class Idx>
void expect_products(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const Csr<Value, Idx> expected = reference_product(a, b);
  expect_product(a, b, expected, Algorithm::automatic);
  for (const Algorithm algorithm : spgemm::algorithms(backend())) {
    expect_product(a, b, expected, algorithm);
  }
}

}  // namespace sortie::test
