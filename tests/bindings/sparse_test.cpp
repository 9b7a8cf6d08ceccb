// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "bindings/c/types.hpp"
#include "tests/bindings/place.hpp"
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
#include <cuda_runtime_api.h>
#endif

// Products of sparse matrices through the C interface, against sums in a map.
namespace sortie::test {
namespace {

using c::type_of;
using testing::HasSubstr;

template <class Value, class Offset, class Column>
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<Offset> row_ptr{0};
  std::vector<Column> col_idx;
  std::vector<Value> values;

  using Rows = std::vector<std::map<std::int64_t, Value>>;
  [[nodiscard]] Rows entries() const {
    Rows all(static_cast<std::size_t>(rows));
    for (std::size_t row = 0; row < all.size(); ++row) {
      for (Offset i = row_ptr[row]; i < row_ptr[row + 1]; ++i)
        all[row][static_cast<std::int64_t>(col_idx[static_cast<std::size_t>(i)])] +=
            values[static_cast<std::size_t>(i)];
    }
    return all;
  }
  /// Small whole numbers: every sum is exact.
  static Matrix random(std::int64_t rows, std::int64_t cols, unsigned seed) {
    std::mt19937 random(seed);
    Matrix matrix;
    matrix.rows = rows;
    matrix.cols = cols;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < cols; ++column) {
        if (random() % 20 != 0) continue;
        matrix.col_idx.push_back(static_cast<Column>(column));
        matrix.values.push_back(static_cast<Value>(1 + random() % 9));
      }
      matrix.row_ptr.push_back(static_cast<Offset>(matrix.col_idx.size()));
    }
    return matrix;
  }
};

template <class M>
typename M::Rows product(const M& a, const M& b) {
  const auto left = a.entries();
  const auto right = b.entries();
  typename M::Rows c(left.size());
  for (std::size_t row = 0; row < left.size(); ++row) {
    for (const auto& [k, value] : left[row]) {
      for (const auto& [column, factor] : right[static_cast<std::size_t>(k)])
        c[row][column] += value * factor;
    }
  }
  return c;
}

/// A matrix at a place.
template <class Value, class Offset, class Column>
struct Placed {
  Placed(const Place& where, const Matrix<Value, Offset, Column>& matrix)
      : place(where),
        rows(matrix.rows),
        cols(matrix.cols),
        row_ptr(place, matrix.row_ptr),
        col_idx(place, matrix.col_idx),
        values(place, matrix.values),
        nnz(static_cast<std::int64_t>(matrix.col_idx.size())) {}
  [[nodiscard]] sortie_csr_view view() {
    return {rows,
            cols,
            nnz,
            type_of<Offset>,
            type_of<Column>,
            type_of<Value>,
            place.memory,
            row_ptr.data(),
            col_idx.data(),
            values.data()};
  }
  Place place;
  std::int64_t rows;
  std::int64_t cols;
  PlacedArray<Offset> row_ptr;
  PlacedArray<Column> col_idx;
  PlacedArray<Value> values;
  std::int64_t nnz;
};

/// The entries of a result, copied with indices of these types. Columns must ascend strictly.
template <class Value, class Offset, class Column>
typename Matrix<Value, Offset, Column>::Rows entries_of(const Place& place, sortie_context* context,
                                                        const sortie_csr* matrix) {
  const sortie_csr_view view = sortie_csr_get(matrix);
  PlacedArray<Offset> row_ptr(place, static_cast<std::size_t>(view.rows) + 1, Offset{-7});
  PlacedArray<Column> col_idx(place, static_cast<std::size_t>(view.nnz), Column{-7});
  PlacedArray<Value> values(place, static_cast<std::size_t>(view.nnz), Value{-7});
  EXPECT_EQ(sortie_csr_copy(context, matrix, type_of<Offset>, row_ptr.data(), type_of<Column>,
                            col_idx.data(), values.data()),
            SORTIE_OK)
      << sortie_last_error(context);
  Matrix<Value, Offset, Column> copy{view.rows, view.cols, row_ptr.items(), col_idx.items(),
                                     values.items()};
  EXPECT_EQ(static_cast<std::int64_t>(copy.row_ptr.back()), view.nnz);
  for (std::int64_t row = 0; row < view.rows; ++row) {
    for (Offset i = copy.row_ptr[row] + 1; i < copy.row_ptr[row + 1]; ++i)
      EXPECT_LT(copy.col_idx[i - 1], copy.col_idx[i]);
  }
  return copy.entries();
}

template <class Types>
class CSpgemm : public testing::Test {};

