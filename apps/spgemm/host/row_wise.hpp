// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/column_words.hpp"
#include "apps/spgemm/host/dense_row.hpp"
#include "apps/spgemm/host/merged_row.hpp"
#include "apps/spgemm/host/met_operands.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/host/sorted_row.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/spare_array.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::host {

// Rows of up to this many products are sorted even if there is an accumulator, since sorting
// touches only memory of the size of the row. Time for wing, NotreDame_www and rgg_n_2_15_s0
// squared (Zen 5, one thread): 15, 53, 18 ms at 8; 12, 56, 18 at 24; 12, 63, 20 at 48; 13, 79,
// 31 at 96.
inline constexpr std::int64_t sorted_row_limit = 24;

/// How rows are computed; decided once, from the sizes.
struct RowPlan {
  bool accumulator = false;          ///< rows of more than sorted_row_limit products use DenseRow
  std::int64_t sorted_products = 0;  ///< capacity of SortedRow in products
  std::uint64_t bytes = 0;           ///< work space of one thread
  int workers = 1;
  bool words = false;              ///< RowOperands::words fit the budget
  bool byte_blocks = false;        ///< RowOperands::byte_blocks fit, and are usable
  std::uint64_t shared_bytes = 0;  ///< upper bound for these two
};

/// Work space of one thread; selects the method for each row. Aligned, since it is modified with
/// every row.
template <Scalar Value, Index Idx>
class alignas(64) RowWorker {
 public:
  using Operands = RowOperands<Value, Idx>;

  RowWorker(const Operands& operands, const RowPlan& plan)
      : operands_(operands),
        short_rows_(has_short_rows(operands.b.cols)),
        sorted_(plan.sorted_products) {
    if (plan.accumulator) dense_.emplace(operands.b.cols);
  }

  std::int64_t count(std::int64_t row, std::int64_t products) {
    const Csr<Value, Idx>& a = operands_.a;
    const std::int64_t entries_a = a.row_ptr[row + 1] - a.row_ptr[row];
    if (entries_a <= 1) return products;
    if (entries_a == 2) return count_two_rows(a, operands_.b, row);
    if constexpr (has_vector_code<Value, Idx>) {
      if (short_rows_ && products <= Short::most_products)
        return Short::count(a, operands_.b, row, products);
    }
    if (by_accumulator(products)) {
      // Consecutive rows are often equal: unknowns of one grid point, web pages of one template.
      if (row != counted_row_ + 1 || !same_columns_as_before(row))
        counted_ = dense_->count(operands_, row, products);
      counted_row_ = row;
      return counted_;
    }
    return sorted_.count(a, operands_.b, row);
  }

  /// Called before rows are written to new arrays.
  void start_filling() { filled_row_ = none; }

  /// Writes row `row`. If this worker wrote the preceding row, the row follows it in memory.
  /// \param capacity  elements of the output that may be written, at least the entries of the row
  /// \return its entries
  std::int64_t fill(std::int64_t row, std::int64_t products, Idx* columns, Value* values,
                    std::int64_t capacity) {
    const Csr<Value, Idx>& a = operands_.a;
    const Csr<Value, Idx>& b = operands_.b;
    const std::int64_t entries_a = a.row_ptr[row + 1] - a.row_ptr[row];
    if (entries_a <= 1) {
      // A single entry of A: the row of C is a multiple of a row of B.
      for_each_product(a, b, row, [&](Idx column, Value product) {
        *columns++ = column;
        *values++ = product;
      });
      return products;
    }
    if (entries_a == 2) return merge_two_rows(a, b, row, columns, values);
    if constexpr (has_vector_code<Value, Idx>) {
      if (short_rows_ && products <= Short::most_products)
        return Short::fill(a, b, row, products, columns, values);
    }
    if (!by_accumulator(products)) return sorted_.fill(a, b, row, columns, values);
    if (row == filled_row_ + 1 && same_entries_as_before(row)) {
      std::copy_n(columns - filled_, filled_, columns);
      std::copy_n(values - filled_, filled_, values);
    } else {
      filled_ = dense_->fill(operands_, row, products, columns, values, capacity);
    }
    filled_row_ = row;
    return filled_;
  }

