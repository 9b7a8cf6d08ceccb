// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "matrices/generators.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"
#include "tests/spgemm/products.hpp"

/// The host's row-wise product of matrices whose rows have very different shapes. It counts the
/// entries first, or computes all rows in one pass if it has one worker, as with a budget for one:
/// the bits are those of the plain product either way.
namespace sortie::test {
namespace {

template <class T>
class RowShapes : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;
  using Entries = std::vector<std::tuple<std::int64_t, std::int64_t, Value>>;

  void SetUp() override {
    if (backend() == Backend::cuda) GTEST_SKIP() << "row-wise runs on the host";
  }

  static void expect_reference_bits(const Matrix& a, const Matrix& b) {
    const Matrix expected = reference_product(a, b);
    EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, b, Algorithm::row_wise), expected));
    Context one_worker = context();
    one_worker.memory_budget = 1;
    const auto need =
        spgemm::work_space<Value, Idx>(one_worker, spgemm::product_size(a, b), Algorithm::row_wise);
    for (const std::uint64_t factor : {8, 7, 4}) {
      // A budget for one worker, with and without the words of B beside it.
      one_worker.memory_budget = std::max<std::uint64_t>(1, need->least * factor / 4);
      EXPECT_TRUE(same_bits(spgemm::multiply(one_worker, a, b, Algorithm::row_wise), expected));
    }
    Matrix joined{a.rows, b.cols, {0}, {}, {}};
    spgemm::multiply_in_chunks(
        one_worker, a, b,
        [&](Matrix& rows) {
          const std::int64_t before = joined.nnz();
          for (std::int64_t row = 1; row <= rows.rows; ++row)
            joined.row_ptr.push_back(before + rows.row_ptr[row]);
          joined.col_idx.insert(joined.col_idx.end(), rows.col_idx.begin(), rows.col_idx.end());
          joined.values.insert(joined.values.end(), rows.values.begin(), rows.values.end());
        },
        Algorithm::row_wise);
    EXPECT_TRUE(same_bits(joined, expected));
  }
  static void expect_reference_bits(const Matrix& a) { expect_reference_bits(a, a); }

  /// The entries in order, with values that are not integers.
  static Matrix entries(std::int64_t size,
                        std::vector<std::pair<std::int64_t, std::int64_t>> list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    Entries valued;
    for (const auto& [row, column] : list) {
      const auto number = static_cast<double>(valued.size() % 1009 + 1);
      valued.emplace_back(row, column, Value(number / 7 - 50));
    }
    return from_entries<Value, Idx>(size, size, valued);
  }

  /// The matrix with rows and columns in another order.
  static Matrix shuffled(const Matrix& matrix) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(matrix.rows));
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), std::mt19937(1));
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      for (std::int64_t i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i)
        list.emplace_back(places[row], places[matrix.col_idx[i]]);
    }
    return entries(matrix.rows, list);
  }
};
TYPED_TEST_SUITE(RowShapes, AllTypes);

