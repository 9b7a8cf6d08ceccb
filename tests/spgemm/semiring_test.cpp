// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/semiring_spgemm.hpp"
#include "tests/reference/semiring_product.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using matrices::Pattern;
using spgemm::ProductOptions;
using spgemm::RowFilter;
using spgemm::Semiring;

template <class Call>
void expect_refusal(ErrorKind kind, const std::string& part, const Call& call) {
  expect_error(call, kind, testing::HasSubstr(part));
}

template <class Value>
bool same_elements(const std::vector<Value>& x, const std::vector<Value>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Value)) == 0;
}

/// Random columns in every row, of small integers, so that every order gives the same sums.
template <class Value, class Idx>
Csr<Value, Idx> random_matrix(std::int64_t rows, std::int64_t cols, double density, unsigned seed) {
  std::mt19937 random(seed);
  const auto limit = static_cast<std::uint32_t>(density * 0xffffffff);
  Csr<Value, Idx> matrix{rows, cols, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < cols; ++column) {
      if (random() > limit) continue;
      matrix.col_idx.push_back(static_cast<Idx>(column));
      const auto number = static_cast<int>(random() % 9) - 4;
      if constexpr (std::is_same_v<Value, std::uint8_t>) {
        matrix.values.push_back(number > 0 ? 1 : 0);
      } else if constexpr (requires(Value value) { value.imag(); }) {
        matrix.values.emplace_back(number, static_cast<int>(random() % 5) - 2);
      } else {
        matrix.values.push_back(static_cast<Value>(number));
      }
    }
    matrix.row_ptr.push_back(matrix.nnz());
  }
  return matrix;
}

template <class T>
class SemiringTest : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  static std::vector<Semiring> semirings() {
    std::vector<Semiring> all;
    for (const Semiring semiring : spgemm::semirings())
      if (spgemm::has_semiring<Value>(semiring)) all.push_back(semiring);
    return all;
  }

  /// Compares the product with the reference, and values on its structure with the product.
  static void expect_product(const Matrix& a, const Matrix& b, const ProductOptions<Idx>& options) {
    const Matrix c = spgemm::multiply(context(), a, b, options);
    ASSERT_NO_THROW(matrices::validate(with_ones(c)));
    const Matrix expected = reference::multiply(a, b, options);
    ASSERT_EQ(c, expected);
    if (!options.filter.keeps_all()) return;
    EXPECT_NO_THROW(spgemm::check_product(a, b, options, c));
    Matrix again = c;
    for (Value& value : again.values) value = Value(7);
    spgemm::multiply_values(context(), a, b, options.semiring, again);
    EXPECT_EQ(again, c);
  }
  /// The same without mask, with a mask and with its complement.
  static void expect_products(const Matrix& a, const Matrix& b, const Matrix& mask) {
    const Pattern<Idx> pattern = matrices::pattern_of(mask);
    for (const Semiring semiring : semirings()) {
      SCOPED_TRACE(std::string(spgemm::name(semiring)));
      expect_product(a, b, {semiring});
      expect_product(a, b, {semiring, &pattern});
      expect_product(a, b, {semiring, &pattern, true});
    }
  }
  static void expect_filtered(const Matrix& a, const Matrix& b, const RowFilter& filter) {
    const Pattern<Idx> mask =
        matrices::pattern_of(random_matrix<Value, Idx>(a.rows, b.cols, 0.4, 9));
    for (const Semiring semiring : semirings()) {
      SCOPED_TRACE(std::string(spgemm::name(semiring)));
      expect_product(a, b, {semiring, nullptr, false, filter});
      expect_product(a, b, {semiring, &mask, false, filter});
      expect_product(a, b, {semiring, &mask, true, filter});
    }
  }
  static Csr<double, Idx> with_ones(const Matrix& matrix) {
    return matrices::with_ones<double>(matrices::pattern_of(matrix));
  }
  static Matrix random(std::int64_t rows, std::int64_t cols, double density, unsigned seed) {
    return random_matrix<Value, Idx>(rows, cols, density, seed);
  }
};

