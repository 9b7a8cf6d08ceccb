#include <algorithm>
#include <numeric>
#include <optional>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/host/dense_row.hpp"
#include "sortie/apps/spgemm/host/memory_budget.hpp"
#include "sortie/apps/spgemm/host/parallel_blocks.hpp"
#include "sortie/apps/spgemm/host/result_arrays.hpp"
#include "sortie/apps/spgemm/host/row_products.hpp"
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

// Work is handed out in blocks of so many products (about 0.3 ms): enough blocks to balance the
// threads, and long enough for the hand-over not to show.
constexpr std::int64_t products_per_block = 1 << 16;
constexpr std::int64_t rows_per_block = 1 << 14;

/// How the rows are done: decided once, from the sizes.
struct Plan {
  bool accumulator = false;          ///< rows beyond sorted_row_limit go through DenseRow
  std::int64_t sorted_products = 0;  ///< room for one row in SortedRow
  std::uint64_t bytes = 0;           ///< work space of one thread
  int workers = 1;
};

/// Work space of one thread: gives each row to the way that suits it.
template <Scalar Value, Index Idx>
class RowWorker {
 public:
  RowWorker(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, const Plan& plan)
      : a_(a), b_(b), sorted_(plan.sorted_products) {
    if (plan.accumulator) dense_.emplace(b.cols);
  }

  std::int64_t count(std::int64_t row, std::int64_t products) {
    if (a_.row_ptr[row + 1] - a_.row_ptr[row] <= 1) return products;
    if (by_accumulator(products)) return dense_->count(a_, b_, row, products);
    return sorted_.count(a_, b_, row);
  }

  void fill(std::int64_t row, std::int64_t products, Idx* columns, Value* values) {
    if (a_.row_ptr[row + 1] - a_.row_ptr[row] <= 1) {
      // One entry of A: the row of C is a multiple of a row of B.
      for_each_product(a_, b_, row, [&](Idx column, Value product) {
        *columns++ = column;
        *values++ = product;
      });
    } else if (by_accumulator(products)) {
      dense_->fill(a_, b_, row, products, columns, values);
    } else {
      sorted_.fill(a_, b_, row, columns, values);
    }
  }

 private:
  bool by_accumulator(std::int64_t products) const {
    return dense_.has_value() && products > sorted_row_limit;
  }

  const Csr<Value, Idx>& a_;
  const Csr<Value, Idx>& b_;
  SortedRow<Value, Idx> sorted_;
  std::optional<DenseRow<Value, Idx>> dense_;
};

/// \param most      products of the longest row
/// \param products  of all rows
template <Scalar Value, Index Idx>
Plan make_plan(std::uint64_t budget, std::int64_t cols, std::int64_t most, std::int64_t products) {
  const std::int64_t short_row = std::min(most, sorted_row_limit);
  constexpr std::uint64_t sorting_bytes = SortedRow<Value, Idx>::bytes_per_product;

  const std::uint64_t bytes_dense = DenseRow<Value, Idx>::bytes(cols) + short_row * sorting_bytes;
  const std::uint64_t bytes_sorted = most * sorting_bytes;
  // An accumulator must first be cleared, so a matrix much wider than it has products is sorted.
  const bool pays = most > sorted_row_limit && cols <= products;

  Plan plan;
  plan.accumulator = pays ? bytes_dense <= budget || bytes_dense < bytes_sorted
                          : bytes_sorted > budget && bytes_dense < bytes_sorted;
  plan.sorted_products = plan.accumulator ? short_row : most;
  plan.bytes = plan.accumulator ? bytes_dense : bytes_sorted;
  plan.workers = static_cast<int>(
      std::min<std::uint64_t>(host_threads(), budget / std::max<std::uint64_t>(1, plan.bytes)));
  return plan;
}

/// \throws Error (out_of_memory) not one thread's work space fits the budget
template <Scalar Value, Index Idx>
Plan make_plan(const Context& context, const Csr<Value, Idx>& b,
               std::span<const std::int64_t> offsets) {
  const std::uint64_t budget = work_space_budget(context);
  const std::int64_t longest = longest_row(offsets);
  const std::int64_t most = longest < 0 ? 0 : offsets[longest + 1] - offsets[longest];
  const Plan plan = make_plan<Value, Idx>(budget, b.cols, most, offsets.back());
  if (plan.bytes > budget) throw row_out_of_memory(longest, most, plan.bytes, budget);
  return plan;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_row_wise(const Context& context, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& b) {
  start_host_runtime(context.threads);
  PhaseTimer analysis(context, "analysis");
  const std::vector<std::int64_t> offsets = product_offsets(a, b);
  const Plan plan = make_plan(context, b, offsets);
  const std::vector<std::int64_t> cuts = cut_rows(offsets, products_per_block, rows_per_block);
  std::vector<RowWorker<Value, Idx>> workers;
  for (int i = 0; i < plan.workers; ++i) workers.emplace_back(a, b, plan);

  Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr.assign(a.rows + 1, 0);
  for_each_row(context, "analysis", plan.workers, cuts, [&](int worker, std::int64_t row) {
    c.row_ptr[row + 1] = workers[worker].count(row, offsets[row + 1] - offsets[row]);
  });
  std::partial_sum(c.row_ptr.begin(), c.row_ptr.end(), c.row_ptr.begin());
  analysis.stop();

  const PhaseTimer accumulation(context, "accumulation");
  resize_in_parallel(c.col_idx, c.row_ptr.back());
  resize_in_parallel(c.values, c.row_ptr.back());
  for_each_row(context, "accumulation", plan.workers, cuts, [&](int worker, std::int64_t row) {
    workers[worker].fill(row, offsets[row + 1] - offsets[row], c.col_idx.data() + c.row_ptr[row],
                         c.values.data() + c.row_ptr[row]);
  });
  return c;
}

template <Scalar Value, Index Idx>
WorkSpace row_wise_work_space(const Context& context, const ProductSize& size) {
  start_host_runtime(context.threads);
  const std::uint64_t limit = work_space_budget(context);
  const auto plan_within = [&](std::uint64_t budget) {
    return make_plan<Value, Idx>(budget, size.cols, size.longest_row_products, size.products);
  };
  const std::uint64_t offsets = sizeof(std::int64_t) * (size.rows + 1);
  const Plan plan = plan_within(limit);
  return {.least = plan_within(0).bytes,
          .most = offsets + std::max(plan.workers, 1) * plan.bytes,
          .limit = limit};
}

#define INSTANTIATE(Value, Idx)                                                      \
  template Csr<Value, Idx> multiply_row_wise(const Context&, const Csr<Value, Idx>&, \
                                             const Csr<Value, Idx>&);                \
  template WorkSpace row_wise_work_space<Value, Idx>(const Context&, const ProductSize&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
