// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"

/// Operands that take the fused product through every way that it has for a row.
namespace sortie::test {

/// Row i has the columns 0 .. lengths[i] - 1.
template <class Value>
Csr<Value, std::int32_t> stairs(const std::vector<std::int64_t>& lengths) {
  const std::int64_t columns = *std::max_element(lengths.begin(), lengths.end());
  const auto values = matrices::erdos_renyi<Value>(1, columns, columns, 7).values;
  Csr<Value, std::int32_t> a;
  a.rows = static_cast<std::int64_t>(lengths.size());
  a.cols = columns;
  a.row_ptr = {0};
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = 0; i < length; ++i) a.col_idx.push_back(static_cast<std::int32_t>(i));
    a.values.insert(a.values.end(), values.begin(), values.begin() + length);
    a.row_ptr.push_back(a.nnz());
  }
  return a;
}

/// Products of rows on both sides of the border of every bin, where rows of B have one entry each.
inline const std::vector<std::int64_t> border_lengths = {
    0,   1,   7,   8,    9,    15,   16,   17,   31,    32,    33,    63,    64,   65, 127,
    128, 129, 255, 256,  257,  511,  512,  513,  1023,  1024,  1025,  2047,  2048, 0,  2049,
    300, 700, 32,  4096, 6144, 6145, 8192, 9000, 20000, 32767, 32768, 32769, 70000};

/// A matrix without entries.
template <class Value>
Csr<Value, std::int32_t> empty_matrix(std::int64_t rows, std::int64_t columns) {
  Csr<Value, std::int32_t> empty;
  empty.rows = rows;
  empty.cols = columns;
  empty.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  return empty;
}

}  // namespace sortie::test
