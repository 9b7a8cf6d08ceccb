// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include "core/random.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices;

template <class Types>
class CsrOfTypes : public testing::Test {};
TYPED_TEST_SUITE(CsrOfTypes, AllMatrixTypes);

// Entries at random places; values are small integers, whose sums are exact in every type.
template <class Coo>
Coo random_coo(std::int64_t rows, std::int64_t cols, int entries, std::uint64_t seed) {
  Random random(seed);
  Coo coo;
  coo.rows = rows;
  coo.cols = cols;
  for (int i = 0; i < entries; ++i) {
    coo.row_idx.push_back(static_cast<typename Coo::index_type>(random.below(rows)));
    coo.col_idx.push_back(static_cast<typename Coo::index_type>(random.below(cols)));
    coo.values.push_back(static_cast<typename Coo::value_type>(random.below(100)));
  }
  return coo;
}

template <class Coo>
auto as_map(const Coo& coo) {
  std::map<std::pair<std::int64_t, std::int64_t>, typename Coo::value_type> sums;
  for (std::size_t i = 0; i < coo.values.size(); ++i) {
    sums[{coo.row_idx[i], coo.col_idx[i]}] += coo.values[i];
  }
  return sums;
}

struct Shape {
  std::int64_t rows;
  std::int64_t cols;
  int entries;
};
constexpr Shape shapes[] = {{0, 0, 0},     {0, 5, 0},     {5, 0, 0},          {1, 1, 1},
                            {1, 1, 9},     {7, 3, 0},     {30, 20, 200},      {20, 30, 2000},
                            {1, 500, 300}, {500, 1, 300}, {9000, 9000, 20000}};

TYPED_TEST(CsrOfTypes, ToCsrSortsAndSums) {
  using Coo = typename TypeParam::Coo;
  for (const Shape& shape : shapes) {
    const Coo coo = random_coo<Coo>(shape.rows, shape.cols, shape.entries, 1);
    const auto csr = to_csr(coo);
    validate(csr);
    EXPECT_EQ(csr.rows, shape.rows);
    EXPECT_EQ(csr.cols, shape.cols);
    const auto expected = as_map(coo);
    EXPECT_EQ(csr.nnz(), std::ssize(expected));
    EXPECT_EQ(as_map(to_coo(csr)), expected);
  }
}

TYPED_TEST(CsrOfTypes, ToCooAndBack) {
  using Coo = typename TypeParam::Coo;
  for (const Shape& shape : shapes) {
    const auto csr = to_csr(random_coo<Coo>(shape.rows, shape.cols, shape.entries, 2));
    const Coo coo = to_coo(csr);
    EXPECT_TRUE(std::is_sorted(coo.row_idx.begin(), coo.row_idx.end()));
    EXPECT_EQ(to_csr(coo), csr);
  }
}

TYPED_TEST(CsrOfTypes, TransposeSwapsIndices) {
  using Coo = typename TypeParam::Coo;
  for (const Shape& shape : shapes) {
    Coo coo = random_coo<Coo>(shape.rows, shape.cols, shape.entries, 3);
    const auto csr = to_csr(coo);
    const auto transposed = transpose(csr);
    validate(transposed);
    std::swap(coo.rows, coo.cols);
    std::swap(coo.row_idx, coo.col_idx);
    EXPECT_EQ(transposed, to_csr(coo));
    EXPECT_EQ(transpose(transposed), csr);
  }
}

TYPED_TEST(CsrOfTypes, SumsInListOrder) {
  using Value = typename TypeParam::value_type;
  typename TypeParam::Coo coo;
  coo.rows = 2;
  coo.cols = 2;
  // The large numbers cancel only when they are added one after the other.
  coo.row_idx = {1, 0, 1, 1, 1};
  coo.col_idx = {0, 1, 0, 0, 0};
  coo.values = {Value(1e18), Value(2), Value(-1e18), Value(1), Value(0.25)};
  EXPECT_THAT(to_csr(coo).values, testing::ElementsAre(Value(2), Value(1.25)));
}

TEST(Csr, SumsOfFractionsAreThoseInListOrder) {
  // Some rows are short, some long enough for the other way of sorting them; sums of sevenths in
  // float depend on the order.
  for (const std::int64_t rows : {3, 300, 40000}) {
    Coo<float> coo = random_coo<Coo<float>>(rows, 60000 / rows, 100000, 4);
    for (float& value : coo.values) value /= 7;
    EXPECT_EQ(as_map(to_coo(to_csr(coo))), as_map(coo));
  }
}

TEST(Csr, DefaultIsEmptyAndValid) {
  const Csr<double> csr;
  validate(csr);
  EXPECT_EQ(csr.nnz(), 0);
  EXPECT_EQ(transpose(csr), csr);
}

TEST(Csr, ToCsrRefusesBadLists) {
  Coo<double> coo{.rows = 2, .cols = 3, .row_idx = {0, 1}, .col_idx = {0, 2}, .values = {1, 2}};
  EXPECT_EQ(to_csr(coo).nnz(), 2);
  Coo<double> bad = coo;
  bad.row_idx[1] = 2;
  EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)to_csr(bad); }),
            "matrix: found row index 2 in entry 1, expected an index from 0 to 1");
  bad = coo;
  bad.col_idx[0] = -1;
  EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)to_csr(bad); }),
            "matrix: found column index -1 in entry 0, expected an index from 0 to 2");
  bad = coo;
  bad.values.pop_back();
  EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)to_csr(bad); }),
            "matrix: found 2 row indices, 2 column indices and 1 values, expected as many of each");
}

