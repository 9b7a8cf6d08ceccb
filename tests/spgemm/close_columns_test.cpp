#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "products.hpp"
#include "sortie/apps/spgemm/estimate.hpp"
#include "sortie/matrices/generators.hpp"

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

// Some columns of every eight and some eights of every word; rows of C of all densities.
TYPED_TEST(CloseColumns, EightsWithHoles) {
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