// Each type of values, and each type of columns; all pairs would take minutes to compile.
using ElementTypes = testing::Types<
    Types<std::uint8_t, std::int32_t>, Types<std::int32_t, std::int64_t>,
    Types<std::int64_t, std::int32_t>, Types<Float16, std::int32_t>, Types<BFloat16, std::int64_t>,
    Types<float, std::int32_t>, Types<double, std::int32_t>, Types<double, std::int64_t>,
    Types<std::complex<float>, std::int64_t>, Types<std::complex<double>, std::int32_t>>;
TYPED_TEST_SUITE(SemiringTest, ElementTypes);

TYPED_TEST(SemiringTest, SquareMatrices) {
  const auto a = this->random(60, 60, 0.1, 1);
  this->expect_products(a, a, this->random(60, 60, 0.2, 2));
  this->expect_products(a, this->random(60, 60, 0.3, 3), this->random(60, 60, 0.02, 4));
}

TYPED_TEST(SemiringTest, RectangularMatrices) {
  this->expect_products(this->random(1, 70, 0.9, 1), this->random(70, 300, 0.5, 2),
                        this->random(1, 300, 0.5, 3));
  this->expect_products(this->random(90, 3, 0.5, 4), this->random(3, 1, 0.7, 5),
                        this->random(90, 1, 0.5, 6));
}

TYPED_TEST(SemiringTest, MatricesWithoutEntriesOrRowsOrColumns) {
  this->expect_products(this->random(0, 0, 1, 1), this->random(0, 0, 1, 1),
                        this->random(0, 0, 1, 1));
  this->expect_products(this->random(5, 0, 1, 1), this->random(0, 4, 1, 1),
                        this->random(5, 4, 1, 1));
  this->expect_products(this->random(5, 6, 0, 1), this->random(6, 4, 1, 1),
                        this->random(5, 4, 1, 1));
  this->expect_products(this->random(5, 6, 1, 1), this->random(6, 4, 1, 1),
                        this->random(5, 4, 0, 1));
}

// Rows of the mask that are short beside the rows of B, which are searched.
TYPED_TEST(SemiringTest, FewColumnsOfLongRows) {
  this->expect_products(this->random(20, 30, 0.5, 1), this->random(30, 3000, 0.8, 2),
                        this->random(20, 3000, 0.001, 3));
}

// So many columns that no sum for each is kept.
TYPED_TEST(SemiringTest, FarMoreColumnsThanProducts) {
  using Idx = typename TypeParam::Idx;
  auto b = this->random(30, 40, 0.3, 2);
  auto mask = this->random(20, 40, 0.4, 3);
  for (auto* matrix : {&b, &mask}) {
    matrix->cols = 50'000'000;
    for (Idx& column : matrix->col_idx) column *= 1'000'000;
  }
  this->expect_products(this->random(20, 30, 0.3, 1), b, mask);
}

TYPED_TEST(SemiringTest, EntriesOfRowsAreFiltered) {
  const auto a = this->random(50, 40, 0.3, 1);
  const auto b = this->random(40, 60, 0.3, 2);
  this->expect_filtered(a, b, {.keep_top = 1});
  this->expect_filtered(a, b, {.keep_top = 7});
  this->expect_filtered(a, b, {.keep_top = 1000});
  this->expect_filtered(a, b, {.drop_below = 2.5});
  this->expect_filtered(a, b, {.keep_top = 5, .drop_below = 3});
  this->expect_filtered(a, b, {.drop_below = 1e30});
}