TYPED_TEST(RowShapes, MostRowsAreEmpty) {
  // More than one block of rows.
  const auto random = [](std::int64_t rows, std::int64_t cols, std::int64_t entries,
                         unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<std::tuple<std::int64_t, std::int64_t, typename TypeParam::Value>> list;
    for (std::int64_t i = 0; i < entries; ++i)
      list.emplace_back(generator() % rows, generator() % cols, 1.0 / (1 + generator() % 1000));
    std::sort(list.begin(), list.end(), [](const auto& x, const auto& y) {
      return std::pair(std::get<0>(x), std::get<1>(x)) < std::pair(std::get<0>(y), std::get<1>(y));
    });
    const auto equal = [](const auto& x, const auto& y) {
      return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y);
    };
    list.erase(std::unique(list.begin(), list.end(), equal), list.end());
    return from_entries<typename TypeParam::Value, typename TypeParam::Idx>(rows, cols, list);
  };
  this->expect_reference_bits(random(40'000, 40'000, 10'000, 1));
  this->expect_reference_bits(random(9, 20'001, 2'000, 2), random(20'001, 50, 900, 3));
  this->expect_reference_bits(random(30'000, 777, 9'000, 4), random(777, 777, 20, 5));
  this->expect_reference_bits(random(50, 100, 200, 6), random(100, 3, 0, 7));
}

TYPED_TEST(RowShapes, NoRowsColumnsOrEntries) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    return from_entries<Value, Idx>(rows, cols, {});
  };
  this->expect_reference_bits(empty(0, 0), empty(0, 0));
  this->expect_reference_bits(empty(0, 4), empty(4, 3));
  this->expect_reference_bits(empty(4, 0), empty(0, 3));
  this->expect_reference_bits(empty(4, 3), empty(3, 0));
  this->expect_reference_bits(empty(4, 3), empty(3, 5));
  this->expect_reference_bits(empty(0, 40), matrices::erdos_renyi<Value, Idx>(40, 30, 9, 1));
}

TYPED_TEST(RowShapes, OneFullRowAndTheDiagonal) {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (std::int64_t i = 0; i < 1500; ++i) {
    list.emplace_back(700, i);
    list.emplace_back(i, i);
  }
  this->expect_reference_bits(this->entries(1500, list));
}

TYPED_TEST(RowShapes, OneFullColumnAndTheDiagonal) {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (std::int64_t i = 0; i < 1500; ++i) {
    list.emplace_back(i, 700);
    list.emplace_back(i, i);
  }
  this->expect_reference_bits(this->entries(1500, list));
}

// Both rows of B may be empty, equal, disjoint or interleaved, and of all lengths.
TYPED_TEST(RowShapes, TwoEntriesInEveryRow) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto uniform = matrices::erdos_renyi<Value, Idx>(900, 600, 2, 5);
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (std::int64_t row = 0; row < 600; ++row) {
    for (std::int64_t i = 0; i < row % 60; ++i) list.emplace_back(row, i * (row % 7 + 1));
  }
  this->expect_reference_bits(uniform, this->entries(600, list));
  this->expect_reference_bits(uniform, matrices::erdos_renyi<Value, Idx>(600, 40, 20, 6));
  this->expect_reference_bits(uniform, matrices::erdos_renyi<Value, Idx>(600, 900, 2, 7));
}

TYPED_TEST(RowShapes, FewEntriesInManyRows) {
  std::mt19937 random(3);
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (int i = 0; i < 5000; ++i) list.emplace_back(random() % 20'000, random() % 20'000);
  this->expect_reference_bits(this->entries(20'000, list));
}

TYPED_TEST(RowShapes, Full) {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (std::int64_t i = 0; i < 120 * 120; ++i) list.emplace_back(i / 120, i % 120);
  this->expect_reference_bits(this->entries(120, list));
}

TYPED_TEST(RowShapes, GridsInRandomOrder) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  this->expect_reference_bits(this->shuffled(matrices::stencil<Value, Idx>(27, 10, 9, 8)));
  this->expect_reference_bits(this->shuffled(matrices::stencil<Value, Idx>(5, 50, 40, 1)));
}

TYPED_TEST(RowShapes, HubsAmongShortRows) {
  std::mt19937 random(4);
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (std::int64_t i = 0; i < 3000; ++i) {
    list.emplace_back(i, random() % 3);
    list.emplace_back(random() % 3, i);
    for (int more = static_cast<int>(random() % 5); more > 0; --more)
      list.emplace_back(i, random() % 3000);
  }
  this->expect_reference_bits(this->entries(3000, list));
}

// In one pass, more memory is reserved than C takes; C has no more elements for that.
TYPED_TEST(RowShapes, ManyProductsMeet) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  this->expect_reference_bits(matrices::erdos_renyi<Value, Idx>(200, 300, 100, 1),
                              matrices::erdos_renyi<Value, Idx>(300, 250, 60, 2));
}

// Zeros of either sign, infinities and NaN where two rows of B meet, beside a single product.
TYPED_TEST(RowShapes, SpecialValuesInMerges) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  using Real = decltype(std::abs(Value{}));
  const Real infinity = std::numeric_limits<Real>::infinity();
  const std::vector<Real> special{Real(0), Real(-0.0), Real(1), Real(-1), infinity, -infinity};
  typename TestFixture::Entries list;
  for (std::int64_t i = 0; i < 36; ++i) {
    list.emplace_back(0, 2 * i, Value(special[i / 6]));
    list.emplace_back(0, 2 * i + 1, Value(special[i % 6]));
  }
  for (std::int64_t i = 0; i < 36; ++i) list.emplace_back(1, 2 * i, Value(special[i % 6]));
  const auto b = from_entries<Value, Idx>(2, 72, list);
  const auto a = from_entries<Value, Idx>(1, 2, {{0, 0, Value(1)}, {0, 1, Value(1)}});
  const auto expected = reference_product(a, b);
  const auto c = spgemm::multiply(context(), a, b, Algorithm::row_wise);
  EXPECT_NO_THROW(spgemm::compare(c, expected, 0.0));
}

}  // namespace
}  // namespace sortie::test
