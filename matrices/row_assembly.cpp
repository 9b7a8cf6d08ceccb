// SPDX-License-Identifier: Apache-2.0
#include "matrices/row_assembly.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::matrices::detail {

std::vector<EntryRange> even_ranges(std::int64_t count, int parts) {
  const EqualShares shares{static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(parts)};
  std::vector<EntryRange> ranges;
  for (std::uint64_t part = 0; part < shares.count; ++part) {
    ranges.push_back({static_cast<std::int64_t>(shares.begin(part)),
                      static_cast<std::int64_t>(shares.begin(part + 1))});
  }
  return ranges;
}

namespace {

// Rows per task: about ten thousand entries for typical matrices. This makes the cost of starting a
// task negligible, and rows with many entries delay the other rows of their task only briefly.
constexpr std::int64_t rows_per_task = 4096;

// Rows up to this length are sorted in place by insertion sort. For longer rows, merge sort with
// scratch memory is faster than a quadratic number of moves.
constexpr std::int64_t insertion_sort_limit = 24;

// The conversion of one list. The header describes the steps and the workspace.
template <Scalar Value, Index Idx>
class RowAssembly {
 public:
  RowAssembly(std::int64_t rows, std::int64_t cols, const EntryList<Value, Idx>& entries,
              Symmetry symmetry, int parts, const HostMemoryBudget& budget)
      : entries_(entries), symmetry_(symmetry), budget_(budget) {
    std::int64_t listed = 0;
    for (const EntryRange& range : entries.ranges) listed += range.end - range.begin;
    const std::int64_t affordable = 2 * listed / std::max<std::int64_t>(1, rows);
    parts_ = std::clamp<std::int64_t>(std::min<std::int64_t>(parts, std::ssize(entries.ranges)), 1,
                                      std::max<std::int64_t>(1, affordable));
    const std::int64_t upper_nnz = symmetry == Symmetry::general ? listed : 2 * listed;
    budget_.require("building the rows",
                    bytes_of({{rows, sizeof(std::int64_t) * static_cast<std::uint64_t>(1 + parts_)},
                              {upper_nnz, sizeof(Idx) + sizeof(Value)}}));
    csr_.rows = rows;
    csr_.cols = cols;
  }

  Csr<Value, Idx> run() {
    count_rows();
    place_rows();
    scatter();
    sort_rows();
    if (duplicates_ > 0) sum_duplicates();
    return std::move(csr_);
  }

 private:
  // Calls visit(row, col, slot, mirror) for every entry of a part in list order.
  template <class Visit>
  void for_each_entry(std::int64_t part, const Visit& visit) const {
    const std::int64_t ranges = std::ssize(entries_.ranges);
    const bool mirror = symmetry_ != Symmetry::general;
    for (std::int64_t r = part * ranges / parts_; r < (part + 1) * ranges / parts_; ++r) {
      const EntryRange range = entries_.ranges[r];
      for (std::int64_t slot = range.begin; slot < range.end; ++slot) {
        const Idx row = entries_.rows[slot];
        const Idx col = entries_.cols[slot];
        visit(row, col, slot, false);
        if (mirror && row != col) visit(col, row, slot, true);
      }
    }
  }

  // positions_[part * rows + row] counts the entries that the part adds to the row.
  void count_rows() {
    positions_ = allocate_array<std::int64_t>(static_cast<std::uint64_t>(parts_ * csr_.rows));
    for_each_range(parts_, 1, [&](std::int64_t part, std::int64_t) {
      std::int64_t* const counts = positions_.get() + part * csr_.rows;
      std::fill_n(counts, csr_.rows, 0);
      for_each_entry(part, [&](Idx row, Idx, std::int64_t, bool) { ++counts[row]; });
    });
  }

  // Converts the counts to first positions: rows ascending and, within a row, parts ascending. This
  // preserves the list order within a row for any number of parts.
  void place_rows() {
    const std::int64_t nnz = counts_to_starts(positions_.get(), csr_.rows, parts_);
    csr_.row_ptr.reserve(csr_.rows + 1);
    csr_.row_ptr.assign(positions_.get(), positions_.get() + csr_.rows);
    csr_.row_ptr.push_back(nnz);
  }

  void scatter() {
    const std::int64_t nnz = csr_.row_ptr.back();
    csr_.col_idx = allocate_vector<Idx>(static_cast<std::uint64_t>(nnz));
    csr_.values = allocate_vector<Value>(static_cast<std::uint64_t>(nnz));
    budget_.hold(csr_bytes(nnz));
    for_each_range(parts_, 1, [&](std::int64_t part, std::int64_t) {
      std::int64_t* const positions = positions_.get() + part * csr_.rows;
      Idx* cols = csr_.col_idx.data();
      Value* values = csr_.values.data();
      for_each_entry(part, [&](Idx row, Idx col, std::int64_t slot, bool mirror) {
        const std::int64_t position = positions[row]++;
        cols[position] = col;
        if (entries_.values == nullptr) {
          values[position] = Value{1};
          return;
        }
        const Value value = entries_.values[slot];
        values[position] = mirror ? mirrored(value, symmetry_) : value;
      });
    });
    positions_.reset();
  }

