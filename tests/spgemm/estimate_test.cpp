// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "matrices/generators.hpp"
#include "sortie/devices.hpp"
#include "sortie/spgemm_estimate.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using spgemm::product_size;
using spgemm::ProductSize;
using spgemm::work_space;
using spgemm::WorkSpace;

template <class T>
class Estimates : public testing::Test {};
TYPED_TEST_SUITE(Estimates, AllTypes);

// A = [x . x; . . .; x x x], B = [x x; x .; . x]: rows of C have 3, 0 and 4 products.
TYPED_TEST(Estimates, SizesByHand) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  const auto a = from_entries<Value, Idx>(
      3, 3, {{0, 0, 1.0F}, {0, 2, 2.0F}, {2, 0, 3.0F}, {2, 1, 4.0F}, {2, 2, 5.0F}});
  const auto b =
      from_entries<Value, Idx>(3, 2, {{0, 0, 1.0F}, {0, 1, 2.0F}, {1, 0, 3.0F}, {2, 1, 4.0F}});
  const ProductSize size = product_size(a, b);
  EXPECT_EQ(size.rows, 3);
  EXPECT_EQ(size.cols, 2);
  EXPECT_EQ(size.nnz_a, 5);
  EXPECT_EQ(size.nnz_b, 4);
  EXPECT_EQ(size.products, 7);
  EXPECT_EQ(size.longest_row, 2);
  EXPECT_EQ(size.longest_row_products, 4);
  EXPECT_EQ(size.nnz_c_bound, 4);  // 2 and 2: no row has more entries than columns
  constexpr std::uint64_t entry = sizeof(Value) + sizeof(Idx);
  EXPECT_EQ(size.bytes_a, 4 * 8 + 5 * entry);
  EXPECT_EQ(size.bytes_b, 4 * 8 + 4 * entry);
  EXPECT_EQ(size.bytes_c_bound, 4 * 8 + 4 * entry);
}

TYPED_TEST(Estimates, BoundsTheProduct) {
  using Value = typename TypeParam::Value;
  using Idx = typename TypeParam::Idx;
  for (const std::int64_t cols : {20, 300, 3000}) {
    const auto a = matrices::power_law<Value, Idx>(200, 400, 1.2, 90, 1);
    const auto b = matrices::erdos_renyi<Value, Idx>(400, cols, 6, 2);
    const ProductSize size = product_size(a, b);
    EXPECT_EQ(size.products, spgemm::count_products(a, b));
    EXPECT_GE(size.nnz_c_bound, reference_product(a, b).nnz());
    EXPECT_LE(size.nnz_c_bound, std::min(size.products, a.rows * cols));
  }
}

TEST(Estimate, ExactWhereNoProductsMeet) {
  const auto diagonal = matrices::banded<double>(70, 0, 1);
  const ProductSize size = product_size(diagonal, diagonal);
  EXPECT_EQ(size.nnz_c_bound, 70);
  EXPECT_EQ(size.products, 70);
  EXPECT_EQ(size.longest_row, 0);  // the first of equals
  EXPECT_EQ(size.longest_row_products, 1);
}

TEST(Estimate, NothingToMultiply) {
  Csr<double> none;
  const ProductSize size = product_size(none, none);
  EXPECT_EQ(size.products, 0);
  EXPECT_EQ(size.longest_row, -1);
  EXPECT_EQ(size.nnz_c_bound, 0);
  EXPECT_EQ(size.bytes_c_bound, 8u);

  none.rows = 5;
  none.row_ptr.assign(6, 0);
  const ProductSize empty_rows = product_size(none, Csr<double>{});
  EXPECT_EQ(empty_rows.longest_row, 0);
  EXPECT_EQ(empty_rows.longest_row_products, 0);
  EXPECT_TRUE((work_space<double, std::int32_t>(context(), empty_rows, Algorithm::essc)));
}

TEST(Estimate, ShapesThatDoNotConform) {
  const auto a = matrices::erdos_renyi<double>(3, 5, 2, 1);
  expect_error([&] { (void)product_size(a, a); }, ErrorKind::input,
               testing::HasSubstr("found A of 3 x 5 and B of 3 x 5"));
}

