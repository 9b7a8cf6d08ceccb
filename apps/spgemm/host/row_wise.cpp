#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/host/dense_row.hpp"
#include "sortie/apps/spgemm/host/memory_budget.hpp"
#include "sortie/apps/spgemm/host/parallel_blocks.hpp"
#include "sortie/apps/spgemm/host/result_arrays.hpp"
#include "sortie/apps/spgemm/host/row_operands.hpp"
#include "sortie/apps/spgemm/host/row_products.hpp"
#include "sortie/apps/spgemm/host/short_row.hpp"
#include "sortie/apps/spgemm/host/sorted_row.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::spgemm::host {

namespace {

// Rows of up to so many products are sorted even where there is an accumulator: that touches only
// memory of the row's own size. Time for wing, NotreDame_www and rgg_n_2_15_s0 squared (Zen 5, one
// thread): 15, 53, 18 ms at 8; 12, 56, 18 at 24; 12, 63, 20 at 48; 13, 79, 31 at 96.
constexpr std::int64_t sorted_row_limit = 24;

// Work is handed out in blocks of so many products (about 0.1 ms): enough blocks to balance the
// threads, also for the million products of a mesh, and long enough for the hand-over not to show.
constexpr std::int64_t products_per_block = 1 << 14;
constexpr std::int64_t rows_per_block = 1 << 14;

// B's columns are gathered into words where there are at least so many products for each: making
// and reading the words must take less time than they save. Products for a word of 64 columns, and
// for one of 8: email-Enron 4.0 and 2.0 (sums by eights take 5 % longer), memplus 6.6 and 2.7 (5 %
// less), cnr-2000 6.4 and 3.3 (10 % less), a 27-point stencil of 3 unknowns 8.8 and 4.5 (30 %
// less).
constexpr double products_for_a_word = 1.4;
constexpr double products_for_an_eight = 2.3;

/// How the rows are done: decided once, from the sizes.
struct Plan {
  bool accumulator = false;          ///< rows beyond sorted_row_limit go through DenseRow
  std::int64_t sorted_products = 0;  ///< room for one row in SortedRow
  std::uint64_t bytes = 0;           ///< work space of one thread
  int workers = 1;
  bool words = false;              ///< there is room for RowOperands::words
  bool eights = false;             ///< and for RowOperands::eights, and a use
  std::uint64_t shared_bytes = 0;  ///< for these two, at most
};

/// Sizes that decide how the rows are done.
struct Sizes {
  std::int64_t rows_b = 0;
  std::int64_t nnz_b = 0;
  std::int64_t cols = 0;
  std::int64_t most = 0;      ///< products of the longest row
  std::int64_t products = 0;  ///< of all rows
};

/// Work space of one thread: gives each row to the way that suits it. Begins a cache line, since
/// with every row it notes down what the next one may use.
template <Scalar Value, Index Idx>
class alignas(64) RowWorker {
 public:
  using Operands = RowOperands<Value, Idx>;

  RowWorker(const Operands& operands, const Plan& plan)
      : operands_(operands),
        short_rows_(has_short_rows(operands.b.cols)),
        sorted_(plan.sorted_products) {
    if (plan.accumulator) dense_.emplace(operands.b.cols);
  }

  std::int64_t count(std::int64_t row, std::int64_t products) {
    const Csr<Value, Idx>& a = operands_.a;
    if (a.row_ptr[row + 1] - a.row_ptr[row] <= 1) return products;
    if constexpr (has_eight_columns<Value, Idx>) {
      if (is_short(products)) return ShortRow::count(a, operands_.b, row, products);
    }
    if (by_accumulator(products)) {
      // Unknowns of one point, and pages made from one pattern, have neighbouring rows alike.
      if (row != counted_row_ + 1 || !same_columns_as_before(row))
        counted_ = dense_->count(operands_, row, products);
      counted_row_ = row;
      return counted_;
    }
    return sorted_.count(a, operands_.b, row);
  }

  /// To be called before rows are written to other arrays than those before them.
  void start_filling() { filled_row_ = none; }

