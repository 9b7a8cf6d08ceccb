// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "sortie/csr.hpp"

namespace sortie::test {

/// Every pair of entry and index type that the library is compiled for.
template <class Value, class Idx>
struct MatrixTypes {
  using value_type = Value;
  using index_type = Idx;
  using Csr = matrices::Csr<Value, Idx>;
  using Coo = matrices::Coo<Value, Idx>;
};

using AllMatrixTypes =
    testing::Types<MatrixTypes<float, std::int32_t>, MatrixTypes<float, std::int64_t>,
                   MatrixTypes<double, std::int32_t>, MatrixTypes<double, std::int64_t>,
                   MatrixTypes<std::complex<double>, std::int32_t>,
                   MatrixTypes<std::complex<double>, std::int64_t>>;

inline std::string fixture(const std::string& name) {
  return std::string(SORTIE_TEST_DATA) + "/matrices/" + name;
}

/// Number of entries in each row.
template <class Csr>
std::vector<std::int64_t> row_lengths(const Csr& csr) {
  std::vector<std::int64_t> lengths;
  for (std::size_t row = 0; row + 1 < csr.row_ptr.size(); ++row) {
    lengths.push_back(csr.row_ptr[row + 1] - csr.row_ptr[row]);
  }
  return lengths;
}

}  // namespace sortie::test
