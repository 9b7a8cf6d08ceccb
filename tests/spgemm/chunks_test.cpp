// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "apps/spgemm/arriving_product.hpp"
#include "matrices/generators.hpp"
#include "matrices/rows_view.hpp"
#include "sortie/run_report.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "tests/spgemm/products.hpp"

/// Products handed out in chunks of rows.
namespace sortie::test {
namespace {

template <class T>
class Chunks : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  /// What the chunks are when they are put behind one another.
  struct Joined {
    Matrix c;
    std::int64_t chunks = 0;
    std::int64_t largest = 0;  ///< entries of a chunk
  };

  static Joined joined(const Matrix& a, const Matrix& b, Algorithm algorithm,
                       std::uint64_t budget = 0) {
    Context limited = context();
    limited.memory_budget = budget;
    Joined all;
    all.c.cols = b.cols;
    spgemm::multiply_in_chunks(
        limited, a, b,
        [&](Matrix& rows) {
          EXPECT_NO_THROW(matrices::validate(rows));
          EXPECT_EQ(rows.cols, b.cols);
          EXPECT_GT(rows.rows, 0);
          for (std::int64_t row = 1; row <= rows.rows; ++row)
            all.c.row_ptr.push_back(all.c.nnz() + rows.row_ptr[row]);
          all.c.rows += rows.rows;
          all.c.col_idx.insert(all.c.col_idx.end(), rows.col_idx.begin(), rows.col_idx.end());
          all.c.values.insert(all.c.values.end(), rows.values.begin(), rows.values.end());
          ++all.chunks;
          all.largest = std::max(all.largest, rows.nnz());
          rows = {};  // the caller's to change
        },
        algorithm);
    return all;
  }

  /// The same from multiply_arriving(). Its rows are read after the product is complete: that they
  /// still arrive then, and are kept, is the purpose.
  static Joined joined_arriving(const Matrix& a, const Matrix& b, Algorithm algorithm,
                                std::uint64_t budget = 0) {
    Context limited = context();
    limited.memory_budget = budget;
    std::vector<matrices::ArrivingRows<Value, Idx>> chunks;
    spgemm::multiply_arriving(
        limited, a, b,
        [&](matrices::ArrivingRows<Value, Idx> rows) { chunks.push_back(std::move(rows)); },
        algorithm);
    Joined all;
    all.c.cols = b.cols;
    for (const auto& rows : chunks) {
      EXPECT_EQ(rows.cols, b.cols);
      EXPECT_EQ(rows.row_ptr.size(), static_cast<std::size_t>(rows.rows) + 1);
      const auto offsets = rows.row_ptr.items();
      rows.await(rows.nnz());
      for (std::int64_t row = 1; row <= rows.rows; ++row)
        all.c.row_ptr.push_back(all.c.nnz() + offsets[row]);
      all.c.rows += rows.rows;
      const auto columns = rows.col_idx.items();
      const auto values = rows.values.items();
      all.c.col_idx.insert(all.c.col_idx.end(), columns.begin(), columns.end());
      all.c.values.insert(all.c.values.end(), values.begin(), values.end());
      ++all.chunks;
      all.largest = std::max(all.largest, rows.nnz());
    }
    return all;
  }

  /// All algorithms of the backend that hand out chunks of any matrix; pattern_test.cpp has those of
  /// patterns, which are of at least 2048 rows.
  static std::vector<Algorithm> in_chunks() {
    std::vector<Algorithm> list{Algorithm::automatic};
    for (const Algorithm algorithm : spgemm::algorithms(backend()))
      if (spgemm::makes_chunks(algorithm) && algorithm != Algorithm::pattern)
        list.push_back(algorithm);
    return list;
  }
};
TYPED_TEST_SUITE(Chunks, AllTypes);

// A device needs some room for the temporary storage of its sorts.
const std::uint64_t small_budget = backend() == Backend::cuda ? 4 << 20 : 256 << 10;

TYPED_TEST(Chunks, SameBitsAsTheWhole) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto a = matrices::power_law<Value, Idx>(9000, 8000, 1.4, 200, 2);
  const auto b = matrices::erdos_renyi<Value, Idx>(8000, 7000, 12, 3);
  EXPECT_GE(this->in_chunks().size(), 3u);
  for (const Algorithm algorithm : this->in_chunks()) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    const auto whole = spgemm::multiply(context(), a, b, algorithm);
    EXPECT_TRUE(same_bits(this->joined(a, b, algorithm).c, whole));
    const auto small = this->joined(a, b, algorithm, small_budget);
    EXPECT_TRUE(same_bits(small.c, whole));
    EXPECT_GT(small.chunks, 2);
    // Columns have 32 bits on a device.
    const std::size_t column = backend() == Backend::cuda ? sizeof(std::int32_t) : sizeof(Idx);
    EXPECT_LE(static_cast<std::uint64_t>(small.largest) * (sizeof(Value) + column), small_budget);
    const auto arrived = this->joined_arriving(a, b, algorithm);
    EXPECT_TRUE(same_bits(arrived.c, whole));
    EXPECT_EQ(arrived.chunks, 1);
    if (backend() != Backend::cuda) continue;  // the host makes all rows before it passes any
    const auto small_arrived = this->joined_arriving(a, b, algorithm, small_budget);
    EXPECT_TRUE(same_bits(small_arrived.c, whole));
    EXPECT_GT(small_arrived.chunks, 2);
  }
}

