// SPDX-License-Identifier: Apache-2.0
#include "sortie/galerkin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/spgemm/host/row_programs.hpp"
#include "matrices/generators.hpp"
#include "sortie/run_report.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

template <class Value, class Idx>
Csr<Value, Idx> absolute(Csr<Value, Idx> matrix) {
  for (Value& value : matrix.values) value = Value(std::abs(value));
  return matrix;
}

/// The sums of galerkin() for a P of at most one entry a row, one product at a time.
template <class Value, class Idx>
Csr<Value, Idx> plain_aggregation(const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& p) {
  Csr<Value, Idx> c = reference_product(reference_product(r, a), p);  // for the structure
  for (std::int64_t row = 0; row < c.rows; ++row) {
    std::vector<Value> sums(static_cast<std::size_t>(p.cols), -Value{});
    for (std::int64_t i = r.row_ptr[row]; i < r.row_ptr[row + 1]; ++i) {
      const std::int64_t k = r.col_idx[i];
      for (std::int64_t j = a.row_ptr[k]; j < a.row_ptr[k + 1]; ++j) {
        const std::int64_t l = a.col_idx[j];
        for (std::int64_t e = p.row_ptr[l]; e < p.row_ptr[l + 1]; ++e)
          sums[p.col_idx[e]] += r.values[i] * a.values[j] * p.values[e];
      }
    }
    for (std::int64_t i = c.row_ptr[row]; i < c.row_ptr[row + 1]; ++i)
      c.values[i] = sums[c.col_idx[i]];
  }
  return c;
}

template <class Matrix>
bool has_one_entry_a_row(const Matrix& p) {
  for (std::int64_t row = 0; row < p.rows; ++row)
    if (p.row_ptr[row + 1] - p.row_ptr[row] > 1) return false;
  return true;
}

/// Compares galerkin() with two reference products: bit by bit on the host, within the bound of
/// rounding on CUDA.
template <class Value, class Idx>
void expect_galerkin(const Csr<Value, Idx>& r, const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  const Csr<Value, Idx> expected = has_one_entry_a_row(p)
                                       ? plain_aggregation(r, a, p)
                                       : reference_product(reference_product(r, a), p);
  const Csr<Value, Idx> c = spgemm::galerkin(context(), r, a, p);
  EXPECT_NO_THROW(matrices::validate(c));
  if (backend() == Backend::host) {
    EXPECT_TRUE(same_bits(c, expected));
    return;
  }
  const std::int64_t terms = longest_row(r) * longest_row(a) + longest_row(p);
  EXPECT_NO_THROW(spgemm::compare(c, expected, reference_product(absolute(r), absolute(a)),
                                  absolute(p), rounding_tolerance<Value>(terms)));
  EXPECT_TRUE(same_bits(c, spgemm::galerkin(context(), r, a, p)));
}

template <class T>
class Galerkin : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  static Matrix random(std::int64_t rows, std::int64_t cols, std::int64_t row_nnz,
                       std::uint64_t seed = 1) {
    return matrices::erdos_renyi<Value, Idx>(rows, cols, row_nnz, seed);
  }
  static Matrix grid() { return matrices::stencil<Value, Idx>(27, 12, 11, 10, 1); }
  /// One entry in a row; every seventh row and every fifth column is empty.
  static Matrix aggregation(std::int64_t rows, std::int64_t cols) {
    std::vector<std::tuple<std::int64_t, std::int64_t, Value>> list;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t column = row * 7919 % cols;
      if (row % 7 != 3 && column % 5 != 2)
        list.emplace_back(row, column, Value(1 + row) / Value(3));
    }
    return from_entries<Value, Idx>(rows, cols, list);
  }
  static void expect_pair(const Matrix& a, const Matrix& p) {
    const Matrix r = matrices::transpose(p);
    expect_galerkin(r, a, p);
    EXPECT_TRUE(same_bits(spgemm::galerkin(context(), a, p), spgemm::galerkin(context(), r, a, p)));
  }
};

TYPED_TEST_SUITE(Galerkin, AllTypes);