template <class ValueType, class OffsetType, class ColumnType>
struct MatrixTypes {
  using Value = ValueType;
  using Offset = OffsetType;
  using Column = ColumnType;
};
using AllTypes = testing::Types<MatrixTypes<float, std::int32_t, std::int32_t>,
                                MatrixTypes<double, std::int32_t, std::int32_t>,
                                MatrixTypes<double, std::int64_t, std::int32_t>,
                                MatrixTypes<double, std::int64_t, std::int64_t>,
                                MatrixTypes<std::complex<double>, std::int32_t, std::int32_t>,
                                MatrixTypes<std::complex<double>, std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(CSpgemm, AllTypes);

TYPED_TEST(CSpgemm, EqualsSumsInAMap) {
  using Value = typename TypeParam::Value;
  using Offset = typename TypeParam::Offset;
  using Column = typename TypeParam::Column;
  using M = Matrix<Value, Offset, Column>;
  for (const auto& [rows, inner, cols] :
       {std::array<std::int64_t, 3>{80, 60, 90}, {1, 1, 1}, {0, 5, 7}, {5, 0, 7}, {5, 7, 0}}) {
    const M a = M::random(rows, inner, 1);
    const M b = M::random(inner, cols, 2);
    for (const Place& place : places()) {
      SCOPED_TRACE(testing::PrintToString(place));
      const CContext context(place);
      Placed<Value, Offset, Column> left(place, a);
      Placed<Value, Offset, Column> right(place, b);
      const sortie_csr_view views[] = {left.view(), right.view()};
      sortie_csr* c = nullptr;
      ASSERT_EQ(sortie_spgemm(context, &views[0], &views[1], 0, &c), SORTIE_OK) << context.error();
      const sortie_csr_view view = sortie_csr_get(c);
      EXPECT_EQ(view.rows, rows);
      EXPECT_EQ(view.cols, cols);
      EXPECT_EQ(view.memory, place.memory);
      EXPECT_EQ((entries_of<Value, std::int32_t, std::int32_t>(place, context, c)), product(a, b));
      EXPECT_EQ((entries_of<Value, std::int64_t, std::int64_t>(place, context, c)), product(a, b));
      sortie_csr_destroy(c);
    }
  }
}

TYPED_TEST(CSpgemm, PlanTakesNewValues) {
  using Value = typename TypeParam::Value;
  using Offset = typename TypeParam::Offset;
  using Column = typename TypeParam::Column;
  using M = Matrix<Value, Offset, Column>;
  const M a = M::random(70, 60, 3);
  const M b = M::random(60, 50, 4);
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    const CContext context(place);
    Placed<Value, Offset, Column> left(place, a);
    Placed<Value, Offset, Column> right(place, b);
    const sortie_csr_view views[] = {left.view(), right.view()};
    sortie_plan* plan = nullptr;
    ASSERT_EQ(sortie_plan_create(context, &views[0], &views[1], &plan), SORTIE_OK)
        << context.error();
    const auto nnz = static_cast<std::size_t>(sortie_plan_get(plan).nnz);
    for (int round = 1; round <= 3; ++round) {
      M scaled = a;
      for (Value& value : scaled.values) value *= static_cast<Value>(round);
      PlacedArray<Value> a_values(place, scaled.values);
      PlacedArray<Value> c_values(place, nnz, Value{-7});
      ASSERT_EQ(sortie_plan_multiply(context, plan, a_values.data(), right.values.data(),
                                     c_values.data()),
                SORTIE_OK)
          << context.error();
      std::vector<Value> expected;
      for (const auto& row : product(scaled, b))
        for (const auto& entry : row) expected.push_back(entry.second);
      EXPECT_EQ(c_values.items(), expected);
    }
    sortie_plan_destroy(plan);
  }
}