// Rows without entries at the ends of chunks, and chunks of nothing else.
TYPED_TEST(Chunks, EmptyRowsAreNotLost) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  auto a = matrices::erdos_renyi<Value, Idx>(40'000, 2000, 30, 4);
  // Of every 1000 rows the last 600 become empty, and so do the last 20 000 of all.
  Csr<Value, Idx> holes;
  holes.rows = a.rows;
  holes.cols = a.cols;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (row % 1000 < 400 && row < 20'000) {
      for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
        holes.col_idx.push_back(a.col_idx[i]);
        holes.values.push_back(a.values[i]);
      }
    }
    holes.row_ptr.push_back(holes.nnz());
  }
  const auto b = matrices::erdos_renyi<Value, Idx>(2000, 2000, 5, 5);
  for (const Algorithm algorithm : this->in_chunks()) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    const auto chunks = this->joined(holes, b, algorithm, 2 * small_budget);
    EXPECT_TRUE(same_bits(chunks.c, spgemm::multiply(context(), holes, b, algorithm)));
  }
}

TYPED_TEST(Chunks, EmptyShapes) {
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    return from_entries<typename TypeParam::Value, typename TypeParam::Idx>(rows, cols, {});
  };
  for (const Algorithm algorithm : this->in_chunks()) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    for (const auto& [rows, inner, cols] :
         {std::tuple{0, 0, 0}, std::tuple{3, 0, 3}, std::tuple{0, 3, 0}, std::tuple{900, 400, 7}}) {
      EXPECT_TRUE(same_bits(this->joined(empty(rows, inner), empty(inner, cols), algorithm).c,
                            empty(rows, cols)));
      EXPECT_TRUE(
          same_bits(this->joined_arriving(empty(rows, inner), empty(inner, cols), algorithm).c,
                    empty(rows, cols)));
    }
  }
}

TEST(ProductInChunks, OtherAlgorithmsHandOutAllAtOnce) {
  const auto a = matrices::erdos_renyi<double>(300, 300, 9, 1);
  const Algorithm algorithm = backend() == Backend::cuda ? baseline("esc") : baseline("eigen");
  ASSERT_FALSE(spgemm::makes_chunks(algorithm));
  std::vector<Csr<double>> chunks;
  Context limited = context();
  limited.memory_budget = 64 << 20;
  RunReport report;
  limited.report = &report;
  spgemm::multiply_in_chunks(
      limited, a, a, [&](Csr<double>& rows) { chunks.push_back(rows); }, algorithm);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_TRUE(same_bits(chunks[0], spgemm::multiply(context(), a, a, algorithm)));
  using Figure = std::pair<std::string, RunReport::Value>;
  EXPECT_THAT(report.figures(), testing::Contains(Figure("nnz_c", chunks[0].nnz())));
}

TEST(ProductInChunks, WhatTheSinkThrowsEndsTheProduct) {
  const auto a = matrices::erdos_renyi<double>(20'000, 20'000, 12, 1);
  Context limited = context();
  limited.memory_budget = small_budget;
  int calls = 0;
  EXPECT_THROW(spgemm::multiply_in_chunks(limited, a, a,
                                          [&](Csr<double>&) {
                                            if (++calls == 2) throw std::runtime_error("full");
                                          }),
               std::runtime_error);
  EXPECT_EQ(calls, 2);
}

TEST(ProductInChunks, ShapesThatDoNotConform) {
  const auto a = matrices::erdos_renyi<double>(3, 5, 2, 1);
  EXPECT_THROW(spgemm::multiply_in_chunks(context(), a, a, [](Csr<double>&) {}), Error);
}

}  // namespace
}  // namespace sortie::test