TYPED_TEST(Galerkin, Aggregation) {
  const auto a = this->grid();
  this->expect_pair(a, this->aggregation(a.rows, 60));
  this->expect_pair(a, this->random(a.rows, 40, 1));
  this->expect_pair(this->random(900, 900, 6), this->aggregation(900, 31));
}

TYPED_TEST(Galerkin, SeveralEntriesInARow) {
  const auto a = this->grid();
  this->expect_pair(a, this->random(a.rows, 60, 4));
  this->expect_pair(a, this->random(a.rows, 2000, 3));
  // Smoothed: A times an aggregation.
  this->expect_pair(a, reference_product(a, this->aggregation(a.rows, 60)));
  const auto power = matrices::power_law<typename TypeParam::Value, typename TypeParam::Idx>(
      1500, 1500, 1.6, 300, 3);
  this->expect_pair(power, this->random(1500, 200, 2));
}

TYPED_TEST(Galerkin, RectangularFactors) {
  expect_galerkin(this->random(70, 300, 9), this->random(300, 500, 5, 2), this->random(500, 40, 3));
  expect_galerkin(this->random(70, 300, 9), this->random(300, 500, 5, 2), this->random(500, 40, 1));
  expect_galerkin(this->random(1, 300, 300), this->random(300, 20, 7), this->random(20, 1000, 90));
}

TYPED_TEST(Galerkin, WithoutRowsColumnsOrEntries) {
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    return from_entries<typename TypeParam::Value, typename TypeParam::Idx>(rows, cols, {});
  };
  for (const std::int64_t entries : {1, 2}) {
    const auto p = this->random(7, 5, entries);
    expect_galerkin(empty(0, 7), this->random(7, 7, 2), p);
    expect_galerkin(empty(4, 7), this->random(7, 7, 2), p);
    expect_galerkin(this->random(4, 7, 2), empty(7, 7), p);
    expect_galerkin(empty(3, 0), empty(0, 7), p);
    expect_galerkin(this->random(4, 7, 2), empty(7, 0), empty(0, 9));
    expect_galerkin(this->random(4, 7, 2), this->random(7, 7, 2), empty(7, 3));
    expect_galerkin(this->random(4, 7, 2), this->random(7, 7, 2), empty(7, 0));
  }
  this->expect_pair(empty(0, 0), empty(0, 0));
  this->expect_pair(empty(6, 6), empty(6, 0));
}

TYPED_TEST(Galerkin, AnyBudgetGivesTheSameBits) {
  const auto a = this->grid();
  for (const std::int64_t entries : {1, 4}) {
    const auto p = this->random(a.rows, 60, entries);
    const auto expected = spgemm::galerkin(context(), a, p);
    for (const std::uint64_t budget : {std::uint64_t{1} << 19, std::uint64_t{1} << 24}) {
      Context limited = context();
      limited.memory_budget = backend() == Backend::cuda ? 32 * budget : budget;
      EXPECT_TRUE(same_bits(spgemm::galerkin(limited, a, p), expected)) << budget;
    }
  }
}

TYPED_TEST(Galerkin, SizesAreBounds) {
  const auto a = this->grid();
  for (const std::int64_t entries : {1, 4}) {
    const auto p = this->random(a.rows, 60, entries);
    const auto r = matrices::transpose(p);
    const auto c = spgemm::galerkin(context(), r, a, p);
    const spgemm::GalerkinSize size = spgemm::galerkin_size(context(), r, a, p);
    EXPECT_EQ(size.rows, c.rows);
    EXPECT_EQ(size.cols, c.cols);
    EXPECT_EQ(size.products, spgemm::count_products(r, a));
    EXPECT_EQ(size.triples, entries * size.products);
    EXPECT_GE(size.nnz_c_bound, c.nnz());
    EXPECT_LE(size.nnz_c_bound, c.rows * c.cols);
    EXPECT_LE(size.space.least, size.space.most);
    const spgemm::GalerkinSize of_pair = spgemm::galerkin_size(context(), a, p);
    EXPECT_EQ(of_pair.triples, size.triples);
    EXPECT_GT(of_pair.space.least, size.space.least);
    if (backend() == Backend::cuda) continue;  // the second product may need more
    Context least = context();
    least.memory_budget = size.space.least;
    EXPECT_TRUE(same_bits(spgemm::galerkin(least, r, a, p), c));
    least.memory_budget = of_pair.space.least;
    EXPECT_TRUE(same_bits(spgemm::galerkin(least, a, p), c));
  }
}