TEST(Csr, ValidateNamesTheFirstBrokenRow) {
  const Csr<double> good{.rows = 3,
                         .cols = 4,
                         .row_ptr = {0, 2, 2, 4},
                         .col_idx = {0, 3, 1, 2},
                         .values = {1, 2, 3, 4}};
  validate(good);
  const auto message = [&](const std::function<void(Csr<double>&)>& spoil) {
    Csr<double> bad = good;
    spoil(bad);
    return error_message(ErrorKind::input, [&] { validate(bad); });
  };
  EXPECT_EQ(message([](auto& m) { m.rows = -1; }),
            "matrix: found -1 rows and 4 columns, expected sizes of at least 0");
  EXPECT_EQ(message([](auto& m) { m.row_ptr.pop_back(); }),
            "matrix: found 3 row offsets, expected 4 for 3 rows");
  EXPECT_EQ(message([](auto& m) { m.row_ptr[0] = 1; }),
            "matrix: found first row offset 1, expected 0");
  EXPECT_EQ(message([](auto& m) { m.row_ptr[3] = 3; }),
            "matrix: found 4 columns, 4 values and a last row offset of 3, expected as many of "
            "each");
  EXPECT_EQ(message([](auto& m) { m.row_ptr[1] = 5; }),
            "matrix: found offsets 0 to 5 for row 0, expected ascending offsets up to 4");
  EXPECT_EQ(message([](auto& m) { m.row_ptr[2] = 1; }),
            "matrix: found offsets 2 to 1 for row 1, expected ascending offsets up to 4");
  EXPECT_EQ(message([](auto& m) { m.col_idx[3] = 4; }),
            "matrix: found column 4 in row 2, expected ascending columns, here from 2 to 3");
  EXPECT_EQ(message([](auto& m) { m.col_idx[3] = 1; }),
            "matrix: found column 1 in row 2, expected ascending columns, here from 2 to 3");
  EXPECT_EQ(message([](auto& m) { m.col_idx[0] = -1; }),
            "matrix: found column -1 in row 0, expected ascending columns, here from 0 to 3");
}

TYPED_TEST(CsrOfTypes, DropZeros) {
  using Value = typename TypeParam::value_type;
  typename TypeParam::Csr matrix{.rows = 4,
                                 .cols = 5,
                                 .row_ptr = {0, 3, 3, 4, 6},
                                 .col_idx = {0, 2, 4, 1, 0, 3},
                                 .values = {Value(0), Value(1), Value(-0.0), Value(0), Value(2),
                                            Value(std::numeric_limits<float>::quiet_NaN())}};
  EXPECT_EQ(drop_zeros(matrix), 3);
  validate(matrix);
  EXPECT_THAT(matrix.row_ptr, testing::ElementsAre(0, 1, 1, 1, 3));
  EXPECT_THAT(matrix.col_idx, testing::ElementsAre(2, 0, 3));
  EXPECT_EQ(matrix.values[0], Value(1));
  EXPECT_EQ(matrix.values[1], Value(2));
  EXPECT_EQ(drop_zeros(matrix), 0);
  EXPECT_EQ(matrix.nnz(), 3);
}

TEST(DropZeros, ComplexEntriesAreZeroWithBothParts) {
  using Complex = std::complex<double>;
  Csr<Complex> matrix{.rows = 1,
                      .cols = 3,
                      .row_ptr = {0, 3},
                      .col_idx = {0, 1, 2},
                      .values = {Complex(0, 1), Complex(0, 0), Complex(1e-300, 0)}};
  EXPECT_EQ(drop_zeros(matrix), 1);
  EXPECT_THAT(matrix.col_idx, testing::ElementsAre(0, 2));
}

TEST(DropZeros, OfNothing) {
  Csr<double> empty;
  EXPECT_EQ(drop_zeros(empty), 0);
  EXPECT_EQ(empty, Csr<double>{});
}

TYPED_TEST(CsrOfTypes, PatternAndOnes) {
  using Value = typename TypeParam::value_type;
  const typename TypeParam::Csr matrix{
      .rows = 2, .cols = 3, .row_ptr = {0, 1, 3}, .col_idx = {2, 0, 1}, .values = {5, 0, 7}};
  const auto pattern = pattern_of(matrix);
  EXPECT_EQ(pattern.rows, 2);
  EXPECT_EQ(pattern.cols, 3);
  EXPECT_EQ(pattern.row_ptr, matrix.row_ptr);
  EXPECT_EQ(pattern.col_idx, matrix.col_idx);  // explicit zeros are entries
  const auto ones = with_ones<Value>(pattern);
  EXPECT_EQ(pattern_of(ones), pattern);
  EXPECT_THAT(ones.values, testing::Each(Value{1}));
}

}  // namespace
}  // namespace sortie::test