  /// Writes row `row`, behind the row before it where that is this worker's too.
  /// \param entries  what count() said
  void fill(std::int64_t row, std::int64_t products, std::int64_t entries, Idx* columns,
            Value* values) {
    const Csr<Value, Idx>& a = operands_.a;
    const Csr<Value, Idx>& b = operands_.b;
    if (a.row_ptr[row + 1] - a.row_ptr[row] <= 1) {
      // One entry of A: the row of C is a multiple of a row of B.
      for_each_product(a, b, row, [&](Idx column, Value product) {
        *columns++ = column;
        *values++ = product;
      });
      return;
    }
    if constexpr (has_eight_columns<Value, Idx>) {
      if (is_short(products)) {
        ShortRow::fill(a, b, row, products, entries, columns, values);
        return;
      }
    }
    if (by_accumulator(products)) {
      if (row == filled_row_ + 1 && same_entries_as_before(row)) {
        std::copy_n(columns - entries, entries, columns);
        std::copy_n(values - entries, entries, values);
      } else {
        dense_->fill(operands_, row, products, entries, columns, values);
      }
      filled_row_ = row;
    } else {
      sorted_.fill(a, b, row, columns, values);
    }
  }

 private:
  /// True where row `row` of A, not the first, has the columns of the row before it.
  bool same_columns_as_before(std::int64_t row) const {
    const std::int64_t* const begins = operands_.a.row_ptr.data() + row;
    const Idx* const columns = operands_.a.col_idx.data();
    return std::equal(columns + begins[-1], columns + begins[0], columns + begins[0],
                      columns + begins[1]);
  }

  /// True where it has their values too, to the bit (0.0 is not -0.0): then the rows of C are
  /// alike.
  bool same_entries_as_before(std::int64_t row) const {
    const std::int64_t* const begins = operands_.a.row_ptr.data() + row;
    const Value* const values = operands_.a.values.data();
    return same_columns_as_before(row) && std::memcmp(values + begins[-1], values + begins[0],
                                                      (begins[1] - begins[0]) * sizeof(Value)) == 0;
  }

  static bool has_short_rows(std::int64_t cols) {
    if constexpr (has_eight_columns<Value, Idx>) return ShortRow::serves(cols);
    return false;
  }
  bool is_short(std::int64_t products) const {
    return short_rows_ && products <= ShortRow::most_products;
  }
  bool by_accumulator(std::int64_t products) const {
    return dense_.has_value() && products > sorted_row_limit;
  }