TYPED_TEST(Galerkin, PlanComputesNewValues) {
  using Plan = spgemm::GalerkinPlan<typename TypeParam::Value, typename TypeParam::Idx>;
  auto a = this->grid();
  for (const std::int64_t entries : {1, 4}) {
    auto p = this->random(a.rows, 60, entries);
    Plan plan(context(), a, p);
    EXPECT_TRUE(same_bits(plan.c(), spgemm::galerkin(Context{context(), Backend::host}, a, p)));
    for (auto& value : a.values) value *= -3;
    for (auto& value : p.values) value += value * value;
    const auto expected = spgemm::galerkin(Context{{}, Backend::host}, a, p);
    for (int round = 0; round < 2; ++round) {
      plan.multiply(context(), a, p);
      EXPECT_TRUE(same_bits(plan.c(), expected));
    }
    const auto r = this->random(33, a.rows, 5);
    Plan of_three(context(), r, a, p);
    of_three.multiply(context(), r, a, p);
    EXPECT_TRUE(same_bits(of_three.c(), spgemm::galerkin(Context{{}, Backend::host}, r, a, p)));
  }
}

/// A long grid with boxes of 3 x 3 x 3 points as aggregates, whose rows repeat.
template <class Value, class Idx>
std::pair<Csr<Value, Idx>, Csr<Value, Idx>> grid_with_boxes(bool smoothed) {
  constexpr std::int64_t nx = 300;
  constexpr std::int64_t ny = 4;
  auto a = matrices::stencil<Value, Idx>(27, nx, ny, 4, 1);
  std::vector<std::tuple<std::int64_t, std::int64_t, Value>> list;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t box =
        (row / (nx * ny) / 3 * 2 + row / nx % ny / 3) * (nx / 3) + row % nx / 3;
    list.emplace_back(row, box, Value(1 + row % 89) / Value(3));
  }
  auto p = from_entries<Value, Idx>(a.rows, 4 * nx / 3, list);
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] *= Value(1 + i % 97) / Value(7);
  if (smoothed) p = reference_product(a, p);
  return {std::move(a), std::move(p)};
}

TYPED_TEST(Galerkin, RowsThatRepeat) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  for (const bool smoothed : {false, true}) {
    auto [a, p] = grid_with_boxes<Value, Idx>(smoothed);
    const auto r = matrices::transpose(p);
    const std::vector<std::int64_t> offsets = spgemm::host::product_offsets(r, a);
    const auto programs = [&] {
      return spgemm::host::RowPrograms<Value, Idx>::find(r, a, p, offsets, !smoothed, 1 << 30);
    };
    EXPECT_NE(programs(), nullptr);
    this->expect_pair(a, p);
    spgemm::GalerkinPlan<Value, Idx> plan(context(), a, p);
    for (Value& value : a.values) value *= Value(-3) / Value(7);
    for (Value& value : p.values) value += value * value;
    plan.multiply(context(), a, p);
    EXPECT_TRUE(same_bits(plan.c(), spgemm::galerkin(Context{{}, Backend::host}, a, p)));
    spgemm::GalerkinPlan<Value, Idx> of_three(context(), r, a, p);
    of_three.multiply(context(), a, p);
    EXPECT_TRUE(same_bits(of_three.c(), plan.c()));
    this->expect_pair(a, p);
    // Columns out of the order of other rows, and rows with other columns.
    for (std::size_t i = 0; i < p.col_idx.size() && !smoothed; ++i)
      if (i % 100 < 60) p.col_idx[i] ^= 1;
    for (std::int64_t row = 1000; row < 1100; ++row) {
      Idx* const end = a.col_idx.data() + a.row_ptr[row + 1];
      if (end[-1] + 1 < a.cols) ++end[-1];
    }
    this->expect_pair(a, p);
    spgemm::GalerkinPlan<Value, Idx> other(context(), a, p);
    for (Value& value : a.values) value *= Value(5) / Value(9);
    other.multiply(context(), a, p);
    EXPECT_TRUE(same_bits(other.c(), spgemm::galerkin(Context{{}, Backend::host}, a, p)));
    // The pattern of each row of A is another one.
    const auto random = this->random(a.rows, a.cols, 5);
    EXPECT_EQ((spgemm::host::RowPrograms<Value, Idx>::find(
                  r, random, p, spgemm::host::product_offsets(r, random), !smoothed, 1 << 30)),
              nullptr);
  }
}

