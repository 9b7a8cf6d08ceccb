// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/product.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::spgemm::host {

/// C = A * B by expansion of chunks of rows, segmented sort and compression. Models Product.
///
/// Work space:
///   product_offsets_  rows + 1  int64    first product of each row of A
///   offsets_          rows + 1  int64    of the chunk: first product of each row
///   keys_             products  Key      of the chunk: columns of the products
///   payload_          products  Payload  the products; for 16-byte values, which segmented sort
///                                        does not move, their indices in products_
///   products_         products  Value    only for 16-byte values
/// Source: Hou et al. (ICS 2017), section 5.2.
template <Scalar Value, Index Idx>
class EsscProduct {
 public:
  using Entries = RowEntries<std::vector<Idx>, std::vector<Value>>;
  static constexpr const char* last_phase = "compression";

  /// Counts the products, in phase "analysis". The arguments must outlive this object.
  /// \throws Error (out_of_memory) a single row does not fit the budget
  EsscProduct(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

  /// Computes the next rows, in phases "expansion", "sort" and "compression".
  [[nodiscard]] std::optional<Entries> next();
  [[nodiscard]] std::vector<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return cuts_[chunks_done_]; }

  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size);

 private:
  using Key = std::make_unsigned_t<Idx>;
  static constexpr bool sorts_indices = !SortValue<Value>;
  using Payload = std::conditional_t<sorts_indices, std::uint64_t, Value>;

  // While the longest row is sorted, a second copy of its keys and payload exists.
  static constexpr std::uint64_t bytes_per_product =
      2 * (sizeof(Key) + sizeof(Payload)) + (sorts_indices ? sizeof(Value) : 0);

  [[nodiscard]] std::int64_t max_chunk_products() const;
  void expand(std::int64_t first, std::int64_t last);
  void sort();
  [[nodiscard]] Entries compress(std::span<std::int64_t> row_ptr);
  [[nodiscard]] Value product(std::int64_t i) const;
  template <class Body>
  void for_each_chunk_row(const Body& body) const;

  const HostContext& context_;
  const Csr<Value, Idx>& a_;
  const Csr<Value, Idx>& b_;
  std::vector<std::int64_t> row_ptr_;
  std::vector<std::int64_t> product_offsets_;
  std::vector<std::int64_t> cuts_;  ///< first rows of the chunks
  std::size_t chunks_done_ = 0;
  std::int64_t first_row_ = 0;  ///< of the chunk
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> blocks_;  ///< first rows of the blocks of parallel loops
  std::vector<Key> keys_;
  std::vector<Payload> payload_;
  std::vector<Value> products_;
};

}  // namespace sortie::spgemm::host