TYPED_TEST(SemiringTest, SameBitsForAnyNumberOfBlocks) {
  using Value = typename TypeParam::Value;
  if constexpr (!std::is_integral_v<Value>) {
    auto a = this->random(2000, 300, 0.1, 1);
    auto b = this->random(300, 2000, 0.1, 2);
    for (auto* matrix : {&a, &b}) {
      for (Value& value : matrix->values) {
        if constexpr (Float16Like<Value>) {
          value = Value(float{value} / 3);
        } else {
          value /= Value(3);
        }
      }
    }
    const auto mask = matrices::pattern_of(this->random(2000, 2000, 0.05, 3));
    const ProductOptions<typename TypeParam::Idx> options{Semiring::plus_times, &mask};
    const auto c = spgemm::multiply(context(), a, b, options);
    EXPECT_NO_THROW(spgemm::check_product(a, b, options, c));
    EXPECT_TRUE(same_elements(c.values, spgemm::multiply(context(), a, b, options).values));
    Context on_host = context();
    on_host.backend = Backend::host;
    EXPECT_TRUE(same_elements(c.values, spgemm::multiply(on_host, a, b, options).values));
  }
}

TYPED_TEST(SemiringTest, RefusesSemiringsThatTheTypeHasNot) {
  const auto a = this->random(3, 3, 1, 1);
  for (const Semiring semiring : spgemm::semirings()) {
    if (spgemm::has_semiring<typename TypeParam::Value>(semiring)) continue;
    expect_refusal(ErrorKind::usage, std::string(spgemm::name(semiring)) + " of",
                   [&] { (void)spgemm::multiply(context(), a, a, {semiring}); });
  }
}

TYPED_TEST(SemiringTest, RefusesOtherShapes) {
  const auto a = this->random(3, 4, 1, 1);
  const auto b = this->random(4, 5, 1, 1);
  const auto mask = matrices::pattern_of(this->random(3, 4, 1, 1));
  using Options = ProductOptions<typename TypeParam::Idx>;
  expect_refusal(ErrorKind::input, "found a mask of 3 x 4, expected one of 3 x 5", [&] {
    (void)spgemm::multiply(context(), a, b, Options{Semiring::any_pair, &mask});
  });
  expect_refusal(ErrorKind::input, "found A of 3 x 4 and B of 3 x 4",
                 [&] { (void)spgemm::multiply(context(), a, a, Options{Semiring::any_pair}); });
  auto c = a;
  expect_refusal(ErrorKind::input, "found a structure of 3 x 4, expected one of 3 x 5",
                 [&] { spgemm::multiply_values(context(), a, b, Semiring::any_pair, c); });
}

TEST(Semiring, NamesAreParsed) {
  for (const Semiring semiring : spgemm::semirings())
    EXPECT_EQ(spgemm::parse_semiring(spgemm::name(semiring)), semiring);
  expect_refusal(ErrorKind::usage, "semiring: found \"min_plus\", expected one of plus-times,",
                 [] { (void)spgemm::parse_semiring("min_plus"); });
}

TEST(Semiring, TypesHaveTheDocumentedOnes) {
  EXPECT_FALSE(spgemm::has_semiring<std::uint8_t>(Semiring::min_plus));
  EXPECT_FALSE(spgemm::has_semiring<std::complex<float>>(Semiring::max_plus));
  EXPECT_TRUE(spgemm::has_semiring<std::uint8_t>(Semiring::plus_times));
  EXPECT_TRUE(spgemm::has_semiring<std::int32_t>(Semiring::max_times));
}

/// A product of a full row and single entries: entry i is op(i).
Csr<double> row_of(const std::vector<double>& values) {
  Csr<double> row{1, std::ssize(values), {0, std::ssize(values)}, {}, values};
  for (int i = 0; i < static_cast<int>(values.size()); ++i) row.col_idx.push_back(i);
  return row;
}

TEST(Semiring, LeastAndGreatestIgnoreNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Csr<double> a = row_of({nan, 1, 2});
  Csr<double> b{3, 2, {0, 2, 3, 4}, {0, 1, 0, 0}, {0, 0, 0, 0}};
  const Csr<double> least = spgemm::multiply(context(), a, b, {Semiring::min_plus});
  EXPECT_EQ(least.values.at(0), 1);
  EXPECT_TRUE(std::isnan(least.values.at(1)));
  EXPECT_EQ(spgemm::multiply(context(), a, b, {Semiring::max_plus}).values.at(0), 2);
}