  const Operands& operands_;
  bool short_rows_;  ///< there is ShortRow for these types, this matrix and this processor
  SortedRow<Value, Idx> sorted_;
  std::optional<DenseRow<Value, Idx>> dense_;
  static constexpr std::int64_t none = -2;  ///< no row is behind this one
  std::int64_t counted_row_ = none;         ///< the last one that was counted with an accumulator
  std::int64_t counted_ = 0;                ///< its entries
  std::int64_t filled_row_ = none;          ///< the last one that was written with an accumulator
};

template <Scalar Value, Index Idx>
Plan make_plan(std::uint64_t budget, const Sizes& sizes) {
  const std::int64_t short_row = std::min(sizes.most, sorted_row_limit);
  constexpr std::uint64_t sorting_bytes = SortedRow<Value, Idx>::bytes_per_product;

  const std::uint64_t bytes_dense =
      DenseRow<Value, Idx>::bytes(sizes.cols) + short_row * sorting_bytes;
  const std::uint64_t bytes_sorted = sizes.most * sorting_bytes;
  // An accumulator must first be cleared, so a matrix much wider than it has products is sorted.
  const bool pays = sizes.most > sorted_row_limit && sizes.cols <= sizes.products;

  Plan plan;
  plan.accumulator = pays ? bytes_dense <= budget || bytes_dense < bytes_sorted
                          : bytes_sorted > budget && bytes_dense < bytes_sorted;
  plan.sorted_products = plan.accumulator ? short_row : sizes.most;
  plan.bytes = plan.accumulator ? bytes_dense : bytes_sorted;
  plan.workers = static_cast<int>(
      std::min<std::uint64_t>(host_threads(), budget / std::max<std::uint64_t>(1, plan.bytes)));
  if (!plan.accumulator || plan.workers == 0) return plan;

  const std::uint64_t left = budget - plan.workers * plan.bytes;
  const std::uint64_t bytes_words =
      ColumnWords<Idx, std::uint64_t>::bytes(sizes.rows_b, sizes.nnz_b);
  const std::uint64_t bytes_eights =
      ColumnWords<Idx, std::uint8_t>::bytes(sizes.rows_b, sizes.nnz_b);
  plan.words = bytes_words <= left;
  plan.eights = bytes_words + bytes_eights <= left && DenseRow<Value, Idx>::adds_eights();
  plan.shared_bytes = (plan.words ? bytes_words : 0) + (plan.eights ? bytes_eights : 0);
  return plan;
}

/// \throws Error (out_of_memory) not one thread's work space fits the budget
template <Scalar Value, Index Idx>
Plan make_plan(const Context& context, const Csr<Value, Idx>& b,
               std::span<const std::int64_t> offsets) {
  const std::uint64_t budget = work_space_budget(context);
  const std::int64_t longest = longest_row(offsets);
  const std::int64_t most = longest < 0 ? 0 : offsets[longest + 1] - offsets[longest];
  const Sizes sizes{
      .rows_b = b.rows, .nnz_b = b.nnz(), .cols = b.cols, .most = most, .products = offsets.back()};
  const Plan plan = make_plan<Value, Idx>(budget, sizes);
  if (plan.bytes > budget) throw row_out_of_memory(longest, most, plan.bytes, budget);
  return plan;
}

/// Rows whose entries are counted, and what makes them.
template <Scalar Value, Index Idx>
class CountedRows {
 public:
  /// Counts the entries of all rows, in phase "analysis".
  CountedRows(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b)
      : operands_{.a = a, .b = b, .words = {}, .eights = {}} {
    start_host_runtime(context.threads);
    const PhaseTimer analysis(context, "analysis");
    offsets_ = product_offsets(a, b);
    const Plan plan = make_plan(context, b, offsets_);
    if (plan.words && products_per_word<std::uint64_t>(a, b) >= products_for_a_word)
      operands_.words.emplace(b);
    if (plan.eights && products_per_word<std::uint8_t>(a, b) >= products_for_an_eight)
      operands_.eights.emplace(b);
    for (int i = 0; i < plan.workers; ++i) workers_.emplace_back(operands_, plan);
    resize_for_overwrite(row_ptr_, a.rows + 1);
    row_ptr_[0] = 0;
    for_each_row_of(context, "analysis", 0, a.rows, [&](auto& worker, std::int64_t row) {
      row_ptr_[row + 1] = worker.count(row, products(row));
    });
    std::partial_sum(row_ptr_.begin(), row_ptr_.end(), row_ptr_.begin());
  }

  CountedRows(const CountedRows&) = delete;  // the workers refer to the operands
  CountedRows& operator=(const CountedRows&) = delete;

  /// Where the entries of each row begin: rows + 1 offsets.
  [[nodiscard]] std::vector<std::int64_t>& row_ptr() { return row_ptr_; }

  /// Writes the entries of rows first .. last, in phase "accumulation".
  /// \param offsets  of these rows, from 0
  void make(const Context& context, std::int64_t first, std::int64_t last,
            const std::vector<std::int64_t>& offsets, Idx* columns, Value* values) {
    for (RowWorker<Value, Idx>& worker : workers_) worker.start_filling();
    for_each_row_of(context, "accumulation", first, last, [&](auto& worker, std::int64_t row) {
      const std::int64_t begin = offsets[row - first];
      worker.fill(row, products(row), offsets[row - first + 1] - begin, columns + begin,
                  values + begin);
    });
  }

 private:
  [[nodiscard]] std::int64_t products(std::int64_t row) const {
    return offsets_[row + 1] - offsets_[row];
  }

  template <class Body>
  void for_each_row_of(const Context& context, std::string_view phase, std::int64_t first,
                       std::int64_t last, const Body& body) {
    const auto offsets = std::span(offsets_).subspan(first, last - first + 1);
    const std::vector<std::int64_t> cuts = cut_rows(offsets, products_per_block, rows_per_block);
    for_each_row(context, phase, static_cast<int>(workers_.size()), cuts,
                 [&](int worker, std::int64_t row) { body(workers_[worker], first + row); });
  }

