// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

/// Rows of C of few products, of all numbers around those at which the host changes its way: every
/// algorithm of the host gives the bits of the plain product.
namespace sortie::test {
namespace {

template <class T>
class ShortProducts : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  void SetUp() override {
    if (backend() == Backend::cuda) GTEST_SKIP() << "about the host's ways";
  }

  /// Row i names rows of rows_of_up_to_forty() that have i entries together, `entries` each but for
  /// the last; a row that is named twice stands once.
  static Matrix rows_of_products(std::int64_t rows, std::int64_t entries) {
    Matrix a;
    a.rows = rows;
    a.cols = 2000;
    const auto values = matrices::erdos_renyi<Value, Idx>(1, 4096, 4096, 7).values;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<Idx> columns;
      std::int64_t left = row;
      for (std::int64_t turn = 0; left > 0; ++turn) {
        const std::int64_t taken = std::min(left, entries);
        columns.push_back(static_cast<Idx>(41 * ((7 * row + 5 * turn) % 48) + taken));
        left -= taken;
      }
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      for (const Idx column : columns) {
        a.col_idx.push_back(column);
        a.values.push_back(values[a.col_idx.size() % values.size()]);
      }
      a.row_ptr.push_back(a.nnz());
    }
    return a;
  }

  /// Row k has k mod 41 entries, in `cols` columns that many rows share.
  static Matrix rows_of_up_to_forty(std::int64_t cols, std::int64_t apart) {
    Matrix b;
    b.rows = 2000;
    b.cols = cols;
    const auto values = matrices::erdos_renyi<Value, Idx>(1, 4096, 4096, 8).values;
    for (std::int64_t row = 0; row < b.rows; ++row) {
      const std::int64_t first = row * 13 % 11;
      for (std::int64_t i = 0; i < row % 41; ++i) {
        b.col_idx.push_back(static_cast<Idx>(cols - 1 - (first + 40 - i) * apart));
        b.values.push_back(values[b.col_idx.size() % values.size()]);
      }
      b.row_ptr.push_back(b.nnz());
    }
    return b;
  }
};
TYPED_TEST_SUITE(ShortProducts, AllTypes);

TYPED_TEST(ShortProducts, OfEveryNumberUpToEighty) {
  for (const std::int64_t entries : {1, 3, 4, 8, 9, 16, 40}) {
    SCOPED_TRACE(entries);
    const auto b = this->rows_of_up_to_forty(300, 5);
    expect_products(this->rows_of_products(81, entries), b);
  }
}

// Columns that need 27 bits and more: too many for a key that also holds a product's place.
TYPED_TEST(ShortProducts, InVeryManyColumns) {
  const auto a = this->rows_of_products(41, 4);
  const auto narrow = this->rows_of_up_to_forty(300, 5);
  for (const std::int64_t cols :
       {std::int64_t{1} << 27, (std::int64_t{1} << 27) + 1, (std::int64_t{1} << 31) - 1}) {
    SCOPED_TRACE(cols);
    const auto widened = [&](auto matrix) {
      for (auto& column : matrix.col_idx)
        column =
            static_cast<typename TestFixture::Idx>(cols - 1 - (matrix.cols - 1 - column) * 400'000);
      matrix.cols = cols;
      return matrix;
    };
    // The plain product would have an accumulator as wide as the matrix.
    EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, widened(narrow), Algorithm::row_wise),
                          widened(reference_product(a, narrow))));
  }
}

TYPED_TEST(ShortProducts, UncommonValues) {
  using Value = typename TypeParam::Value;
  using Real = decltype(std::abs(Value{}));
  auto a = this->rows_of_products(33, 4);
  const auto b = this->rows_of_up_to_forty(300, 5);
  for (std::size_t i = 0; i < a.values.size(); i += 2)
    a.values[i] = static_cast<Value>(i % 4 == 0 ? Real{-0.0} : Real{0.0});
  expect_product(a, b, reference_product(a, b), Algorithm::automatic);
}

}  // namespace
}  // namespace sortie::test