 private:
  /// True if row `row` > 0 of A has the same columns as the preceding row.
  bool same_columns_as_before(std::int64_t row) const {
    const std::int64_t* const begins = operands_.a.row_ptr.data() + row;
    const Idx* const columns = operands_.a.col_idx.data();
    return std::equal(columns + begins[-1], columns + begins[0], columns + begins[0],
                      columns + begins[1]);
  }

  /// True if it also has bitwise equal values (0.0 is not -0.0): then the rows of C are equal.
  bool same_entries_as_before(std::int64_t row) const {
    const std::int64_t* const begins = operands_.a.row_ptr.data() + row;
    const Value* const values = operands_.a.values.data();
    return same_columns_as_before(row) && std::memcmp(values + begins[-1], values + begins[0],
                                                      (begins[1] - begins[0]) * sizeof(Value)) == 0;
  }

  static bool has_short_rows(std::int64_t cols) {
    if constexpr (has_vector_code<Value, Idx>) return Short::supports(cols);
    return false;
  }
  bool by_accumulator(std::int64_t products) const {
    return dense_.has_value() && products > sorted_row_limit;
  }

  // Dependent on the types, since ShortRow may be undefined.
  using Short = std::conditional_t<has_vector_code<Value, Idx>, ShortRow, void>;

  const Operands& operands_;
  bool short_rows_;  ///< ShortRow supports these types, this matrix and this processor
  SortedRow<Value, Idx> sorted_;
  std::optional<DenseRow<Value, Idx>> dense_;
  static constexpr std::int64_t none = -2;  ///< matches no row
  std::int64_t counted_row_ = none;         ///< last row counted with the accumulator
  std::int64_t counted_ = 0;                ///< its entries
  std::int64_t filled_row_ = none;          ///< last row written with the accumulator
  std::int64_t filled_ = 0;                 ///< its entries
};

/// C = A * B in two passes over the rows, which count entries and then compute them; one worker
/// needs no counts and computes all rows in one pass. Each row is merged, or sorted in registers or
/// in memory, or computed with a dense accumulator that reads the columns of B as bitmap words.
/// Models Product.
template <Scalar Value, Index Idx>
class RowWiseProduct {
 public:
  using Entries = RowEntries<std::vector<Idx>, std::vector<Value>>;
  static constexpr const char* last_phase = "accumulation";

  /// Counts the entries of all rows, unless next() computes them in one pass. The arguments must
  /// outlive this object.
  /// \param max_entries  of the rows that next() computes at a time; a row with more is computed
  ///                     by itself
  /// \throws Error (out_of_memory) the work space of one thread does not fit the budget
  RowWiseProduct(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                 std::int64_t max_entries)
      : context_(context),
        met_(met_operands(context, a, b)),
        operands_{
            .a = met_ ? met_->a : a, .b = met_ ? met_->b : b, .words = {}, .byte_blocks = {}} {
    const PhaseTimer analysis(context, "analysis");
    offsets_ = product_offsets(operands_.a, operands_.b);
    const auto [longest, most] = longest_row(offsets_);
    const ProductSize size{.cols = b.cols,
                           .nnz_b = b.nnz(),
                           .products = offsets_.back(),
                           .longest_row_products = most};
    const std::uint64_t budget = work_space_budget(context, most_bytes(size, b.rows));
    const RowPlan plan = make_plan(budget, size, b.rows);
    if (plan.bytes > budget)
      throw out_of_memory_error(named_products(longest, most), plan.bytes, budget);
    one_pass_ = plan.workers == 1 && a.rows != 0 && reserve_bound(max_entries);
    build_words(operands_, plan, offsets_.back(), one_pass_);
    for (int i = 0; i < plan.workers; ++i) workers_.emplace_back(operands_, plan);
    if (one_pass_) {
      cuts_.push_back(a.rows);
      return;
    }
    resize_for_overwrite(row_ptr_, a.rows + 1);
    row_ptr_[0] = 0;
    for_each_row_of("analysis", 0, a.rows, [&](auto& worker, std::int64_t row) {
      row_ptr_[row + 1] = worker.count(row, products(row));
    });
    std::partial_sum(row_ptr_.begin(), row_ptr_.end(), row_ptr_.begin());
    cuts_ = cut_rows(row_ptr_, max_entries, std::max<std::int64_t>(1, max_entries));
  }

