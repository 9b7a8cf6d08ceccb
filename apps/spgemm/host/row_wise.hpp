// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/column_words.hpp"
#include "apps/spgemm/product.hpp"

namespace sortie::spgemm::host {

template <Scalar Value, Index Idx>
class RowWorker;

/// C = A * B in two passes over the rows: count entries, then compute them. Each row is sorted in
/// registers or in memory, or computed with a dense accumulator that reads the columns of B as
/// bitmap words. Models Product.
template <Scalar Value, Index Idx>
class RowWiseProduct {
 public:
  using Entries = RowEntries<std::vector<Idx>, std::vector<Value>>;
  static constexpr const char* last_phase = "accumulation";

  /// Counts the entries of all rows, in phase "analysis". The arguments must outlive this object.
  /// \param max_entries  of the rows that next() computes at a time; a row with more is computed
  ///                     by itself
  /// \throws Error (out_of_memory) the work space of one thread does not fit the budget
  RowWiseProduct(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                 std::int64_t max_entries);
  ~RowWiseProduct();
  RowWiseProduct(const RowWiseProduct&) = delete;  // the workers refer to the operands
  RowWiseProduct& operator=(const RowWiseProduct&) = delete;

  /// Computes the next rows, in phase "accumulation".
  [[nodiscard]] std::optional<Entries> next();
  [[nodiscard]] std::vector<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return cuts_[chunks_done_]; }

  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size);

 private:
  [[nodiscard]] std::int64_t products(std::int64_t row) const {
    return offsets_[row + 1] - offsets_[row];
  }
  template <class Body>
  void for_each_row_of(std::string_view phase, std::int64_t first, std::int64_t last,
                       const Body& body);

  const HostContext& context_;
  RowOperands<Value, Idx> operands_;
  std::vector<std::int64_t> offsets_;  ///< of the products
  std::vector<RowWorker<Value, Idx>> workers_;
  std::vector<std::int64_t> row_ptr_;
  std::vector<std::int64_t> cuts_;  ///< first rows of the chunks that next() computes
  std::size_t chunks_done_ = 0;
};

}  // namespace sortie::spgemm::host
