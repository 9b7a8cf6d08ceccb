// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

namespace sortie::test {
namespace {

using Matrix = Csr<double, std::int32_t>;

// compare() does not depend on a backend; one run of it is enough.
class Compare : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::host) GTEST_SKIP() << "runs on the host";
  }

  Matrix expected =
      from_entries<double, std::int32_t>(3, 4, {{0, 1, 100.0}, {0, 3, 1.0}, {2, 0, -2.0}});

  void expect_difference(const Matrix& result, const std::string& message, double tolerance = 0) {
    try {
      spgemm::compare(result, expected, tolerance);
      FAIL() << "taken for equal";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      EXPECT_EQ(std::string(error.what()), message);
    }
  }
};

TEST_F(Compare, EqualMatrices) {
  EXPECT_NO_THROW(spgemm::compare(expected, expected, 0.0));
}

TEST_F(Compare, Shape) {
  Matrix result = expected;
  result.cols = 5;
  expect_difference(result, "C: shape: found 3 x 5, expected 3 x 4");
}

TEST_F(Compare, ArraysThatDoNotBelongTogether) {
  Matrix result = expected;
  result.values.pop_back();
  expect_difference(result,
                    "C: arrays: found 4 offsets, 3 columns and 2 values, expected 4 offsets, as "
                    "many values as columns");
}

TEST_F(Compare, MissingAndSurplusEntries) {
  expect_difference(from_entries<double, std::int32_t>(3, 4, {{0, 1, 100.0}, {2, 0, -2.0}}),
                    "C: row 1: found 1 entries, expected 2 entries");
  expect_difference(from_entries<double, std::int32_t>(
                        3, 4, {{0, 1, 100.0}, {0, 3, 1.0}, {1, 2, 0.0}, {2, 0, -2.0}}),
                    "C: row 2: found 1 entries, expected 0 entries");
}

TEST_F(Compare, EntryInAnotherColumn) {
  Matrix result = expected;
  result.col_idx[1] = 2;
  expect_difference(result, "C: row 1: found column 3, expected column 4");
}

TEST_F(Compare, ValuesWithinTheScaleOfTheirRow) {
  Matrix result = expected;
  result.values[1] = 1.05;  // the row's largest entry is 100
  EXPECT_NO_THROW(spgemm::compare(result, expected, 1e-3));
  expect_difference(result, "C: row 1, column 4: found 1.05, expected 1 within 0.01", 1e-4);
}

TEST_F(Compare, NaNAndInfinity) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Matrix result = expected;
  result.values[2] = nan;
  expect_difference(result, "C: row 3, column 1: found nan, expected -2", 1e9);
  expected.values[2] = nan;
  EXPECT_NO_THROW(spgemm::compare(result, expected, 0.0));
  expected.values[0] = infinity;
  expect_difference(result, "C: row 1, column 2: found 100, expected inf", 1e9);
  result.values[0] = infinity;
  EXPECT_NO_THROW(spgemm::compare(result, expected, 0.0));
}

TEST_F(Compare, ComplexEntries) {
  const auto a = matrices::banded<std::complex<double>>(20, 2, 1);
  auto c = reference_product(a, a);
  const auto right = c;
  EXPECT_NO_THROW(spgemm::compare(c, right, 0.0));
  c.values[3] += std::complex<double>(0.0, 1e-3);
  EXPECT_THROW(spgemm::compare(c, right, 1e-6), Error);
  EXPECT_THROW(spgemm::compare(c, right, a, a, 1e-6), Error);
}

// The scale of an entry is the sum of the magnitudes of its products: it does not cancel, as the
// entry does, and it is not raised by other entries of the row.
TEST_F(Compare, ValuesWithinTheMagnitudeOfTheirProducts) {
  const auto a = from_entries<double, std::int32_t>(1, 2, {{0, 0, 1.0}, {0, 1, -1.0}});
  const auto b = from_entries<double, std::int32_t>(2, 2, {{0, 0, 1e6}, {0, 1, 1.0}, {1, 0, 1e6}});
  const auto right = reference_product(a, b);
  ASSERT_THAT(right.values, testing::ElementsAre(0.0, 1.0));
  auto c = right;
  c.values[0] = 1e-6;
  EXPECT_NO_THROW(spgemm::compare(c, right, a, b, 1e-12));
  c.values[0] = 1e-5;
  EXPECT_THROW(spgemm::compare(c, right, a, b, 1e-12), Error);
  c.values[0] = 0.0;
  c.values[1] = 1.0 + 1e-9;
  EXPECT_THROW(spgemm::compare(c, right, a, b, 1e-12), Error);
}

}  // namespace
}  // namespace sortie::test