// The plan has one copy of A on the host, until the operands have different values.
TYPED_TEST(CSpgemm, PlanOfASquareTakesTwoArraysOfValues) {
  using Value = typename TypeParam::Value;
  using Offset = typename TypeParam::Offset;
  using Column = typename TypeParam::Column;
  using M = Matrix<Value, Offset, Column>;
  const M a = M::random(60, 60, 5);
  M b = a;
  for (Value& value : b.values) value *= Value{3};
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    const CContext context(place);
    Placed<Value, Offset, Column> operand(place, a);
    PlacedArray<Value> other(place, b.values);
    const sortie_csr_view view = operand.view();
    sortie_plan* plan = nullptr;
    ASSERT_EQ(sortie_plan_create(context, &view, &view, &plan), SORTIE_OK) << context.error();
    const auto nnz = static_cast<std::size_t>(sortie_plan_get(plan).nnz);
    const auto expect_product = [&](const M& left, PlacedArray<Value>& left_values, const M& right,
                                    PlacedArray<Value>& right_values) {
      PlacedArray<Value> c_values(place, nnz, Value{-7});
      ASSERT_EQ(sortie_plan_multiply(context, plan, left_values.data(), right_values.data(),
                                     c_values.data()),
                SORTIE_OK)
          << context.error();
      std::vector<Value> expected;
      for (const auto& row : product(left, right))
        for (const auto& entry : row) expected.push_back(entry.second);
      EXPECT_EQ(c_values.items(), expected);
    };
    expect_product(a, operand.values, a, operand.values);
    expect_product(b, other, b, other);
    expect_product(a, operand.values, b, other);
    expect_product(b, other, b, other);
    sortie_plan_destroy(plan);
  }
}

// On the host, a plan adds up in a sum for every column, or sorts if the budget is too small for it.
TYPED_TEST(CSpgemm, PlanWithoutMemoryForSums) {
  using Value = typename TypeParam::Value;
  using Offset = typename TypeParam::Offset;
  using Column = typename TypeParam::Column;
  using M = Matrix<Value, Offset, Column>;
  M a;
  a.rows = a.cols = 60;
  for (int row = 0; row < 60; ++row) {
    a.col_idx.push_back(static_cast<Column>(row));
    if (row % 10 == 0 && row != 50) a.col_idx.push_back(static_cast<Column>(row + 5));
    a.row_ptr.push_back(static_cast<Offset>(a.col_idx.size()));
  }
  a.values.assign(a.col_idx.size(), Value{3});
  const M b = M::random(60, 5000, 4);
  const Place place;
  const CContext context(place);
  Placed<Value, Offset, Column> left(place, a);
  Placed<Value, Offset, Column> right(place, b);
  const sortie_csr_view views[] = {left.view(), right.view()};
  sortie_plan* plan = nullptr;
  ASSERT_EQ(sortie_plan_create(context, &views[0], &views[1], &plan), SORTIE_OK) << context.error();
  const auto nnz = static_cast<std::size_t>(sortie_plan_get(plan).nnz);
  std::vector<Value> expected;
  for (const auto& row : product(a, b))
    for (const auto& entry : row) expected.push_back(entry.second);
  for (const std::uint64_t budget :
       {std::uint64_t{0}, 5000 * sizeof(Value), 5000 * sizeof(Value) - 1}) {
    SCOPED_TRACE(budget);
    ASSERT_EQ(sortie_set_memory_budget(context, budget), SORTIE_OK);
    PlacedArray<Value> c_values(place, nnz, Value{-7});
    ASSERT_EQ(sortie_plan_multiply(context, plan, left.values.data(), right.values.data(),
                                   c_values.data()),
              SORTIE_OK)
        << context.error();
    EXPECT_EQ(c_values.items(), expected);
  }
  sortie_plan_destroy(plan);
}

using Small = Matrix<double, std::int32_t, std::int32_t>;

