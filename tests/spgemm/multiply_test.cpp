// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

namespace sortie::test {
namespace {

template <class T>
class Multiply : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;
  using Entries = std::vector<std::tuple<std::int64_t, std::int64_t, Value>>;

  static Matrix entries(std::int64_t rows, std::int64_t cols, const Entries& list) {
    return from_entries<Value, Idx>(rows, cols, list);
  }
  static Matrix empty(std::int64_t rows, std::int64_t cols) { return entries(rows, cols, {}); }
  static Matrix random(std::int64_t rows, std::int64_t cols, std::int64_t row_nnz,
                       std::uint64_t seed = 1) {
    return matrices::erdos_renyi<Value, Idx>(rows, cols, row_nnz, seed);
  }
  /// Random entries in all of one row, all of one column and on the diagonal.
  static Matrix arrow(std::int64_t size, std::int64_t hub) {
    const Matrix line = random(1, 3 * size, 3 * size);
    Entries list;
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t column = 0; column < size; ++column) {
        if (row == hub) {
          list.emplace_back(row, column, line.values[column]);
        } else if (column == hub) {
          list.emplace_back(row, column, line.values[size + row]);
        } else if (column == row) {
          list.emplace_back(row, column, line.values[2 * size + row]);
        }
      }
    }
    return entries(size, size, list);
  }
};

TYPED_TEST_SUITE(Multiply, AllTypes);

TYPED_TEST(Multiply, MatrixWithoutRowsAndColumns) {
  expect_products(this->empty(0, 0), this->empty(0, 0));
}

TYPED_TEST(Multiply, MatricesWithoutRowsOrWithoutColumns) {
  expect_products(this->empty(0, 7), this->random(7, 5, 2));
  expect_products(this->random(5, 7, 2), this->empty(7, 0));
  expect_products(this->empty(4, 0), this->empty(0, 6));
  expect_products(this->empty(0, 0), this->empty(0, 3));
}

TYPED_TEST(Multiply, MatricesWithoutEntries) {
  expect_products(this->empty(300, 200), this->empty(200, 100));
  expect_products(this->empty(300, 200), this->random(200, 100, 3));
  expect_products(this->random(300, 200, 3), this->empty(200, 100));
}

// The shapes of test file 3by0.mtx, and a product whose inner size is nothing.
TYPED_TEST(Multiply, RectangularMatricesWithoutEntries) {
  expect_products(this->empty(3, 0), this->empty(0, 3));
  expect_products(this->empty(0, 3), this->empty(3, 0));
  expect_products(this->empty(5, 3), this->empty(3, 5));
  expect_products(this->empty(1, 1), this->empty(1, 1));
}

// A and B have entries, but every one of A meets an empty row of B.
TYPED_TEST(Multiply, EntriesThatNeverMeet) {
  using Value = typename TypeParam::Value;
  typename TestFixture::Entries even;
  typename TestFixture::Entries odd;
  for (int row = 0; row < 600; ++row) {
    for (int column = row % 3; column < 500; column += 40) even.emplace_back(row, column & ~1, 2);
    if (row % 2 == 1) odd.emplace_back(row, row % 70, Value(row));
  }
  const auto a = this->entries(600, 600, even);
  const auto b = this->entries(600, 70, odd);
  EXPECT_EQ(spgemm::count_products(a, b), 0);
  expect_products(a, b);
  EXPECT_EQ(spgemm::multiply(context(), a, b).nnz(), 0);
}

TYPED_TEST(Multiply, SingleEntry) {
  const auto one = this->entries(1, 1, {{0, 0, typename TypeParam::Value(-3)}});
  expect_products(one, one);
  EXPECT_EQ(spgemm::multiply(context(), one, one).values.at(0), typename TypeParam::Value(9));
}

TYPED_TEST(Multiply, ByIdentityOnEitherSide) {
  using Value = typename TypeParam::Value;
  typename TestFixture::Entries diagonal;
  for (int i = 0; i < 100; ++i) diagonal.emplace_back(i, i, Value(1));
  const auto identity = this->entries(100, 100, diagonal);
  const auto a = this->random(100, 100, 9);
  expect_products(a, identity);
  expect_products(identity, a);
  EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, identity), a));
  EXPECT_TRUE(same_bits(spgemm::multiply(context(), identity, a), a));
}

TYPED_TEST(Multiply, Rectangular) {
  expect_products(this->random(1, 500, 200), this->random(500, 1, 1));
  expect_products(this->random(500, 1, 1), this->random(1, 500, 200));
  expect_products(this->random(37, 211, 12), this->random(211, 1009, 40));
  expect_products(this->random(1009, 64, 5), this->random(64, 65, 20));
}

TYPED_TEST(Multiply, HubRowTimesHubColumn) {
  expect_products(this->arrow(400, 0), this->arrow(400, 399));
  expect_products(this->arrow(400, 200), this->arrow(400, 200));
}

TYPED_TEST(Multiply, OneColumnHoldsAll) {
  using Value = typename TypeParam::Value;
  typename TestFixture::Entries column;
  for (int i = 0; i < 3000; ++i) column.emplace_back(i, 5, Value(i + 1) / Value(3));
  const auto b = this->entries(3000, 9, column);
  expect_products(this->random(500, 3000, 300), b);
  expect_products(b, this->random(9, 3000, 1000));
}

// Every number of products from 0 to a few hundred occurs as the length of a row, and with it every
// way that an implementation has for rows of different lengths.
TYPED_TEST(Multiply, RowsOfEveryLength) {
  const auto source = this->random(1, 700, 700);
  typename TestFixture::Entries list;
  for (std::int64_t row = 0; row < 700; ++row) {
    for (std::int64_t i = 0; i < row; ++i) list.emplace_back(row, i, source.values[i]);
  }
  expect_products(this->entries(700, 700, list), this->random(700, 10000, 1));
  expect_products(this->entries(700, 700, list), this->random(700, 50, 1));
}

