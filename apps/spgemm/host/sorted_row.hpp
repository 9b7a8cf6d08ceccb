// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "apps/spgemm/host/row_products.hpp"
#include "segsort/host/sort_segment.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm::host {

/// Sums the products of equal columns, which are adjacent, in their order.
/// \param columns      n sorted columns
/// \param product      product(i) is the product of columns[i]
/// \param columns_out  receives the distinct columns
/// \param values_out   receives their sums
template <class Key, class Product, class Value, class Idx>
void compress_run(const Key* columns, std::int64_t n, const Product& product, Idx* columns_out,
                  Value* values_out) {
  for (std::int64_t i = 0; i < n;) {
    const Key column = columns[i];
    Value sum = product(i);
    for (++i; i < n && columns[i] == column; ++i) sum += product(i);
    *columns_out++ = static_cast<Idx>(column);
    *values_out++ = sum;
  }
}

/// Number of distinct columns among n sorted columns.
template <class Key>
std::int64_t count_distinct(const Key* columns, std::int64_t n) {
  std::int64_t distinct = n > 0 ? 1 : 0;
  for (std::int64_t i = 1; i < n; ++i) distinct += columns[i] != columns[i - 1] ? 1 : 0;
  return distinct;
}

/// Computes rows of C by expansion, sorting and compression; for one thread.
/// Extra memory: two copies of the products of the longest row, for any number of columns.
template <matrices::Scalar Value, matrices::Index Idx>
class SortedRow {
 public:
  using Csr = matrices::Csr<Value, Idx>;
  using Key = std::make_unsigned_t<Idx>;

  static constexpr std::uint64_t bytes_per_product = 2 * (sizeof(Key) + sizeof(Value));

  explicit SortedRow(std::int64_t max_products)
      : keys_(max_products),
        key_scratch_(max_products),
        products_(max_products),
        product_scratch_(max_products) {}

  /// Number of entries of the row of C.
  std::int64_t count(const Csr& a, const Csr& b, std::int64_t row) {
    Key* const keys = keys_.data();
    std::int64_t n = 0;
    for_each_column(a, b, row, [&](Idx column) { keys[n++] = static_cast<Key>(column); });
    segsort::sort_segment(keys, n, key_scratch_.data());
    return count_distinct(keys, n);
  }

  /// Writes the row of C.
  void fill(const Csr& a, const Csr& b, std::int64_t row, Idx* columns_out, Value* values_out) {
    Key* const keys = keys_.data();
    Value* const products = products_.data();
    std::int64_t n = 0;
    for_each_product(a, b, row, [&](Idx column, Value product) {
      keys[n] = static_cast<Key>(column);
      products[n++] = product;
    });
    segsort::sort_segment(Items{keys, products}, n,
                          Items{key_scratch_.data(), product_scratch_.data()});
    compress_run(
        keys, n, [&](std::int64_t i) { return products[i]; }, columns_out, values_out);
  }

 private:
  std::vector<Key> keys_;
  std::vector<Key> key_scratch_;
  std::vector<Value> products_;
  std::vector<Value> product_scratch_;
};

}  // namespace sortie::spgemm::host