#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
// Results on the default stream of device 1 are freed on that device, whichever is current.
TEST(CSpgemmOnTwoDevices, ResultsAreDestroyedWhileAnotherDeviceIsCurrent) {
  if (backend() == Backend::host || sortie_device_count() < 2)
    GTEST_SKIP() << "this test needs two GPUs";
  const Place place{SORTIE_DEVICE_MEMORY, SORTIE_BACKEND_CUDA};
  const CContext context(place);
  ASSERT_EQ(sortie_set_device(context, 1), SORTIE_OK);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  {
    const auto a = Matrix<double, std::int32_t, std::int64_t>::random(60, 60, 6);
    Placed<double, std::int32_t, std::int64_t> operand(place, a);  // of device 1
    const sortie_csr_view view = operand.view();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::uint64_t before = 0;
    ASSERT_EQ(sortie_device_memory_in_use(context, &before), SORTIE_OK);
    for (const int current : {1, 0}) {
      ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
      sortie_plan* plan = nullptr;
      sortie_csr* c = nullptr;
      ASSERT_EQ(sortie_plan_create(context, &view, &view, &plan), SORTIE_OK) << context.error();
      ASSERT_EQ(sortie_spgemm(context, &view, &view, 0, &c), SORTIE_OK) << context.error();
      sortie_plan_destroy(plan);
      sortie_csr_destroy(c);
      int now = -1;
      ASSERT_EQ(cudaGetDevice(&now), cudaSuccess);
      EXPECT_EQ(now, current);
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
      ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::uint64_t after = 0;
      ASSERT_EQ(sortie_device_memory_in_use(context, &after), SORTIE_OK);
      EXPECT_EQ(after, before);
    }
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}
#endif

sortie_csr_view view_of(const Small& matrix) {
  return {matrix.rows,
          matrix.cols,
          static_cast<std::int64_t>(matrix.col_idx.size()),
          SORTIE_I32,
          SORTIE_I32,
          SORTIE_F64,
          SORTIE_HOST_MEMORY,
          matrix.row_ptr.data(),
          matrix.col_idx.data(),
          matrix.values.data()};
}

TEST(CSpgemmOfHostMemory, TakesUnsortedAndDuplicateColumns) {
  const Small a{2, 3, {0, 4, 5}, {2, 0, 2, 1, 0}, {1, 2, 3, 4, 5}};
  const CContext context;
  const sortie_csr_view view = view_of(a);
  const Small identity{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}};
  const sortie_csr_view other = view_of(identity);
  sortie_csr* c = nullptr;
  ASSERT_EQ(sortie_spgemm(context, &view, &other, 0, &c), SORTIE_OK) << context.error();
  EXPECT_EQ((entries_of<double, std::int32_t, std::int32_t>({}, context, c)), a.entries());
  EXPECT_EQ(sortie_csr_get(c).nnz, 4);
  sortie_csr_destroy(c);
  sortie_plan* plan = nullptr;
  EXPECT_EQ(sortie_plan_create(context, &view, &other, &plan), SORTIE_INPUT);
  EXPECT_EQ(context.error(),
            "a: found a row whose columns do not ascend, expected ascending columns in every row");
}

TEST(CSpgemmOfHostMemory, PlanTakesAStructureWithoutValues) {
  const Small a{1, 2, {0, 2}, {0, 1}, {1, -1}};
  const CContext context;
  sortie_csr_view view = view_of(a);
  view.values = nullptr;
  const Small b{2, 1, {0, 1, 2}, {0, 0}, {5, 5}};
  sortie_csr_view other = view_of(b);
  sortie_plan* plan = nullptr;
  ASSERT_EQ(sortie_plan_create(context, &view, &other, &plan), SORTIE_OK) << context.error();
  EXPECT_EQ(sortie_plan_get(plan).nnz, 1);
  sortie_plan_destroy(plan);
  // The offsets do not tell of so many entries.
  other.nnz = std::int64_t{1} << 40;
  other.values = nullptr;
  EXPECT_EQ(sortie_plan_create(context, &view, &other, &plan), SORTIE_INPUT);
  EXPECT_EQ(context.error(), "b: found the last offset 2, expected nnz, 1099511627776");
}

TEST(CSpgemmOfHostMemory, PlanRefusesNullPointers) {
  const Small a{1, 2, {0, 2}, {0, 1}, {1, -1}};
  const Small b{2, 1, {0, 1, 2}, {0, 0}, {5, 5}};
  const CContext context;
  const sortie_csr_view views[] = {view_of(a), view_of(b)};
  sortie_plan* plan = nullptr;
  ASSERT_EQ(sortie_plan_create(context, &views[0], &views[1], &plan), SORTIE_OK);
  double c = 7;
  EXPECT_EQ(sortie_plan_multiply(context, plan, nullptr, b.values.data(), &c), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "a_values: found a null pointer, expected 2 elements");
  EXPECT_EQ(sortie_plan_multiply(context, plan, a.values.data(), nullptr, &c), SORTIE_USAGE);
  EXPECT_EQ(sortie_plan_multiply(context, plan, a.values.data(), b.values.data(), nullptr),
            SORTIE_USAGE);
  EXPECT_EQ(c, 7);
  EXPECT_EQ(sortie_plan_multiply(context, plan, a.values.data(), b.values.data(), &c), SORTIE_OK);
  EXPECT_EQ(c, 0);
  sortie_plan_destroy(plan);
}

TEST(CSpgemmOfHostMemory, DropsZerosWhereAsked) {
  const Small a{1, 2, {0, 2}, {0, 1}, {1, -1}};
  const Small b{2, 1, {0, 1, 2}, {0, 0}, {5, 5}};
  const CContext context;
  const sortie_csr_view views[] = {view_of(a), view_of(b)};
  for (const unsigned flags : {0u, unsigned{SORTIE_DROP_ZEROS}}) {
    sortie_csr* c = nullptr;
    ASSERT_EQ(sortie_spgemm(context, &views[0], &views[1], flags, &c), SORTIE_OK);
    EXPECT_EQ(sortie_csr_get(c).nnz, flags == 0 ? 1 : 0);
    sortie_csr_destroy(c);
  }
}

