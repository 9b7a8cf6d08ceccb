// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/galerkin_backends.hpp"
#include "apps/spgemm/host/multiply.hpp"
#include "apps/spgemm/host/row_programs.hpp"
#include "apps/spgemm/host/row_wise.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "segsort/host/sort_segment.hpp"

/// Compiled once for each type of values: CMakeLists.txt lists the instances.
namespace sortie::spgemm::host {

/// C = R * A * P, read-only for all threads.
template <Scalar Value, Index Idx>
struct GalerkinOperands {
  RowOperands<Value, Idx> ra;
  const Csr<Value, Idx>& p;
  std::vector<std::int64_t> offsets;  ///< of the products of R * A
  std::int64_t longest = 0;           ///< products of the longest row of R * A
  bool one_entry = false;             ///< no row of P has more
};

/// Computes rows of C; for one thread.
///
/// Work space (n: columns of P):
///   sums_     n  Value   sums of the row
///   used_     n  bytes   1 for columns that have a sum; other sums are not read
///   columns_  n  Key     the columns of the row in the order of the products
///   scratch_  n  Key     scratch of the sort
///   ra_row_, ra_  a row of R * A, unless P has one entry in a row
template <Scalar Value, Index Idx>
class alignas(64) GalerkinRow {
 public:
  using Key = std::make_unsigned_t<Idx>;
  using Operands = GalerkinOperands<Value, Idx>;
  using Entries = RowEntries<std::vector<Idx>, std::vector<Value>>;

  GalerkinRow(const Operands& operands, const RowPlan& plan) : operands_(operands) {
    const std::int64_t n = operands.p.cols;
    reserve_large_pages(sums_, n);
    sums_.resize(static_cast<std::size_t>(n), additive_identity<Value>());
    used_.resize(static_cast<std::size_t>(n));
    resize_for_overwrite(columns_, n);
    resize_for_overwrite(scratch_, n);
    if (operands.one_entry) return;
    ra_row_.emplace(operands.ra, plan);
    const auto length = static_cast<std::size_t>(ra_length(operands));
    // Columns of earlier rows stay behind the row: prefetches may read them.
    ra_ = {1, operands.p.rows, {0, 0}, std::vector<Idx>(length), std::vector<Value>(length)};
  }

  static std::uint64_t bytes(const Operands& operands, const RowPlan& plan) {
    const std::uint64_t of_sums =
        static_cast<std::uint64_t>(operands.p.cols) * (sizeof(Value) + 2 * sizeof(Idx) + 1);
    if (operands.one_entry) return of_sums;
    return of_sums + plan.bytes +
           static_cast<std::uint64_t>(ra_length(operands)) * (sizeof(Value) + sizeof(Idx));
  }

  /// Appends row `row` of C. \return its entries \throws std::bad_alloc
  std::int64_t append(std::int64_t row, Entries& to) {
    std::int64_t n = 0;
    for_each_run(row, [&](Idx column, Value term) {
      if (used_[column] != 0) return sums_[column] + term;
      used_[column] = 1;
      columns_[n++] = static_cast<Key>(column);
      return term;
    });
    segsort::sort_segment(columns_.data(), static_cast<std::size_t>(n), scratch_.data());
    for (std::int64_t i = 0; i < n; ++i) {
      to.col_idx.push_back(static_cast<Idx>(columns_[i]));
      to.values.push_back(sums_[columns_[i]]);
      used_[columns_[i]] = 0;
    }
    return n;
  }

  /// Writes the values of row `row`, whose columns are known. Not for an object that appends.
  void fill(std::int64_t row, const Idx* columns, std::int64_t entries, Value* to) {
    Value* const sums = sums_.data();
    for_each_run(row, [&](Idx column, Value term) { return sums[column] + term; });
    for (std::int64_t i = 0; i < entries; ++i)
      to[i] = std::exchange(sums[columns[i]], additive_identity<Value>());
  }

 private:
  static std::int64_t ra_length(const Operands& operands) {
    return std::min(operands.longest, operands.ra.b.cols);
  }

  /// Adds up the terms of row `row`. The sum of consecutive terms of one column, as of neighbours
  /// in an aggregate, is kept in a register: their additions would wait for stores.
  /// \param begin  begin(column, term) returns the sum of the column with the first of these terms
  template <class Begin>
  void for_each_run(std::int64_t row, const Begin& begin) {
    Value unused{};
    Value* place = &unused;
    Value sum{};
    Idx last = -1;
    for_each_term(row, [&](Idx column, Value term) {
      if (column == last) {
        sum += term;
        return;
      }
      *place = sum;
      place = sums_.data() + column;
      last = column;
      sum = begin(column, term);
    });
    *place = sum;
  }