TEST(GalerkinErrors, ShapesThatDoNotConform) {
  const auto random = [](std::int64_t rows, std::int64_t cols) {
    return matrices::erdos_renyi<double>(rows, cols, 1, 1);
  };
  EXPECT_THAT(
      error_message(ErrorKind::input,
                    [&] { (void)spgemm::galerkin(context(), random(5, 5), random(4, 2)); }),
      HasSubstr("found A of 5 x 5 and P of 4 x 2, expected a square A with as many rows as P"));
  EXPECT_THAT(error_message(ErrorKind::input,
                            [&] { (void)spgemm::galerkin(context(), random(5, 4), random(4, 2)); }),
              HasSubstr("found A of 5 x 4 and P of 4 x 2"));
  EXPECT_THAT(
      error_message(
          ErrorKind::input,
          [&] { (void)spgemm::galerkin(context(), random(3, 6), random(5, 4), random(4, 2)); }),
      HasSubstr("found R of 3 x 6, A of 5 x 4 and P of 4 x 2, expected as many columns in "
                "R as rows in A, and in A as rows in P"));
  EXPECT_THAT(error_message(ErrorKind::input,
                            [&] {
                              (void)spgemm::galerkin_size(context(), random(3, 5), random(5, 4),
                                                          random(3, 2));
                            }),
              HasSubstr("P of 3 x 2"));
  spgemm::GalerkinPlan<double, std::int32_t> of_three({}, random(2, 5), random(5, 5), random(5, 2));
  EXPECT_THAT(
      error_message(ErrorKind::input, [&] { of_three.multiply({}, random(5, 5), random(5, 2)); }),
      HasSubstr("found P^T of 2 x 5 with 5 entries, expected that of the plan, 2 x 5 with 2"));
  spgemm::GalerkinPlan<double, std::int32_t> plan({}, random(5, 5), random(5, 2));
  auto more = matrices::erdos_renyi<double>(5, 5, 2, 1);
  EXPECT_THAT(error_message(ErrorKind::input, [&] { plan.multiply({}, more, random(5, 2)); }),
              HasSubstr("found A of 5 x 5 with 10 entries, expected that of the plan, 5 x 5 with "
                        "5"));
}

TEST(GalerkinErrors, BudgetBelowWhatIsNeeded) {
  const auto a = matrices::stencil<double, std::int32_t>(27, 12, 11, 10, 1);
  const auto p = matrices::erdos_renyi<double>(a.rows, 60, 3, 1);
  Context limited = context();
  limited.memory_budget = 100;
  expect_error([&] { (void)spgemm::galerkin(limited, a, p); }, ErrorKind::out_of_memory,
               HasSubstr("the transpose of P"));
  if (backend() == Backend::cuda) return;
  const auto r = matrices::transpose(p);
  limited.memory_budget = spgemm::galerkin_size(context(), r, a, p).space.least - 1;
  expect_error([&] { (void)spgemm::galerkin(limited, r, a, p); }, ErrorKind::out_of_memory,
               HasSubstr("the sums of a row of R * A * P"));
}

TEST(GalerkinReport, HasTheEntriesOfC) {
  RunReport report;
  Context reporting = context();
  reporting.report = &report;
  const auto a = matrices::stencil<double, std::int32_t>(27, 6, 5, 4, 1);
  const auto c = spgemm::galerkin(reporting, a, matrices::erdos_renyi<double>(a.rows, 9, 2, 1));
  EXPECT_GT(c.nnz(), 0);
  ASSERT_EQ(report.figures().back().first, "nnz_c");
  EXPECT_EQ(std::get<std::int64_t>(report.figures().back().second), c.nnz());
}

}  // namespace
}  // namespace sortie::test