TEST(CSpgemmOfHostMemory, ErrorsNameRowAndArgument) {
  const Small good{2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
  struct Case {
    Small matrix;
    sortie_status status;
    const char* message;
  };
  const std::vector<Case> cases{
      {{2, 2, {0, 1, 2}, {0, 2}, {1, 1}},
       SORTIE_INPUT,
       "a: row 1: found column 2, expected a column from 0 to 1"},
      {{2, 2, {0, 1, 2}, {0, -1}, {1, 1}},
       SORTIE_INPUT,
       "a: row 1: found column -1, expected a column from 0 to 1"},
      {{2, 2, {0, 3, 2}, {0, 1}, {1, 1}},
       SORTIE_INPUT,
       "a: row 1: found offsets 3 and 2, expected ascending offsets"},
      {{2, 2, {1, 1, 2}, {0, 1}, {1, 1}}, SORTIE_INPUT, "a: row 0: found offset 1, expected 0"},
      {{2, 2, {0, 1, 1}, {0, 1}, {1, 1}},
       SORTIE_INPUT,
       "a: found the last offset 1, expected nnz, 2"},
      {{2, 3, {0, 1, 2}, {0, 1}, {1, 1}},
       SORTIE_INPUT,
       "b: found 2 rows, expected 3, the columns of a"}};
  const CContext context;
  const sortie_csr_view other = view_of(good);
  for (const Case& one : cases) {
    const sortie_csr_view view = view_of(one.matrix);
    sortie_csr* c = nullptr;
    EXPECT_EQ(sortie_spgemm(context, &view, &other, 0, &c), one.status);
    EXPECT_EQ(context.error(), one.message);
    EXPECT_EQ(c, nullptr);
  }
  sortie_csr* c = nullptr;
  sortie_csr_view view = other;
  view.value_type = SORTIE_I32;
  EXPECT_EQ(sortie_spgemm(context, &view, &other, 0, &c), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "value_type: found i32, expected f32, f64 or c128");
  view = other;
  view.value_type = SORTIE_F32;
  EXPECT_EQ(sortie_spgemm(context, &view, &other, 0, &c), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "b.value_type: found f64, expected f32");
  view = other;
  view.rows = -1;
  EXPECT_EQ(sortie_spgemm(context, &view, &other, 0, &c), SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("a: found -1 rows"));
  view = other;
  view.values = nullptr;
  EXPECT_EQ(sortie_spgemm(context, &view, &other, 0, &c), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "a.values: found a null pointer, expected 2 elements");
  EXPECT_EQ(sortie_spgemm(context, &other, &other, 8, &c), SORTIE_USAGE);
  EXPECT_EQ(sortie_spgemm(context, nullptr, &other, 0, &c), SORTIE_USAGE);
  EXPECT_EQ(sortie_spgemm(context, &other, &other, 0, nullptr), SORTIE_USAGE);
}

TEST(CSpgemmOfHostMemory, NarrowIndicesMustHoldTheColumns) {
  const std::int64_t cols = std::int64_t{1} << 33;
  const std::vector<std::int64_t> row_ptr{0, 1};
  const std::vector<std::int64_t> col_idx{0};
  const std::vector<double> values{2};
  const CContext context;
  const sortie_csr_view a{1,
                          1,
                          1,
                          SORTIE_I64,
                          SORTIE_I64,
                          SORTIE_F64,
                          SORTIE_HOST_MEMORY,
                          row_ptr.data(),
                          col_idx.data(),
                          values.data()};
  const std::vector<std::int64_t> wide{cols - 1};
  const sortie_csr_view b{1,
                          cols,
                          1,
                          SORTIE_I64,
                          SORTIE_I64,
                          SORTIE_F64,
                          SORTIE_HOST_MEMORY,
                          row_ptr.data(),
                          wide.data(),
                          values.data()};
  sortie_csr* c = nullptr;
  ASSERT_EQ(sortie_spgemm(context, &a, &b, 0, &c), SORTIE_OK) << context.error();
  std::int32_t narrow = 0;
  EXPECT_EQ(sortie_csr_copy(context, c, SORTIE_I64, nullptr, SORTIE_I32, &narrow, nullptr),
            SORTIE_INPUT);
  EXPECT_EQ(context.error(), "col_idx_type: found i32 for indices up to 8589934591, expected i64");
  EXPECT_EQ(static_cast<const std::int64_t*>(sortie_csr_get(c).col_idx)[0], cols - 1);
  sortie_csr_destroy(c);
}

}  // namespace
}  // namespace sortie::test
