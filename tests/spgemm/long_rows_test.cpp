// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

/// Rows of C of a million products each, alone and beside empty and short ones.
namespace sortie::test {
namespace {

/// Entries of a long row of A, and of every row of B: their product is that of a long row of C.
constexpr std::int64_t length = 1000;

template <class T>
class LongRows : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  /// Rows of the given numbers of entries, the columns of each spread over 0 .. length - 1.
  static Matrix rows_of(const std::vector<std::int64_t>& entries) {
    const auto values = matrices::erdos_renyi<Value, Idx>(1, length, length, 3).values;
    Matrix a;
    a.rows = static_cast<std::int64_t>(entries.size());
    a.cols = length;
    for (const std::int64_t count : entries) {
      for (std::int64_t i = 0; i < count; ++i) {
        a.col_idx.push_back(static_cast<Idx>(i * length / count));
        a.values.push_back(values[static_cast<std::size_t>(i)]);
      }
      a.row_ptr.push_back(a.nnz());
    }
    return a;
  }

  /// Long rows first, last and in between, beside empty and short ones.
  static Matrix mixed() { return rows_of({length, 0, 1, length, 0, 0, 2, 17, 1, 300, 0, length}); }

  /// Row k has the columns k, k + length, k + 2 length and so on: no two rows share one, and those
  /// of every row lie all over the matrix.
  static Matrix rows_without_shared_columns() {
    Matrix b = matrices::erdos_renyi<Value, Idx>(length, length * length, length, 4);
    for (std::size_t i = 0; i < b.col_idx.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / length;
      const auto entry = static_cast<std::int64_t>(i) % length;
      b.col_idx[i] = static_cast<Idx>(entry * length + row);
    }
    return b;
  }
};
TYPED_TEST_SUITE(LongRows, AllTypes);

// Every column of C is a sum of a thousand products.
TYPED_TEST(LongRows, MillionProductsInFewColumns) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto full = matrices::erdos_renyi<Value, Idx>(length, length, length, 5);
  ASSERT_EQ(full.nnz(), length * length);
  expect_products(this->rows_of({length}), full);
  expect_products(this->mixed(), full);
}

// C has an entry for each product.
TYPED_TEST(LongRows, MillionProductsInAsManyColumns) {
  const auto b = this->rows_without_shared_columns();
  EXPECT_EQ(reference_product(this->rows_of({length}), b).nnz(), length * length);
  expect_products(this->mixed(), b);
}

// Some twenty products meet in a column.
TYPED_TEST(LongRows, MillionProductsInSomeColumns) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto b = matrices::erdos_renyi<Value, Idx>(length, 50'000, length, 6);
  EXPECT_EQ(spgemm::count_products(this->rows_of({length}), b), 1'000'000);
  expect_products(this->mixed(), b);
}

// Long rows of A that meet empty rows of B, all but a few.
TYPED_TEST(LongRows, LongRowsThatMeetAlmostNothing) {
  auto b = this->rows_without_shared_columns();
  const std::int64_t kept = b.row_ptr[3];
  std::fill(b.row_ptr.begin() + 3, b.row_ptr.end(), kept);
  b.col_idx.resize(static_cast<std::size_t>(kept));
  b.values.resize(static_cast<std::size_t>(kept));
  expect_products(this->mixed(), b);
}

}  // namespace
}  // namespace sortie::test