  RowOperands<Value, Idx> operands_;
  std::vector<std::int64_t> offsets_;  ///< of the products
  std::vector<RowWorker<Value, Idx>> workers_;
  std::vector<std::int64_t> row_ptr_;
};

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_row_wise(const Context& context, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& b) {
  CountedRows<Value, Idx> counted(context, a, b);
  const PhaseTimer accumulation(context, "accumulation");
  Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr = std::move(counted.row_ptr());
  resize_for_overwrite(c.col_idx, c.row_ptr.back());
  resize_for_overwrite(c.values, c.row_ptr.back());
  counted.make(context, 0, a.rows, c.row_ptr, c.col_idx.data(), c.values.data());
  return c;
}

template <Scalar Value, Index Idx>
void multiply_row_wise_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                                 const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  // Long enough for every thread to have work, and for the calls not to count.
  constexpr std::uint64_t preferred_chunk_bytes = std::uint64_t{256} << 20;
  const std::uint64_t chunk_bytes =
      context.memory_budget != 0 ? context.memory_budget : preferred_chunk_bytes;
  const auto most = static_cast<std::int64_t>(chunk_bytes / (sizeof(Idx) + sizeof(Value)));
  CountedRows<Value, Idx> counted(context, a, b);
  const std::vector<std::int64_t>& row_ptr = counted.row_ptr();
  const std::vector<std::int64_t> cuts = cut_rows(row_ptr, most, std::max<std::int64_t>(1, most));
  Context silent = context;  // progress is told of all rows, not of those of a chunk
  silent.progress = nullptr;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    PhaseTimer accumulation(context, "accumulation");
    Csr<Value, Idx> rows;
    rows.rows = cuts[i + 1] - cuts[i];
    rows.cols = b.cols;
    rows.row_ptr.clear();
    for (std::int64_t row = cuts[i]; row <= cuts[i + 1]; ++row)
      rows.row_ptr.push_back(row_ptr[row] - row_ptr[cuts[i]]);
    resize_for_overwrite(rows.col_idx, rows.row_ptr.back());
    resize_for_overwrite(rows.values, rows.row_ptr.back());
    counted.make(silent, cuts[i], cuts[i + 1], rows.row_ptr, rows.col_idx.data(),
                 rows.values.data());
    accumulation.stop();
    sink(rows);
    if (context.progress) {
      context.progress("accumulation", static_cast<std::uint64_t>(cuts[i + 1]),
                       static_cast<std::uint64_t>(a.rows));
    }
  }
}

template <Scalar Value, Index Idx>
WorkSpace row_wise_work_space(const Context& context, const ProductSize& size) {
  start_host_runtime(context.threads);
  const std::uint64_t limit = work_space_budget(context);
  const std::uint64_t entries_b = size.nnz_b * (sizeof(Value) + sizeof(Idx));
  const Sizes sizes{
      .rows_b = static_cast<std::int64_t>((size.bytes_b - entries_b) / sizeof(std::int64_t)) - 1,
      .nnz_b = size.nnz_b,
      .cols = size.cols,
      .most = size.longest_row_products,
      .products = size.products};
  const auto plan_within = [&](std::uint64_t budget) {
    return make_plan<Value, Idx>(budget, sizes);
  };
  const std::uint64_t offsets = sizeof(std::int64_t) * (size.rows + 1);
  const Plan plan = plan_within(limit);
  return {.least = plan_within(0).bytes,
          .most = offsets + std::max(plan.workers, 1) * plan.bytes + plan.shared_bytes,
          .limit = limit};
}

#define INSTANTIATE(Value, Idx)                                                      \
  template Csr<Value, Idx> multiply_row_wise(const Context&, const Csr<Value, Idx>&, \
                                             const Csr<Value, Idx>&);                \
  template void multiply_row_wise_in_chunks(const Context&, const Csr<Value, Idx>&,  \
                                            const Csr<Value, Idx>&,                  \
                                            const ProductSink<Value, Idx>&);         \
  template WorkSpace row_wise_work_space<Value, Idx>(const Context&, const ProductSize&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