  void sort_rows() {
    std::atomic<bool> long_unsorted = false;
    for_each_row([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      if (std::is_sorted(csr_.col_idx.data() + begin, csr_.col_idx.data() + end)) return;
      if (end - begin <= insertion_sort_limit) {
        insertion_sort(begin, end);
      } else {
        long_unsorted = true;
      }
    });
    if (long_unsorted) sort_long_rows();
    for_each_row([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      const Idx* cols = csr_.col_idx.data();
      const std::int64_t equal =
          begin == end ? 0
                       : std::transform_reduce(cols + begin + 1, cols + end, cols + begin,
                                               std::int64_t{0}, std::plus<>{}, std::equal_to<>{});
      if (equal > 0) duplicates_ += equal;
    });
  }

  void insertion_sort(std::int64_t begin, std::int64_t end) {
    Idx* cols = csr_.col_idx.data();
    Value* values = csr_.values.data();
    for (std::int64_t i = begin + 1; i < end; ++i) {
      const Idx col = cols[i];
      const Value value = values[i];
      std::int64_t hole = i;
      for (; hole > begin && cols[hole - 1] > col; --hole) {
        cols[hole] = cols[hole - 1];
        values[hole] = values[hole - 1];
      }
      cols[hole] = col;
      values[hole] = value;
    }
  }

  void sort_long_rows() {
    struct Pair {
      Idx col;
      Value value;
    };
    budget_.require("sorting rows", bytes_of({{csr_.row_ptr.back(), sizeof(Pair)}}));
    const auto scratch = allocate_array<Pair>(csr_.row_ptr.back());
    Pair* const pairs = scratch.get();
    for_each_row([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      Idx* cols = csr_.col_idx.data();
      Value* values = csr_.values.data();
      if (std::is_sorted(cols + begin, cols + end)) return;
      for (std::int64_t i = begin; i < end; ++i)
        std::construct_at(pairs + i, Pair{cols[i], values[i]});
      std::stable_sort(pairs + begin, pairs + end,
                       [](const Pair& a, const Pair& b) { return a.col < b.col; });
      for (std::int64_t i = begin; i < end; ++i) {
        cols[i] = pairs[i].col;
        values[i] = pairs[i].value;
      }
    });
  }

  // Compacts runs of equal columns to the front of their row, then removes the gaps between rows.
  void sum_duplicates() {
    const std::int64_t nnz = csr_.row_ptr.back() - duplicates_;
    budget_.require("summing duplicates", csr_bytes(nnz));
    std::vector<std::int64_t> row_ptr(csr_.row_ptr.size(), 0);
    for_each_row([&](std::int64_t row, std::int64_t begin, std::int64_t end) {
      row_ptr[row + 1] = sum_row(begin, end);
    });
    std::inclusive_scan(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Idx> col_idx(nnz);
    std::vector<Value> values(nnz);
    for_each_row([&](std::int64_t row, std::int64_t from, std::int64_t) {
      const std::int64_t to = row_ptr[row];
      const std::int64_t count = row_ptr[row + 1] - to;
      std::copy_n(csr_.col_idx.data() + from, count, col_idx.data() + to);
      std::copy_n(csr_.values.data() + from, count, values.data() + to);
    });
    csr_.row_ptr = std::move(row_ptr);
    csr_.col_idx = std::move(col_idx);
    csr_.values = std::move(values);
  }

  [[nodiscard]] std::uint64_t csr_bytes(std::int64_t nnz) const {
    return csr_.row_ptr.size() * sizeof(std::int64_t) + nnz * (sizeof(Idx) + sizeof(Value));
  }

  // Sums duplicates of a row. Returns the number of distinct columns.
  std::int64_t sum_row(std::int64_t begin, std::int64_t end) {
    if (begin == end) return 0;
    Idx* cols = csr_.col_idx.data();
    Value* values = csr_.values.data();
    std::int64_t last = begin;
    for (std::int64_t i = begin + 1; i < end; ++i) {
      if (cols[i] == cols[last]) {
        values[last] += values[i];
      } else {
        ++last;
        cols[last] = cols[i];
        values[last] = values[i];
      }
    }
    return last - begin + 1;
  }

  // Calls work(row, begin, end) for every row and the range of its entries.
  template <class Work>
  void for_each_row(const Work& work) {
    for_each_range(csr_.rows, rows_per_task, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        work(row, csr_.row_ptr[row], csr_.row_ptr[row + 1]);
    });
  }

  const EntryList<Value, Idx>& entries_;
  Symmetry symmetry_;
  HostMemoryBudget budget_;
  std::int64_t parts_ = 1;
  HostArray<std::int64_t> positions_;
  std::atomic<std::int64_t> duplicates_ = 0;
  Csr<Value, Idx> csr_;
};

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> assemble_rows(std::int64_t rows, std::int64_t cols,
                              const EntryList<Value, Idx>& entries, Symmetry symmetry, int parts,
                              const HostMemoryBudget& budget) {
  return RowAssembly<Value, Idx>(rows, cols, entries, symmetry, parts, budget).run();
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                             \
  template Csr<Value, Idx> assemble_rows(std::int64_t, std::int64_t, const EntryList<Value, Idx>&, \
                                         Symmetry, int, const HostMemoryBudget&);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices::detail
