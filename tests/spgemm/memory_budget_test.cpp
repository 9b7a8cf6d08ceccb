// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

namespace sortie::test {
namespace {

using Matrix = Csr<double, std::int32_t>;

/// The algorithms that promise to keep to a memory budget.
std::vector<Algorithm> budgeted() {
  if (backend() == Backend::cuda) return {Algorithm::essc, Algorithm::fused};
  return {Algorithm::essc, Algorithm::row_wise};
}

Context with_budget(std::uint64_t bytes) {
  Context limited = context();
  limited.memory_budget = bytes;
  return limited;
}

// A device needs some room for the temporary storage of its sorts.
const std::uint64_t small_budget = backend() == Backend::cuda ? 8 << 20 : 16 << 10;

TEST(MemoryBudget, ManyChunksGiveTheSameBits) {
  const auto uniform = matrices::erdos_renyi<double>(20000, 20000, 8, 1);
  const auto power = matrices::power_law<double>(20000, 20000, 2.0, 50, 2);
  for (const Matrix& a : {uniform, power}) {
    for (const Algorithm algorithm : budgeted()) {
      SCOPED_TRACE(std::string(spgemm::name(algorithm)));
      const Matrix whole = spgemm::multiply(context(), a, a, algorithm);
      EXPECT_TRUE(same_bits(spgemm::multiply(with_budget(small_budget), a, a, algorithm), whole));
      expect_product(a, a, whole, algorithm);
    }
  }
}

TEST(MemoryBudget, ComplexEntriesInManyChunks) {
  const auto a = matrices::erdos_renyi<std::complex<double>>(3000, 3000, 10, 1);
  for (const Algorithm algorithm : budgeted()) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    EXPECT_TRUE(same_bits(spgemm::multiply(with_budget(small_budget), a, a, algorithm),
                          spgemm::multiply(context(), a, a, algorithm)));
  }
}

TEST(MemoryBudget, RowBeyondTheBudget) {
  const auto a = matrices::erdos_renyi<double>(3, 2000, 2000, 1);
  const auto b = matrices::erdos_renyi<double>(2000, 1'000'000, 50, 2);
  for (const Algorithm algorithm : budgeted()) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    try {
      (void)spgemm::multiply(with_budget(64 << 10), a, b, algorithm);
      FAIL() << "100 000 products fitted 64 KiB";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      EXPECT_THAT(error.what(), testing::HasSubstr("65536"));
      if (backend() == Backend::host) {
        EXPECT_THAT(error.what(), testing::HasSubstr("the 100000 products of row 1 of C"));
      }
    }
  }
}

// An accumulator of 1000 columns fits where the row's million products would not.
TEST(MemoryBudget, AccumulatorTakesLessThanTheProducts) {
  if (backend() == Backend::cuda) GTEST_SKIP() << "row-wise runs on the host";
  const auto a = matrices::erdos_renyi<double>(3, 2000, 2000, 1);
  const auto b = matrices::erdos_renyi<double>(2000, 1000, 500, 2);
  EXPECT_TRUE(same_bits(spgemm::multiply(with_budget(16 << 10), a, b, Algorithm::row_wise),
                        reference_product(a, b)));
}

}  // namespace
}  // namespace sortie::test
