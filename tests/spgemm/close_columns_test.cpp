// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "matrices/generators.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"
#include "tests/spgemm/products.hpp"

/// The host's row-wise product where columns lie close together, so that they are marked many at a
/// time and, for some types and processors, summed eight at a time: the bits are those of the plain
/// product, also where there is no memory for anything but the plain way.
namespace sortie::test {
namespace {

template <class T>
class CloseColumns : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  void SetUp() override {
    if (backend() == Backend::cuda) GTEST_SKIP() << "row-wise runs on the host";
  }

  static void expect_reference_bits(const Matrix& a, const Matrix& b) {
    const Matrix expected = reference_product(a, b);
    EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, b, Algorithm::row_wise), expected));
    Context limited = context();
    limited.memory_budget = 1;
    limited.memory_budget =
        spgemm::work_space<Value, Idx>(limited, spgemm::product_size(a, b), Algorithm::row_wise)
            ->least;
    EXPECT_TRUE(same_bits(spgemm::multiply(limited, a, b, Algorithm::row_wise), expected));
  }
};
TYPED_TEST_SUITE(CloseColumns, AllTypes);

TYPED_TEST(CloseColumns, BlocksOfUnknowns) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto a = matrices::stencil<Value, Idx>(27, 6, 5, 4, 3);
  this->expect_reference_bits(a, a);
}

// The last word and the last eight are cut off at every place.
TYPED_TEST(CloseColumns, BandsUpToTheLastColumn) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  for (std::int64_t rows = 120; rows <= 130; ++rows) {
    SCOPED_TRACE(rows);
    const auto a = matrices::banded<Value, Idx>(rows, 20, 1);
    this->expect_reference_bits(a, a);
  }
}

// Some columns of every byte block and some byte blocks of every word; rows of C of all densities.
TYPED_TEST(CloseColumns, ByteBlocksWithGaps) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  for (const std::int64_t entries : {60, 150, 400, 900}) {
    SCOPED_TRACE(entries);
    const auto a = matrices::erdos_renyi<Value, Idx>(300, 1000, 8, 1);
    const auto b = matrices::erdos_renyi<Value, Idx>(1000, 1003, entries, 2);
    this->expect_reference_bits(a, b);
  }
}

// A few columns of the many that there are: whole words of the bitmap and of its summary are empty.
TYPED_TEST(CloseColumns, StretchesFarApart) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  auto b = matrices::banded<Value, Idx>(2000, 15, 3);
  b.cols = 60'000;
  for (auto& column : b.col_idx) column = static_cast<Idx>(column / 100 * 3000 + column % 100);
  const auto a = matrices::erdos_renyi<Value, Idx>(2000, 2000, 10, 4);
  this->expect_reference_bits(a, b);
}

// Rows so long and dense that the list of their byte blocks is emptied several times; some of B's
// byte blocks are full.
TYPED_TEST(CloseColumns, MoreByteBlocksThanAreListed) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto a = matrices::erdos_renyi<Value, Idx>(5, 40, 20, 6);
  for (const std::int64_t cols : {7680, 8191, 20'003}) {
    SCOPED_TRACE(cols);
    this->expect_reference_bits(a, matrices::erdos_renyi<Value, Idx>(40, cols, 3000, 7));
  }
}

// Rows of A like the row before in columns and values, in columns alone, in all but the sign of a
// zero, or not at all; whole and in chunks, where a row may come without the one before it.
TYPED_TEST(CloseColumns, RowsAlike) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto kinds = matrices::erdos_renyi<Value, Idx>(40, 500, 12, 8);
  auto b = matrices::banded<Value, Idx>(500, 10, 9);
  b.values[b.row_ptr[kinds.col_idx[0]]] = static_cast<Value>(0.0);
  typename TestFixture::Matrix a;
  a.cols = kinds.cols;
  for (a.rows = 0; a.rows < 400; ++a.rows) {
    const std::int64_t kind = a.rows / 10;
    for (std::int64_t i = kinds.row_ptr[kind]; i < kinds.row_ptr[kind + 1]; ++i) {
      const Value value = kinds.values[i];
      const bool zero = i == kinds.row_ptr[kind] && a.rows % 10 >= 6;
      const bool other = i + 1 == kinds.row_ptr[kind + 1] && a.rows % 10 == 3;
      a.col_idx.push_back(kinds.col_idx[i]);
      a.values.push_back(zero    ? static_cast<Value>(a.rows % 10 == 8 ? -0.0 : 0.0)
                         : other ? value + value
                                 : value);
    }
    a.row_ptr.push_back(a.nnz());
  }
  this->expect_reference_bits(a, b);

  const auto expected = reference_product(a, b);
  Context limited = context();
  limited.memory_budget = 32 << 10;
  std::int64_t chunks = 0;
  std::int64_t next = 0;
  spgemm::multiply_in_chunks(
      limited, a, b,
      [&](typename TestFixture::Matrix& rows) {
        const auto first = expected.row_ptr[next];
        ASSERT_LE(next + rows.rows, expected.rows);
        ASSERT_EQ(rows.nnz(), expected.row_ptr[next + rows.rows] - first);
        EXPECT_TRUE(
            std::equal(rows.col_idx.begin(), rows.col_idx.end(), expected.col_idx.begin() + first));
        EXPECT_EQ(std::memcmp(rows.values.data(), expected.values.data() + first,
                              rows.values.size() * sizeof(Value)),
                  0);
        next += rows.rows;
        ++chunks;
      },
      Algorithm::row_wise);
  EXPECT_EQ(next, expected.rows);
  EXPECT_GT(chunks, 5);
}

// Zeros keep their sign, and what is no number or has no bound stays where it belongs.
TYPED_TEST(CloseColumns, UncommonValues) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  using Real = decltype(std::abs(Value{}));
  auto a = matrices::banded<Value, Idx>(200, 12, 5);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (i % 3 == 0) a.values[i] = static_cast<Value>(Real{-0.0});
    if (i % 3 == 1 && i % 7 == 0) a.values[i] = static_cast<Value>(Real{0.0});
  }
  this->expect_reference_bits(a, a);
  if constexpr (std::is_floating_point_v<Value>) {
    for (std::size_t i = 0; i < a.values.size(); i += 97)
      a.values[i] = std::numeric_limits<Value>::infinity();
    const auto c = spgemm::multiply(context(), a, a, Algorithm::row_wise);
    const auto expected = reference_product(a, a);
    ASSERT_EQ(c.col_idx, expected.col_idx);
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      if (std::isnan(expected.values[i])) {
        ASSERT_TRUE(std::isnan(c.values[i])) << i;
      } else {
        ASSERT_EQ(c.values[i], expected.values[i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