  RowWiseProduct(const RowWiseProduct&) = delete;  // the workers refer to the operands
  RowWiseProduct& operator=(const RowWiseProduct&) = delete;

  [[nodiscard]] std::optional<Entries> next() {
    if (chunks_done_ + 1 == cuts_.size()) return std::nullopt;
    const PhaseTimer accumulation(context_, "accumulation");
    const std::int64_t first = cuts_[chunks_done_];
    const std::int64_t last = cuts_[chunks_done_ + 1];
    for (RowWorker<Value, Idx>& worker : workers_) worker.start_filling();
    ++chunks_done_;
    if (one_pass_) return all_rows();
    const std::int64_t before = row_ptr_[first];
    Entries entries;
    reserve(entries, row_ptr_[last] - before);
    resize_for_overwrite(entries.col_idx, row_ptr_[last] - before);
    resize_for_overwrite(entries.values, row_ptr_[last] - before);
    Idx* const columns = entries.col_idx.data();
    Value* const values = entries.values.data();
    for_each_row_of("accumulation", first, last, [&](auto& worker, std::int64_t row) {
      const std::int64_t begin = row_ptr_[row] - before;
      worker.fill(row, products(row), columns + begin, values + begin,
                  row_ptr_[row + 1] - row_ptr_[row]);
    });
    return entries;
  }
  [[nodiscard]] std::vector<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return cuts_[chunks_done_]; }

  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    start_host_runtime(context.threads);
    const std::uint64_t limit = work_space_budget(context);
    const std::uint64_t entries_b = size.nnz_b * (sizeof(Value) + sizeof(Idx));
    const auto rows_b =
        static_cast<std::int64_t>((size.bytes_b - entries_b) / sizeof(std::int64_t)) - 1;
    const std::uint64_t offsets = sizeof(std::int64_t) * (size.rows + 1);
    const RowPlan plan = make_plan(limit, size, rows_b);
    return {.least = make_plan(0, size, rows_b).bytes,
            .most = offsets + std::max(plan.workers, 1) * plan.bytes + plan.shared_bytes,
            .limit = limit};
  }

 private:
  // Work is distributed in blocks of this many products (about 0.1 ms): enough blocks to balance
  // the threads even for the million products of a mesh, and long enough to hide scheduling cost.
  static constexpr std::int64_t products_per_block = 1 << 14;
  static constexpr std::int64_t rows_per_block = 1 << 14;

  // Minimum products per word of B for which bitmap words of B's columns are built: building and
  // reading them must take less time than they save. Measured products per 64-bit word and per byte
  // block, and the effect of byte blocks on the time: email-Enron 4.0 and 2.0 (5 % more), memplus
  // 6.6 and 2.7 (5 % less), cnr-2000 6.4 and 3.3 (10 % less), a 27-point stencil of 3 unknowns 8.8
  // and 4.5 (30 % less).
  static constexpr double min_products_per_word = 1.4;
  static constexpr double min_products_per_byte_block = 2.3;
  // And at least this many products for every entry of B, since words are built from all entries: a
  // full row and the identity, with 1.5 products an entry, spent half of the time on them.
  static constexpr std::int64_t min_products_per_entry = 4;

  template <Scalar, Index>
  friend class GalerkinProduct;  // plans the rows of R * A

  /// Within a budget, A and B are used as they are.
  static std::optional<MetOperands<Csr<Value, Idx>>> met_operands(const HostContext& context,
                                                                  const Csr<Value, Idx>& a,
                                                                  const Csr<Value, Idx>& b) {
    start_host_runtime(context.threads);
    const PhaseTimer analysis(context, "analysis");
    if (context.memory_budget != 0) return std::nullopt;
    return MetOperands<Csr<Value, Idx>>::find(a, b);
  }

  /// The work space of all threads that any plan has at most.
  static std::uint64_t most_bytes(const ProductSize& size, std::int64_t rows_b) {
    const auto most = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t bytes_of_thread =
        DenseRow<Value, Idx>::bytes(size.cols) + most * SortedRow<Value, Idx>::bytes_per_product;
    return static_cast<std::uint64_t>(host_threads()) * bytes_of_thread +
           ColumnWords<Idx, std::uint64_t>::bytes(rows_b, size.nnz_b) +
           ColumnWords<Idx, std::uint8_t>::bytes(rows_b, size.nnz_b);
  }

  /// \param size    reads cols, nnz_b, products and longest_row_products
  /// \param rows_b  rows of B
  static RowPlan make_plan(std::uint64_t budget, const ProductSize& size, std::int64_t rows_b) {
    const std::int64_t most = size.longest_row_products;
    const std::int64_t short_row = std::min(most, sorted_row_limit);
    constexpr std::uint64_t sorting_bytes = SortedRow<Value, Idx>::bytes_per_product;

    const std::uint64_t bytes_dense =
        DenseRow<Value, Idx>::bytes(size.cols) + short_row * sorting_bytes;
    const std::uint64_t bytes_sorted = most * sorting_bytes;
    // The accumulator must be initialised, so a matrix with more columns than products is sorted.
    const bool pays = most > sorted_row_limit && size.cols <= size.products;

    RowPlan plan;
    plan.accumulator = pays ? bytes_dense <= budget || bytes_dense < bytes_sorted
                            : bytes_sorted > budget && bytes_dense < bytes_sorted;
    plan.sorted_products = plan.accumulator ? short_row : most;
    plan.bytes = plan.accumulator ? bytes_dense : bytes_sorted;
    plan.workers = static_cast<int>(
        std::min<std::uint64_t>(host_threads(), budget / std::max<std::uint64_t>(1, plan.bytes)));
    if (!plan.accumulator || plan.workers == 0) return plan;

    const std::uint64_t left = budget - plan.workers * plan.bytes;
    const std::uint64_t bytes_words = ColumnWords<Idx, std::uint64_t>::bytes(rows_b, size.nnz_b);
    const std::uint64_t bytes_blocks = ColumnWords<Idx, std::uint8_t>::bytes(rows_b, size.nnz_b);
    plan.words = bytes_words <= left;
    plan.byte_blocks =
        bytes_words + bytes_blocks <= left && DenseRow<Value, Idx>::uses_byte_blocks();
    plan.shared_bytes = (plan.words ? bytes_words : 0) + (plan.byte_blocks ? bytes_blocks : 0);
    return plan;
  }

  /// Builds the words that the rows will be read by. Sums of byte blocks need no other words.
  /// \param one_pass  rows are not counted before they are computed
  static void build_words(RowOperands<Value, Idx>& operands, const RowPlan& plan,
                          std::int64_t products, bool one_pass) {
    const Csr<Value, Idx>& a = operands.a;
    const Csr<Value, Idx>& b = operands.b;
    if (products / min_products_per_entry < b.nnz()) return;
    if (plan.byte_blocks && products_per_word<std::uint8_t>(a, b) >= min_products_per_byte_block)
      operands.byte_blocks.emplace(b);
    if (plan.words && !(one_pass && operands.byte_blocks) &&
        products_per_word<std::uint64_t>(a, b) >= min_products_per_word)
      operands.words.emplace(b);
  }

  /// Reserves arrays of results that were freed, or new ones in large pages.
  static void reserve(Entries& entries, std::int64_t size) {
    entries.col_idx = SpareArray<Idx>::take(size);
    entries.values = SpareArray<Value>::take(size);
    reserve_large_pages(entries.col_idx, size);
    reserve_large_pages(entries.values, size);
  }

  /// Reserves memory for as many entries as C can have, for one pass that does not know how many it
  /// has. Only pages that are written take memory of the machine.
  /// \return false if the rows have to be counted: C is wanted in chunks, or there is not enough
  ///         memory by far
  bool reserve_bound([[maybe_unused]] std::int64_t max_entries) {
#if SORTIE_CAN_SET_VECTOR_SIZE
    bound_ = 0;
    for (std::int64_t row = 0; row < operands_.a.rows; ++row)
      bound_ += std::min(products(row), operands_.b.cols);
    // The system grants less than it has, and nothing asks it for the size of small ones.
    constexpr std::uint64_t always_granted = std::uint64_t{64} << 20;
    const std::uint64_t bytes = static_cast<std::uint64_t>(bound_) * (sizeof(Idx) + sizeof(Value));
    if (bound_ > max_entries) return false;
    if (bytes > always_granted && bytes > host_memory_available() / 2) return false;
    try {
      reserve(all_, bound_);
      return true;
    } catch (const std::bad_alloc&) {  // an address space that is limited
      all_ = {};
    }
#endif
    return false;
  }

  /// Computes all rows one after the other. Their offsets replace those of the products.
  Entries all_rows() {
    std::int64_t end = 0;
#if SORTIE_CAN_SET_VECTOR_SIZE
    Idx* const columns = all_.col_idx.data();
    Value* const values = all_.values.data();
    for_each_row_of("accumulation", 0, operands_.a.rows, [&](auto& worker, std::int64_t row) {
      const std::int64_t products = this->products(row);
      offsets_[row] = end;
      if (products != 0)
        end += worker.fill(row, products, columns + end, values + end, bound_ - end);
    });
    offsets_.back() = end;
    row_ptr_ = std::move(offsets_);
    set_vector_size(all_.col_idx, end);
    set_vector_size(all_.values, end);
#endif
    return std::move(all_);
  }

  [[nodiscard]] std::int64_t products(std::int64_t row) const {
    return offsets_[row + 1] - offsets_[row];
  }

  /// Calls body(worker, row) for rows first .. last - 1. Progress counts all rows.
  template <class Body>
  void for_each_row_of(std::string_view phase, std::int64_t first, std::int64_t last,
                       const Body& body) {
    const auto offsets = std::span(offsets_).subspan(first, last - first + 1);
    const std::vector<std::int64_t> cuts = cut_rows(offsets, products_per_block, rows_per_block);
    HostContext of_rows;
    if (context_.progress) {
      of_rows.progress = [&](std::string_view name, std::uint64_t done, std::uint64_t /*total*/) {
        context_.progress(name, static_cast<std::uint64_t>(first) + done,
                          static_cast<std::uint64_t>(operands_.a.rows));
      };
    }
    for_each_row(of_rows, phase, static_cast<int>(workers_.size()), cuts,
                 [&](int worker, std::int64_t row) { body(workers_[worker], first + row); });
  }

  const HostContext& context_;
  std::optional<MetOperands<Csr<Value, Idx>>> met_;  ///< instead of A and B, if that pays
  RowOperands<Value, Idx> operands_;
  std::vector<std::int64_t> offsets_;  ///< of the products
  std::vector<RowWorker<Value, Idx>> workers_;
  std::vector<std::int64_t> row_ptr_;
  bool one_pass_ = false;
  std::int64_t bound_ = 0;             ///< upper bound of the entries of C, if one_pass_
  Entries all_;                        ///< with storage for them
  std::vector<std::int64_t> cuts_{0};  ///< first rows of the chunks that next() computes
  std::size_t chunks_done_ = 0;
};

}  // namespace sortie::spgemm::host
