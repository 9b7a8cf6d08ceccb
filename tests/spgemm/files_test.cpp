// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sortie/matrix_market.hpp"
#include "tests/spgemm/products.hpp"

namespace sortie::test {
namespace {

// A matrix of more rows or columns has a transpose whose row_ptr alone takes gigabytes.
constexpr std::int64_t largest_size = 1'000'000;

/// The matrices that come with the tests, all of which can be read.
std::vector<std::string> valid_files() {
  std::vector<std::string> files;
  const std::filesystem::path folder = SORTIE_TEST_DATA "/matrices/valid";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

template <class Value>
void expect_products_of_file(const std::string& file) {
  const auto a = matrices::read_matrix_market<Value>(context(), file);
  expect_products(a, a.rows == a.cols ? a : matrices::transpose(a));
}

TEST(SpgemmFiles, EveryValidMatrixTimesItselfOrItsTranspose) {
  const std::vector<std::string> files = valid_files();
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const matrices::MatrixMarketHeader header = matrices::read_matrix_market_header(file);
    if (std::max(header.rows, header.cols) > largest_size) continue;
    if (header.field == matrices::Field::complex) {
      expect_products_of_file<std::complex<double>>(file);
    } else {
      expect_products_of_file<double>(file);
    }
  }
}

}  // namespace
}  // namespace sortie::test