TEST(Semiring, SumsOf16BitsAreRoundedOnce) {
  constexpr int terms = 3000;
  const Csr<Float16> a{1, terms, {0, terms}, {}, std::vector(terms, Float16(1))};
  Csr<Float16> b{terms, 1, {}, std::vector(terms, 0), std::vector(terms, Float16(1.5F))};
  Csr<Float16> row = a;
  row.col_idx.resize(terms);
  std::iota(row.col_idx.begin(), row.col_idx.end(), 0);
  b.row_ptr.resize(terms + 1);
  std::iota(b.row_ptr.begin(), b.row_ptr.end(), 0);
  EXPECT_EQ(float{spgemm::multiply(context(), row, b, {}).values.at(0)}, 4500);
  b.values.assign(terms, Float16(100));
  EXPECT_EQ(float{spgemm::multiply(context(), row, b, {}).values.at(0)},
            std::numeric_limits<float>::infinity());
}

TEST(Semiring, IntegersWrapAround) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const Csr<std::int64_t> a{1, 1, {0, 1}, {0}, {most}};
  EXPECT_EQ(spgemm::multiply(context(), a, a, {Semiring::min_plus}).values.at(0), -2);
}

TEST(RowFilter, KeepsNanAndLowerColumnsOfEqualValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Csr<double> row = row_of({-3, 2, nan, 3, -3, 1});
  spgemm::filter_rows({}, row, {.keep_top = 3});
  EXPECT_EQ(row.col_idx, (std::vector<std::int32_t>{0, 2, 3}));
  row = row_of({-3, 2, nan, -0.5});
  spgemm::filter_rows({}, row, {.drop_below = 2});
  EXPECT_EQ(row.col_idx, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(RowFilter, MagnitudesOfTheLeastIntegerAndOfComplexNumbers) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  Csr<std::int64_t> integers{1, 3, {0, 3}, {0, 1, 2}, {least + 1, least, 5}};
  spgemm::filter_rows({}, integers, {.keep_top = 1});
  EXPECT_EQ(integers.col_idx, std::vector<std::int32_t>{1});
  Csr<std::complex<double>> numbers{
      1, 4, {0, 4}, {0, 1, 2, 3}, {{3, 4}, {0, 5.5}, {1e308, 1e308}, {1e-320, 0}}};
  spgemm::filter_rows({}, numbers, {.keep_top = 2});
  EXPECT_EQ(numbers.col_idx, (std::vector<std::int32_t>{1, 2}));
}

TEST(RowFilter, RefusesOthers) {
  Csr<double> row = row_of({1});
  expect_refusal(ErrorKind::usage, "found 0, expected at least 1",
                 [&] { spgemm::filter_rows({}, row, {.keep_top = 0}); });
  expect_refusal(ErrorKind::usage, "found -1, expected at least 0",
                 [&] { spgemm::filter_rows({}, row, {.drop_below = -1}); });
  expect_refusal(ErrorKind::usage, "found nan, expected at least 0", [&] {
    spgemm::filter_rows({}, row, {.drop_below = std::numeric_limits<double>::quiet_NaN()});
  });
}

TEST(Semiring, CheckFindsWrongEntries) {
  const auto a = random_matrix<double, std::int32_t>(20, 20, 0.3, 1);
  const ProductOptions<std::int32_t> options{Semiring::min_plus};
  const Csr<double> c = spgemm::multiply(context(), a, a, options);
  Csr<double> wrong = c;
  wrong.values[5] += 1;
  expect_refusal(ErrorKind::check, "found another value",
                 [&] { spgemm::check_product(a, a, options, wrong); });
  wrong = c;
  wrong.col_idx.pop_back();
  wrong.values.pop_back();
  wrong.row_ptr.back() -= 1;
  expect_refusal(ErrorKind::check, "found no entry",
                 [&] { spgemm::check_product(a, a, options, wrong); });
}

}  // namespace
}  // namespace sortie::test