  /// Calls add(column, term) for every term of row `row`, in the order that galerkin.hpp defines.
  template <class Add>
  void for_each_term(std::int64_t row, const Add& add) {
    const Csr<Value, Idx>& p = operands_.p;
    if (operands_.one_entry) {
      const std::int64_t* const begins = p.row_ptr.data();
      const Idx* const columns = p.col_idx.data();
      const Value* const values = p.values.data();
      for_each_product(operands_.ra.a, operands_.ra.b, row, [&](Idx l, Value product) {
        const std::int64_t i = begins[l];
        if (i != begins[l + 1]) add(columns[i], product * values[i]);
      });
      return;
    }
    ra_row_->start_filling();
    ra_.row_ptr[1] = ra_row_->fill(row, operands_.offsets[row + 1] - operands_.offsets[row],
                                   ra_.col_idx.data(), ra_.values.data(), ra_.nnz());
    for_each_product(ra_, p, 0, add);
  }

  const Operands& operands_;
  std::vector<Value> sums_;
  std::vector<std::uint8_t> used_;
  std::vector<Key> columns_;
  std::vector<Key> scratch_;
  std::optional<RowWorker<Value, Idx>> ra_row_;
  Csr<Value, Idx> ra_;  ///< one row, in arrays for the longest
};

/// C = R * A * P on all threads of the host.
template <Scalar Value, Index Idx>
class GalerkinProduct {
 public:
  using Row = GalerkinRow<Value, Idx>;
  using Matrix = Csr<Value, Idx>;

  /// Counts the products of R * A and plans the work space. The operands must outlive this object.
  GalerkinProduct(const HostContext& context, const Matrix& r, const Matrix& a, const Matrix& p)
      : context_(context),
        operands_{.ra = {.a = r, .b = a, .words = {}, .byte_blocks = {}}, .p = p, .offsets = {}} {
    start_host_runtime(context.threads);
    const PhaseTimer analysis(context, "analysis");
    operands_.offsets = product_offsets(r, a);
    operands_.longest = longest_row(operands_.offsets).products;
    operands_.one_entry = true;
    for (std::int64_t row = 0; row < p.rows && operands_.one_entry; ++row)
      operands_.one_entry = p.row_ptr[row + 1] - p.row_ptr[row] <= 1;
    const auto threads = static_cast<std::uint64_t>(host_threads());
    space_.least = plan_within(0);
    const std::uint64_t most = RowWiseProduct<Value, Idx>::most_bytes(size_of_ra(), a.rows);
    space_.limit = work_space_budget(context, 2 * (most + threads * space_.least));
    // Half of a thread's share is for what is not in the plan.
    bytes_ = plan_within(space_.limit / 2);
    if (bytes_ + plan_.shared_bytes > space_.limit) bytes_ = plan_within(0);
    workers_ = static_cast<int>(std::min<std::uint64_t>(
        threads, (space_.limit - plan_.shared_bytes) / std::max<std::uint64_t>(1, bytes_)));
    space_.most = sizeof(std::int64_t) * (static_cast<std::uint64_t>(r.rows) + 1) +
                  static_cast<std::uint64_t>(std::max(workers_, 1)) * bytes_ + plan_.shared_bytes;
    if (programs_are_possible())
      space_.most =
          std::max(space_.most, RowPrograms<Value, Idx>::bytes(r, a, p, operands_.offsets.back()));
  }
  GalerkinProduct(const GalerkinProduct&) = delete;
  GalerkinProduct& operator=(const GalerkinProduct&) = delete;

  [[nodiscard]] const WorkSpace& space() const { return space_; }

  /// \param programs  if not null, receives those of the rows, or null
  [[nodiscard]] Matrix multiply(std::shared_ptr<const RowPrograms<Value, Idx>>* programs) {
    if (auto found = find_programs()) {
      const PhaseTimer timer(context_, "galerkin");
      Matrix c{operands_.ra.a.rows, operands_.p.cols, {}, {}, {}};
      found->structure(operands_.ra.a, operands_.p, c);
      found->values(context_, operands_.ra.a, operands_.ra.b, operands_.p, c);
      if (programs != nullptr) *programs = std::move(found);
      return c;
    }
    build_words();
    const PhaseTimer timer(context_, "galerkin");
    const std::int64_t rows = operands_.ra.a.rows;
    Matrix c{rows, operands_.p.cols, {}, {}, {}};
    resize_for_overwrite(c.row_ptr, rows + 1);
    c.row_ptr[0] = 0;
    const std::vector<std::int64_t> cuts = blocks();
    std::vector<typename Row::Entries> parts(cuts.size() - 1);
    std::atomic<bool> failed = false;
    for_each_block_of_rows(cuts, [&](Row& worker, std::int64_t block) {
      try {
        for (std::int64_t row = cuts[block]; row < cuts[block + 1]; ++row)
          c.row_ptr[row + 1] = worker.append(row, parts[block]);
      } catch (const std::bad_alloc&) {  // exceptions do not leave a parallel loop
        failed = true;
      }
    });
    if (failed) throw std::bad_alloc();
    std::partial_sum(c.row_ptr.begin(), c.row_ptr.end(), c.row_ptr.begin());
    join(parts, c.row_ptr.back(), c);
    return c;
  }