// More than 2^32 products, counted and not made: a dense column times a dense row.
TEST(Estimate, CountsPastThirtyTwoBits) {
  const auto column = matrices::erdos_renyi<float>(70000, 1, 1, 1);
  const auto row = matrices::erdos_renyi<float>(1, 70000, 70000, 2);
  const ProductSize size = product_size(column, row);
  EXPECT_EQ(size.products, 4'900'000'000);
  EXPECT_EQ(size.nnz_c_bound, 4'900'000'000);
  EXPECT_EQ(size.bytes_c_bound, 70001u * 8 + 4'900'000'000u * 8);
}

TEST(Estimate, WorkSpaceIsKnownForThoseThatKeepToALimit) {
  const auto a = matrices::erdos_renyi<double>(100, 100, 5, 1);
  const ProductSize size = product_size(a, a);
  const auto known = [&](Algorithm algorithm) {
    return work_space<double, std::int32_t>(context(), size, algorithm).has_value();
  };
  EXPECT_TRUE(known(Algorithm::automatic));
  EXPECT_TRUE(known(Algorithm::essc));
  if (backend() == Backend::host) {
    EXPECT_TRUE(known(Algorithm::row_wise));
    EXPECT_FALSE(known(baseline("reference")));
    EXPECT_FALSE(known(baseline("eigen")));
    expect_error([&] { (void)known(baseline("esc")); }, ErrorKind::unavailable,
                 "SpGEMM: algorithm esc does not run on the backend host");
  } else {
    EXPECT_TRUE(known(baseline("esc")));
    EXPECT_FALSE(known(baseline("cusparse")));
  }
}

TEST(Estimate, LimitIsTheBudgetOrWhatIsFree) {
  const auto a = matrices::erdos_renyi<double>(100, 100, 5, 1);
  const ProductSize size = product_size(a, a);
  Context limited = context();
  limited.memory_budget = 64 << 20;
  EXPECT_EQ((work_space<double, std::int32_t>(limited, size, Algorithm::essc)->limit), 64u << 20);
  EXPECT_GT((work_space<double, std::int32_t>(context(), size, Algorithm::essc)->limit), 64u << 20);
}

// The figure `least` is where multiply() begins to throw: to the byte on the host; on the device
// sorts may do with less scratch.
TEST(Estimate, LeastIsWhatTheLongestRowTakes) {
  const auto a = matrices::erdos_renyi<double>(3, 2000, 2000, 1);
  const auto b = matrices::erdos_renyi<double>(2000, 1'000'000, 50, 2);
  const ProductSize size = product_size(a, b);
  std::vector<Algorithm> algorithms{Algorithm::essc};
  if (backend() == Backend::host) algorithms.push_back(Algorithm::row_wise);
  for (const Algorithm algorithm : algorithms) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    Context limited = context();
    limited.memory_budget = 1;  // whatever is asked for, the least stays
    const std::uint64_t least = work_space<double, std::int32_t>(limited, size, algorithm)->least;
    limited.memory_budget = least;
    EXPECT_NO_THROW((void)spgemm::multiply(limited, a, b, algorithm));
    limited.memory_budget = backend() == Backend::host ? least - 1 : least - least / 8;
    expect_error([&] { (void)spgemm::multiply(limited, a, b, algorithm); },
                 ErrorKind::out_of_memory, testing::HasSubstr("bytes"));
  }
}

TEST(Estimate, MostGrowsWithTheBudgetUpToAllProducts) {
  const auto a = matrices::erdos_renyi<double>(20000, 20000, 16, 1);
  const ProductSize size = product_size(a, a);
  std::uint64_t before = 0;
  for (const std::uint64_t budget : {8u << 20, 64u << 20, 1u << 30}) {
    Context limited = context();
    limited.memory_budget = budget;
    const auto space = work_space<double, std::int32_t>(limited, size, Algorithm::essc);
    EXPECT_GE(space->most, before);
    EXPECT_GE(space->most, space->least);
    EXPECT_LE(space->most, budget + 16 * (size.rows + 1));
    before = space->most;
  }
  EXPECT_LT(before, 1u << 30);  // there are only 5 million products
}

// What the device's pool hands out beside A, B and C, as the estimate says.
TEST(Estimate, DeviceTakesNoMoreThanSaid) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "measures the memory pool of a CUDA device";
  const auto a = matrices::power_law<double>(200'000, 200'000, 1.6, 300, 1);
  const ProductSize size = product_size(a, a);
  for (const Algorithm algorithm : {Algorithm::fused, Algorithm::essc, baseline("esc")}) {
    for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{256} << 20}) {
      SCOPED_TRACE(std::string(spgemm::name(algorithm)));
      Context limited = context();
      limited.memory_budget = budget;
      const auto space = work_space<double, std::int32_t>(limited, size, algorithm);
      reset_peak_device_memory(limited.device);
      const auto c = spgemm::multiply(limited, a, a, algorithm);
      const std::uint64_t bytes_c = 8 * (c.row_ptr.size()) + 12 * c.values.size();
      EXPECT_LE(peak_device_memory(limited.device), size.bytes_a + bytes_c + space->most);
    }
  }
}

}  // namespace
}  // namespace sortie::test
