// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "matrices/generators.hpp"
#include "sortie/spgemm_check.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using spgemm::ProductCheck;
using testing::StartsWith;

template <class T>
class Check : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  /// The row of C with the most entries.
  static std::int64_t longest_row_at(const Matrix& c) {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < c.rows; ++row) {
      if (c.row_ptr[row + 1] - c.row_ptr[row] > c.row_ptr[longest + 1] - c.row_ptr[longest])
        longest = row;
    }
    return longest;
  }

  Matrix a_ = matrices::power_law<Value, Idx>(3000, 2000, 1.3, 500, 1);
  Matrix b_ = matrices::power_law<Value, Idx>(2000, 2500, 1.3, 500, 2);
};
TYPED_TEST_SUITE(Check, AllTypes);

TYPED_TEST(Check, EveryAlgorithmOfTheHostHasTheSameBits) {
  const ProductCheck check(Context{}, this->a_, this->b_, baseline("reference"));
  for (const Algorithm by : {baseline("eigen"), Algorithm::row_wise, Algorithm::essc}) {
    const ProductCheck other(Context{}, this->a_, this->b_, by);
    EXPECT_TRUE(same_bits(other.expected(), check.expected())) << spgemm::name(by);
    EXPECT_NO_THROW(other.compare(check.expected()));
  }
}

// A wrong entry is found; one that is off by a rounding or two is none.
TYPED_TEST(Check, LetsRoundingsPassAndNothingElse) {
  using Value = typename TypeParam::Value;
  using Real = decltype(std::abs(Value{}));
  const ProductCheck check(Context{}, this->a_, this->b_, baseline("eigen"));
  auto rounded = check.expected();
  for (Value& value : rounded.values) value *= Real(1) + std::numeric_limits<Real>::epsilon();
  EXPECT_NO_THROW(check.compare(rounded));
  auto wrong = check.expected();
  const std::int64_t row = this->longest_row_at(wrong);
  const std::int64_t entry = wrong.row_ptr[row];
  wrong.values[entry] += Real(1000);
  expect_error([&] { check.compare(wrong); }, ErrorKind::check,
               StartsWith("C: row " + std::to_string(row + 1) + ", column " +
                          std::to_string(wrong.col_idx[entry] + 1) + ": found "));
}

TYPED_TEST(Check, NamesTheFirstFaultOfManyByItsRowInTheWhole) {
  const ProductCheck check(Context{}, this->a_, this->b_, Algorithm::row_wise, 500);
  auto wrong = check.expected();
  ASSERT_GT(wrong.row_ptr[1], 0);
  for (auto& value : wrong.values) value += 1000;
  const std::string column = std::to_string(wrong.col_idx[0] + 1);
  expect_error([&] { check.compare(wrong); }, ErrorKind::check,
               StartsWith("C: row 501, column " + column + ": found "));
  auto elsewhere = check.expected();
  elsewhere.col_idx[0] += 1;
  expect_error([&] { check.compare(elsewhere); }, ErrorKind::check, StartsWith("C: row 501: "));
}

TYPED_TEST(Check, MatricesWithoutRowsOrEntries) {
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    return from_entries<typename TypeParam::Value, typename TypeParam::Idx>(rows, cols, {});
  };
  for (const auto& [rows, inner, cols] :
       {std::tuple{0, 0, 0}, std::tuple{3, 0, 3}, std::tuple{0, 3, 0}, std::tuple{9, 4, 7}}) {
    const ProductCheck check(Context{}, empty(rows, inner), empty(inner, cols), baseline("eigen"));
    EXPECT_NO_THROW(check.compare(empty(rows, cols)));
    EXPECT_THROW(check.compare(empty(rows + 1, cols)), Error);
  }
}

TYPED_TEST(Check, ZerosMayBeDroppedWhereAsked) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto a = from_entries<Value, Idx>(1, 2, {{0, 0, Value(1)}, {0, 1, Value(1)}});
  const auto b =
      from_entries<Value, Idx>(2, 2, {{0, 0, Value(3)}, {0, 1, Value(4)}, {1, 0, Value(-3)}});
  const ProductCheck check(Context{}, a, b, baseline("eigen"));
  auto dropped = check.expected();
  EXPECT_EQ(matrices::drop_zeros(dropped), 1);
  EXPECT_NO_THROW(check.compare_without_zeros(dropped));
  EXPECT_THROW(check.compare(dropped), Error);
  EXPECT_THROW(check.compare_without_zeros(check.expected()), Error);
}

// f32 sums of thousands of products in two orders: a bound that knows nothing of their number is
// either too tight for these or too lax for short rows.
TEST(CheckOfFloats, BoundGrowsWithTheNumberOfProducts) {
  const auto row = matrices::erdos_renyi<float>(1, 200'000, 200'000, 3);
  const auto column = matrices::transpose(matrices::erdos_renyi<float>(1, 200'000, 200'000, 4));
  const ProductCheck check(Context{}, row, column, baseline("eigen"));
  auto backwards = check.expected();
  float sum = 0;
  for (std::size_t i = row.values.size(); i-- > 0;) sum += row.values[i] * column.values[i];
  backwards.values[0] = sum;
  EXPECT_NO_THROW(check.compare(backwards));

  const auto one = from_entries<float, std::int32_t>(1, 1, {{0, 0, 1.F}});
  const ProductCheck strict(Context{}, one, one, baseline("eigen"));
  auto off = strict.expected();
  off.values[0] = 1.00001F;
  EXPECT_THROW(strict.compare(off), Error);
}

TEST(CheckOfProducts, ShapesThatDoNotConform) {
  const auto a = matrices::erdos_renyi<double>(3, 5, 2, 1);
  expect_error([&] { ProductCheck(Context{}, a, a, baseline("eigen")); }, ErrorKind::input,
               StartsWith("A * B: found A of 3 x 5 and B of 3 x 5"));
}

}  // namespace
}  // namespace sortie::test
