// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "matrices/generators.hpp"
#include "sortie/spgemm.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using matrices::Pattern;
using matrices::pattern_of;
using spgemm::multiply_structure;

using Complex = std::complex<double>;

template <class T>
class Structures : public testing::Test {};
TYPED_TEST_SUITE(Structures, AllTypes);

/// The structure by every algorithm of the backend is that of the product.
template <class Value, class Idx>
void expect_structures(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const Pattern<Idx> expected = pattern_of(reference_product(a, b));
  const Pattern<Idx> pattern_a = pattern_of(a);
  const Pattern<Idx> pattern_b = pattern_of(b);
  EXPECT_EQ(multiply_structure(context(), pattern_a, pattern_b), expected);
  for (const Algorithm algorithm : spgemm::algorithms(backend())) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    try {
      const auto c = multiply_structure(context(), pattern_a, pattern_b, algorithm);
      EXPECT_EQ(c, expected);
      EXPECT_NO_THROW(spgemm::compare(c, expected));
    } catch (const Error& error) {
      EXPECT_TRUE(is_library(algorithm) && error.kind() == ErrorKind::unavailable) << error.what();
    }
  }
}

TYPED_TEST(Structures, OfShortMiddleAndLongRows) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  expect_structures(matrices::power_law<Value, Idx>(300, 500, 1.2, 200, 1),
                    matrices::erdos_renyi<Value, Idx>(500, 700, 20, 2));
  expect_structures(matrices::erdos_renyi<Value, Idx>(200, 300, 4, 3),
                    matrices::erdos_renyi<Value, Idx>(300, 100'000, 3, 4));
  expect_structures(matrices::erdos_renyi<Value, Idx>(1, 900, 900, 5),
                    matrices::erdos_renyi<Value, Idx>(900, 800, 100, 6));
}

TYPED_TEST(Structures, OfNothing) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  expect_structures(Csr<Value, Idx>{}, Csr<Value, Idx>{});
  expect_structures(matrices::erdos_renyi<Value, Idx>(5, 3, 0, 1),
                    matrices::erdos_renyi<Value, Idx>(3, 4, 2, 1));
  expect_structures(matrices::erdos_renyi<Value, Idx>(5, 3, 2, 1),
                    matrices::erdos_renyi<Value, Idx>(3, 0, 0, 1));
}

TYPED_TEST(Structures, SquareOfTheSameObject) {
  using Idx = typename TypeParam::Idx;
  const auto a = matrices::rmat<typename TypeParam::Value, Idx>(9, 6, 1);
  const Pattern<Idx> pattern = pattern_of(a);
  EXPECT_EQ(multiply_structure(context(), pattern, pattern), pattern_of(reference_product(a, a)));
  EXPECT_EQ(spgemm::count_products(pattern, pattern), spgemm::count_products(a, a));
}

TEST(Structure, KeepsToTheBudgetWithTheSameResult) {
  if (backend() != Backend::host) GTEST_SKIP() << "the product on columns alone runs on the host";
  const auto a = pattern_of(matrices::erdos_renyi<float>(3000, 3000, 10, 1));
  Context limited = context();
  limited.memory_budget = 4 << 10;  // one thread's marks and columns: 1.2 kB
  EXPECT_EQ(multiply_structure(limited, a, a), multiply_structure(context(), a, a));
  limited.memory_budget = 256;
  expect_error([&] { (void)multiply_structure(limited, a, a); }, ErrorKind::out_of_memory,
               testing::HasSubstr("the 100 products of row 1 of C"));
}

// More columns than bits could be had for.
TEST(Structure, ColumnsBeyondMemory) {
  const auto a = matrices::erdos_renyi<float, std::int64_t>(60, 50, 5, 1);
  auto b = matrices::erdos_renyi<float, std::int64_t>(50, 1000, 8, 2);
  auto expected = reference_product(a, b);
  for (auto* const matrix : {&b, &expected}) {
    matrix->cols = std::int64_t{1} << 60;
    for (std::int64_t& column : matrix->col_idx) column <<= 50;
  }
  EXPECT_EQ(multiply_structure(context(), pattern_of(a), pattern_of(b)), pattern_of(expected));
}

TEST(Structure, ShapesThatDoNotConform) {
  const auto a = pattern_of(matrices::erdos_renyi<float>(3, 5, 2, 1));
  expect_error(
      [&] { (void)multiply_structure(context(), a, a); }, ErrorKind::input,
      "A * B: found A of 3 x 5 and B of 3 x 5, expected as many columns in A as rows in B");
}

