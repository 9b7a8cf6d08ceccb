// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "apps/spgemm/host/column_words.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_runtime.hpp"
#include "core/uninitialised_vector.hpp"
#include "matrices/generators.hpp"

namespace sortie::test {
namespace {

using spgemm::host::ColumnWords;
using spgemm::host::count_words;
using spgemm::host::products_per_word;

template <class Mask>
class Words : public testing::Test {};
using Masks = testing::Types<std::uint64_t, std::uint8_t>;
TYPED_TEST_SUITE(Words, Masks);

// Every column of a matrix, and no other, stands in the words of its row.
TYPED_TEST(Words, HoldTheColumns) {
  start_host_runtime(0);
  for (const std::int64_t entries : {1, 7, 200}) {
    SCOPED_TRACE(entries);
    const auto matrix = matrices::erdos_renyi<double>(5000, 1000, entries, 1);
    const ColumnWords<std::int32_t, TypeParam> words(matrix);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      std::vector<std::int32_t> columns;
      for (std::int64_t i = words.begins()[row]; i < words.begins()[row + 1]; ++i) {
        ASSERT_NE(words.masks()[i], 0);
        for (int bit = 0; bit < words.width; ++bit) {
          if ((words.masks()[i] >> bit & 1) != 0)
            columns.push_back(words.words()[i] * words.width + bit);
        }
      }
      const std::vector<std::int32_t> expected(matrix.col_idx.begin() + matrix.row_ptr[row],
                                               matrix.col_idx.begin() + matrix.row_ptr[row + 1]);
      ASSERT_EQ(columns, expected) << "row " << row;
      ASSERT_EQ(count_words<TypeParam>(matrix, row, row + 1),
                words.begins()[row + 1] - words.begins()[row]);
    }
  }
}

TYPED_TEST(Words, OfNothing) {
  start_host_runtime(0);
  const ColumnWords<std::int32_t, TypeParam> none(matrices::Csr<double>{});
  EXPECT_EQ(none.begins()[0], 0);
  const matrices::Csr<double> empty{3, 5, {0, 0, 0, 0}, {}, {}};
  const ColumnWords<std::int32_t, TypeParam> of_empty_rows(empty);
  EXPECT_EQ(of_empty_rows.begins()[3], 0);
  EXPECT_EQ(products_per_word<TypeParam>(empty, empty), 1.0);
}

TEST(ProductsPerWord, OfDenseRowsAndOfSpreadOnes) {
  const auto dense = matrices::erdos_renyi<double>(64, 64, 64, 1);
  EXPECT_EQ(products_per_word<std::uint64_t>(dense, dense), 64.0);
  EXPECT_EQ(products_per_word<std::uint8_t>(dense, dense), 8.0);
  const auto spread = matrices::stencil<double>(5, 300, 300, 1, 1);
  EXPECT_LT(products_per_word<std::uint64_t>(spread, spread), 2.0);
}

#if SORTIE_CAN_SET_VECTOR_SIZE
TEST(VectorEnd, MakesAVectorLikeAnyOther) {
  std::vector<double> numbers;
  numbers.reserve(1000);
  set_vector_size(numbers, 600);
  ASSERT_EQ(numbers.size(), 600U);
  EXPECT_EQ(numbers.capacity(), 1000U);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  numbers.insert(numbers.begin(), -1.0);
  numbers.resize(2000);
  EXPECT_EQ(numbers.front(), -1.0);
  EXPECT_EQ(numbers[600], 599.0);
  EXPECT_EQ(numbers[601], 0.0);
  const std::vector<double> copy = numbers;
  numbers.clear();
  EXPECT_EQ(copy.size(), 2000U);
}
#endif

}  // namespace
}  // namespace sortie::test
