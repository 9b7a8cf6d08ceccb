// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "segsort/host/sort_segment.hpp"

namespace sortie::spgemm::host {

namespace {

constexpr std::int64_t products_per_block = 1 << 16;
constexpr std::int64_t rows_per_block = 1 << 14;

/// Computes the columns of rows of C; for one thread.
///
/// Work space (reset between rows):
///   marks_    cols / 64                      64-bit words  bitmap of the columns of the row
///   columns_  min(products, cols / 128 + 1)  Key           the columns in the order of the
///                                                          products; only for rows with too few
///                                                          products to traverse all of marks_
///   scratch_  min(products, cols / 128 + 1)  Key           scratch of the sort
template <Index Idx>
class StructureRow {
 public:
  using Key = std::make_unsigned_t<Idx>;

  /// \param most  products of the longest row
  StructureRow(std::int64_t cols, std::int64_t most)
      : marks_(words(cols)), columns_(listed(cols, most)), scratch_(listed(cols, most)) {}

  /// Upper bound in bytes for any longest row.
  static std::uint64_t bytes(std::int64_t cols) {
    return 8 * words(cols) + 2 * sizeof(Key) * listed(cols, cols);
  }

  std::int64_t count(const Pattern<Idx>& a, const Pattern<Idx>& b, std::int64_t row,
                     std::int64_t products) {
    if (!walks_all_marks(products)) return list(a, b, row);
    mark(a, b, row);
    std::int64_t n = 0;
    for (std::uint64_t& word : marks_) n += std::popcount(std::exchange(word, 0));
    return n;
  }

  void fill(const Pattern<Idx>& a, const Pattern<Idx>& b, std::int64_t row, std::int64_t products,
            Idx* columns_out) {
    if (walks_all_marks(products)) {
      mark(a, b, row);
      for (std::size_t word = 0; word < marks_.size(); ++word) {
        for (std::uint64_t left = std::exchange(marks_[word], 0); left != 0; left &= left - 1) {
          *columns_out++ = static_cast<Idx>(64 * word + std::countr_zero(left));
        }
      }
      return;
    }
    const std::int64_t n = list(a, b, row);
    segsort::sort_segment(columns_.data(), n, scratch_.data());
    std::copy_n(columns_.begin(), n, columns_out);
  }

 private:
  // All of marks_ is traversed if it has at most this many words per product.
  static constexpr std::int64_t words_per_product = 2;

  static std::int64_t words(std::int64_t cols) { return (cols + 63) / 64; }
  static std::int64_t listed(std::int64_t cols, std::int64_t most) {
    return std::min({cols, most, words(cols) / words_per_product + 1});
  }

  bool walks_all_marks(std::int64_t products) const {
    return static_cast<std::int64_t>(marks_.size()) <= words_per_product * products;
  }

  void mark(const Pattern<Idx>& a, const Pattern<Idx>& b, std::int64_t row) {
    for_each_product<false>(
        a, b, row, [&](Idx column) { marks_[column >> 6] |= std::uint64_t{1} << (column & 63); });
  }

  /// Writes the columns to columns_ and returns their number.
  std::int64_t list(const Pattern<Idx>& a, const Pattern<Idx>& b, std::int64_t row) {
    std::int64_t n = 0;
    for_each_product<false>(a, b, row, [&](Idx column) {
      std::uint64_t& word = marks_[column >> 6];
      const std::uint64_t bit = std::uint64_t{1} << (column & 63);
      if ((word & bit) != 0) return;
      word |= bit;
      columns_[n++] = static_cast<Key>(column);
    });
    for (std::int64_t i = 0; i < n; ++i) marks_[columns_[i] >> 6] = 0;
    return n;
  }

  std::vector<std::uint64_t> marks_;
  std::vector<Key> columns_;
  std::vector<Key> scratch_;
};

}  // namespace

template <Index Idx>
std::optional<Pattern<Idx>> multiply_structure(const HostContext& context, const Pattern<Idx>& a,
                                               const Pattern<Idx>& b) {
  start_host_runtime(context.threads);
  const std::uint64_t bytes = std::max<std::uint64_t>(1, StructureRow<Idx>::bytes(b.cols));
  const std::uint64_t most = static_cast<std::uint64_t>(host_threads()) * bytes;
  const std::uint64_t fitting = work_space_budget(context, most) / bytes;
  if (fitting == 0) return std::nullopt;
  PhaseTimer analysis(context, "analysis");
  const std::vector<std::int64_t> offsets = product_offsets(a, b);
  const auto workers = static_cast<int>(std::min<std::uint64_t>(fitting, host_threads()));
  std::vector<StructureRow<Idx>> rows(workers,
                                      StructureRow<Idx>(b.cols, longest_row(offsets).products));
  const std::vector<std::int64_t> cuts = cut_rows(offsets, products_per_block, rows_per_block);

  Pattern<Idx> c{a.rows, b.cols, std::vector<std::int64_t>(a.row_ptr.size(), 0), {}};
  for_each_row(context, "analysis", workers, cuts, [&](int worker, std::int64_t row) {
    c.row_ptr[row + 1] = rows[worker].count(a, b, row, offsets[row + 1] - offsets[row]);
  });
  std::partial_sum(c.row_ptr.begin(), c.row_ptr.end(), c.row_ptr.begin());
  analysis.stop();

  const PhaseTimer structure(context, "structure");
  resize_for_overwrite(c.col_idx, c.row_ptr.back());
  for_each_row(context, "structure", workers, cuts, [&](int worker, std::int64_t row) {
    rows[worker].fill(a, b, row, offsets[row + 1] - offsets[row],
                      c.col_idx.data() + c.row_ptr[row]);
  });
  return c;
}

template std::optional<Pattern<std::int32_t>> multiply_structure(const HostContext&,
                                                                 const Pattern<std::int32_t>&,
                                                                 const Pattern<std::int32_t>&);
template std::optional<Pattern<std::int64_t>> multiply_structure(const HostContext&,
                                                                 const Pattern<std::int64_t>&,
                                                                 const Pattern<std::int64_t>&);

}  // namespace sortie::spgemm::host