TEST(Structure, DifferencesAreFound) {
  const Pattern<> expected{2, 3, {0, 2, 3}, {0, 2, 1}};
  const auto expect_fault = [&](const Pattern<>& result, const char* message) {
    expect_error([&] { spgemm::compare(result, expected); }, ErrorKind::check, message);
  };
  expect_fault({2, 4, {0, 2, 3}, {0, 2, 1}}, "C: shape: found 2 x 4, expected 2 x 3");
  expect_fault({2, 3, {0, 2, 3}, {0, 1, 1}}, "C: row 1: found column 2, expected column 3");
  expect_fault({2, 3, {0, 2, 2}, {0, 2}}, "C: row 2: found 0 entries, expected 1 entries");
}

/// C = [1 1] * [x; -x] in every column: all sums cancel but those of the last row.
template <class Value>
std::pair<Csr<Value>, Csr<Value>> cancelling_factors(Value x) {
  return {from_entries<Value, std::int32_t>(3, 2,
                                            {{0, 0, Value(1)}, {0, 1, Value(1)}, {2, 0, Value(1)}}),
          from_entries<Value, std::int32_t>(2, 2, {{0, 0, x}, {0, 1, x}, {1, 0, -x}, {1, 1, -x}})};
}

template <class Value>
void expect_zeros_are_kept_and_dropped(Value x) {
  const auto [a, b] = cancelling_factors(x);
  for (const Algorithm algorithm : spgemm::algorithms(backend())) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    Csr<Value> c;
    try {
      c = spgemm::multiply(context(), a, b, algorithm);
    } catch (const Error& error) {
      EXPECT_TRUE(is_library(algorithm) && error.kind() == ErrorKind::unavailable) << error.what();
      continue;
    }
    EXPECT_EQ(c.nnz(), 4);
    EXPECT_EQ(pattern_of(c), multiply_structure(context(), pattern_of(a), pattern_of(b)));
    EXPECT_EQ(matrices::drop_zeros(c), 2);
    EXPECT_EQ(c, (Csr<Value>{3, 2, {0, 0, 0, 2}, {0, 1}, {x, x}}));
    EXPECT_NO_THROW(spgemm::compare_without_zeros(c, reference_product(a, b), a, b, 0.0));
  }
}

TEST(DropZerosOfProducts, CancellingSums) {
  expect_zeros_are_kept_and_dropped(3.0F);
  expect_zeros_are_kept_and_dropped(1e-300);
  expect_zeros_are_kept_and_dropped(Complex(2, -7));
}

TEST(CompareWithoutZeros, FindsWhatIsWrong) {
  const auto [a, b] = cancelling_factors(3.0);
  const Csr<double> expected = reference_product(a, b);
  const auto expect_fault = [&, &a = a, &b = b](const Csr<double>& result, const char* message) {
    expect_error([&] { spgemm::compare_without_zeros(result, expected, a, b, 1e-15); },
                 ErrorKind::check, testing::StartsWith(message));
  };
  expect_fault({3, 2, {0, 1, 1, 3}, {0, 0, 1}, {0, 3, 3}},
               "C: row 1, column 1: found zero, expected no entry for it");
  expect_fault({3, 2, {0, 0, 1, 3}, {0, 0, 1}, {1, 3, 3}},
               "C: row 2, column 1: found an entry, expected none");
  expect_fault({3, 2, {0, 0, 0, 1}, {1}, {3}}, "C: row 3, column 1: found 0, expected 3");
  expect_fault({3, 2, {0, 0, 0, 2}, {0, 1}, {3, 4}}, "C: row 3, column 2: found 4, expected 3");
  expect_fault({2, 2, {0, 0, 0}, {}, {}}, "C: shape: found 2 x 2, expected 3 x 2");
}

// A sum that rounding leaves away from zero in one algorithm and not in the other.
TEST(CompareWithoutZeros, LetsRoundingDecide) {
  const auto a = from_entries<double, std::int32_t>(1, 3, {{0, 0, 1.0}, {0, 1, 1.0}, {0, 2, 1.0}});
  const auto b = from_entries<double, std::int32_t>(3, 1, {{0, 0, 0.1}, {1, 0, 0.2}, {2, 0, -0.3}});
  const Csr<double> expected = reference_product(a, b);
  EXPECT_NE(expected.values.at(0), 0);
  const Csr<double> dropped{1, 1, {0, 0}, {}, {}};
  EXPECT_NO_THROW(spgemm::compare_without_zeros(dropped, expected, a, b, 1e-15));
  expect_error([&] { spgemm::compare_without_zeros(dropped, expected, a, b, 1e-17); },
               ErrorKind::check, testing::StartsWith("C: row 1, column 1: found 0"));
}

}  // namespace
}  // namespace sortie::test