// One row with far more products than all others together.
TYPED_TEST(Multiply, GiantAmongDwarfs) {
  typename TestFixture::Entries list;
  const auto source = this->random(1, 5000, 5000);
  for (std::int64_t row = 0; row < 5000; ++row) {
    if (row != 2500) {
      list.emplace_back(row, (row * 7) % 5000, source.values[row]);
      continue;
    }
    for (std::int64_t i = 0; i < 5000; ++i) list.emplace_back(row, i, source.values[i]);
  }
  expect_products(this->entries(5000, 5000, list), this->random(5000, 20000, 20));
}

TYPED_TEST(Multiply, RandomGraphs) {
  const auto uniform = this->random(2000, 2000, 6);
  expect_products(uniform, uniform);
  const auto rmat = matrices::rmat<typename TypeParam::Value, typename TypeParam::Idx>(9, 8, 42);
  expect_products(rmat, rmat);
  const auto power = matrices::power_law<typename TypeParam::Value, typename TypeParam::Idx>(
      1500, 1500, 1.6, 300, 3);
  expect_products(power, power);
  expect_products(matrices::transpose(power), power);
}

TYPED_TEST(Multiply, RegularGrids) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto banded = matrices::banded<Value, Idx>(1500, 9, 1);
  expect_products(banded, banded);
  const auto plane = matrices::stencil<Value, Idx>(5, 40, 30, 1);
  expect_products(plane, plane);
  const auto cube = matrices::stencil<Value, Idx>(27, 9, 8, 7, 2);
  expect_products(cube, cube);
}

TYPED_TEST(Multiply, SumsThatCancelStay) {
  using Value = typename TypeParam::Value;
  const auto a = this->entries(1, 2, {{0, 0, Value(1)}, {0, 1, Value(-1)}});
  const auto b = this->entries(2, 2, {{0, 0, Value(2)}, {0, 1, Value(5)}, {1, 0, Value(2)}});
  expect_products(a, b);
  const auto c = spgemm::multiply(context(), a, b);
  ASSERT_EQ(c.nnz(), 2);
  EXPECT_EQ(c.values[0], Value(0));
  EXPECT_EQ(c.values[1], Value(5));
}

TYPED_TEST(Multiply, StoredZerosCountAsEntries) {
  using Value = typename TypeParam::Value;
  const auto a = this->entries(2, 2, {{0, 1, Value(0)}, {1, 0, Value(4)}});
  expect_products(a, a);
  EXPECT_EQ(spgemm::multiply(context(), a, a).nnz(), 2);
}

// A single product comes out with its own bits, the sign of a zero included, whichever way a row of
// that length goes.
TYPED_TEST(Multiply, NegativeZeroKeepsItsSign) {
  if (backend() == Backend::cuda) GTEST_SKIP() << "bits are compared on the host";
  using Value = typename TypeParam::Value;
  for (const int width : {3, 500}) {
    typename TestFixture::Entries list;
    for (int column = 0; column < width; ++column) {
      list.emplace_back(0, column, Value(column % 3 == 0 ? -0.0 : 1.0));
    }
    list.emplace_back(1, 0, Value(-0.0));
    const auto b = this->entries(2, width, list);
    expect_products(this->entries(1, 2, {{0, 0, Value(1)}, {0, 1, Value(1)}}), b);
  }
}

TYPED_TEST(Multiply, InfinitiesAndNaNs) {
  using Value = typename TypeParam::Value;
  using Real = decltype(std::abs(Value{}));
  const Value infinity(std::numeric_limits<Real>::infinity());
  const auto a = this->entries(1, 3, {{0, 0, Value(1)}, {0, 1, Value(-1)}, {0, 2, Value(2)}});
  const auto b = this->entries(
      3, 3,
      {{0, 0, infinity}, {0, 1, infinity}, {1, 0, infinity}, {2, 1, Value(3)}, {2, 2, Value(4)}});
  const auto expected = reference_product(a, b);
  for (const Algorithm algorithm : spgemm::algorithms(backend())) {
    if (is_library(algorithm)) continue;
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    EXPECT_NO_THROW(spgemm::compare(spgemm::multiply(context(), a, b, algorithm), expected, 0.0));
  }
}

// The number of columns may be far beyond anything that could be allocated; only the algorithms
// that sort can do that.
TYPED_TEST(Multiply, ColumnsBeyondMemory) {
  using Idx = typename TypeParam::Idx;
  const std::int64_t stride =
      sizeof(Idx) == 4 ? (std::int64_t{1} << 31) / 1000 : (std::int64_t{1} << 62) / 1000;
  const auto widen = [&](Csr<typename TypeParam::Value, Idx> matrix) {
    matrix.cols = 1000 * stride - 1;
    for (Idx& column : matrix.col_idx) column = static_cast<Idx>(column * stride);
    return matrix;
  };
  const auto a = this->random(200, 300, 40);
  const auto b = this->random(300, 1000, 8);
  const auto expected = widen(reference_product(a, b));
  std::vector<Algorithm> sorting{Algorithm::essc};
  sorting.push_back(backend() == Backend::host ? Algorithm::row_wise : baseline("esc"));
  for (const Algorithm algorithm : sorting) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    const auto c = spgemm::multiply(context(), a, widen(b), algorithm);
    EXPECT_EQ(c.cols, expected.cols);
    EXPECT_NO_THROW(
        spgemm::compare(c, expected, rounding_tolerance<typename TypeParam::Value>(40)));
  }
}

}  // namespace
}  // namespace sortie::test