  void new_values(Matrix& c) {
    build_words();
    const PhaseTimer timer(context_, "galerkin");
    const std::vector<std::int64_t> cuts = blocks();
    for_each_block_of_rows(cuts, [&](Row& worker, std::int64_t block) {
      for (std::int64_t row = cuts[block]; row < cuts[block + 1]; ++row) {
        const std::int64_t begin = c.row_ptr[row];
        worker.fill(row, c.col_idx.data() + begin, c.row_ptr[row + 1] - begin,
                    c.values.data() + begin);
      }
    });
  }

 private:
  // As in row_wise.hpp.
  static constexpr std::int64_t products_per_block = 1 << 14;
  static constexpr std::int64_t rows_per_block = 1 << 14;

  [[nodiscard]] bool programs_are_possible() const {
    return !operands_.one_entry || operands_.p.nnz() == operands_.p.rows;
  }

  /// \return null if no programs pay or fit
  [[nodiscard]] std::shared_ptr<const RowPrograms<Value, Idx>> find_programs() const {
    const PhaseTimer timer(context_, "analysis");
    if (!programs_are_possible()) return nullptr;
    return RowPrograms<Value, Idx>::find(operands_.ra.a, operands_.ra.b, operands_.p,
                                         operands_.offsets, operands_.one_entry, space_.limit);
  }

  [[nodiscard]] std::vector<std::int64_t> blocks() const {
    return cut_rows(operands_.offsets, products_per_block, rows_per_block);
  }

  [[nodiscard]] ProductSize size_of_ra() const {
    return {.cols = operands_.ra.b.cols,
            .nnz_b = operands_.ra.b.nnz(),
            .products = operands_.offsets.back(),
            .longest_row_products = operands_.longest};
  }

  /// Plans the rows of R * A within so many bytes. \return bytes of a thread
  std::uint64_t plan_within(std::uint64_t bytes) {
    plan_ = RowWiseProduct<Value, Idx>::make_plan(bytes, size_of_ra(), operands_.ra.b.rows);
    if (operands_.one_entry) plan_ = {};  // no rows of R * A
    return Row::bytes(operands_, plan_);
  }

  void build_words() {
    if (operands_.one_entry) return;
    const PhaseTimer analysis(context_, "analysis");
    RowWiseProduct<Value, Idx>::build_words(operands_.ra, plan_, operands_.offsets.back(), true);
  }

  /// Calls body(worker, block) for all blocks of rows.
  /// \throws Error (out_of_memory) the work space of one thread does not fit
  template <class Body>
  void for_each_block_of_rows(const std::vector<std::int64_t>& cuts, const Body& body) {
    if (workers_ == 0)
      throw out_of_memory_error("the sums of a row of R * A * P", bytes_, space_.limit);
    std::vector<Row> rows;
    rows.reserve(static_cast<std::size_t>(workers_));
    for (int i = 0; i < workers_; ++i) rows.emplace_back(operands_, plan_);
    std::vector<std::int64_t> numbers(cuts.size());
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    for_each_row(context_, "galerkin", workers_, numbers,
                 [&](int worker, std::int64_t block) { body(rows[worker], block); });
  }

  const HostContext& context_;
  GalerkinOperands<Value, Idx> operands_;
  RowPlan plan_;  ///< of the rows of R * A
  WorkSpace space_;
  std::uint64_t bytes_ = 0;  ///< of a thread
  int workers_ = 0;
};

template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin(const HostContext& context, const Csr<Value, Idx>& r,
                         const Csr<Value, Idx>& a, const Csr<Value, Idx>& p,
                         std::shared_ptr<const RowPrograms<Value, Idx>>* programs) {
  return GalerkinProduct<Value, Idx>(context, r, a, p).multiply(programs);
}

template <Scalar Value, Index Idx>
void galerkin_values(const HostContext& context, const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
                     const Csr<Value, Idx>& p, const RowPrograms<Value, Idx>* programs,
                     Csr<Value, Idx>& c) {
  if (programs == nullptr) return GalerkinProduct<Value, Idx>(context, r, a, p).new_values(c);
  const PhaseTimer timer(context, "galerkin");
  programs->values(context, r, a, p, c);
}

template <Scalar Value, Index Idx>
WorkSpace galerkin_space(const HostContext& context, const Csr<Value, Idx>& r,
                         const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  return GalerkinProduct<Value, Idx>(context, r, a, p).space();
}

}  // namespace sortie::spgemm::host
