// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/semiring.hpp"
#include "core/host_runtime.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"

/// Values of products over semirings on a given structure, which is a mask or that of C.
namespace sortie::spgemm::host {

/// A matrix whose values the semiring reads. \tparam Operand  NoOperand: none
template <class Operand, matrices::Index Idx>
struct SemiringOperand {
  const std::vector<std::int64_t>& row_ptr;
  const std::vector<Idx>& col_idx;
  std::span<const Operand> values;
  std::int64_t rows = 0;

  [[nodiscard]] Operand value(std::int64_t i) const {
    if constexpr (std::is_same_v<Operand, NoOperand>) return {};
    return values[static_cast<std::size_t>(i)];
  }
};

/// Where C may have entries. Columns ascend in every row.
template <matrices::Index Idx>
struct StructureView {
  const std::vector<std::int64_t>& row_ptr;
  const std::vector<Idx>& col_idx;
};

/// What compute_on_structure() returns.
template <class Sum>
struct StructureValues {
  std::vector<Sum> values;         ///< one for each entry of the structure
  std::vector<std::uint8_t> hits;  ///< 1 for those that have a product; empty if not wanted
  /// Entries of row i - 1 that have products; rows + 1 elements, the first 0. Complete with `hits`,
  /// and of counts.
  std::vector<std::int64_t> row_hits;
};

/// The sums of a row; for one thread.
///
/// Every product is added to the sum of its column, without a test whether the structure has this
/// column: only the sums of the columns of the structure are reset before a row and read after it.
/// The other sums hold numbers of no meaning.
/// \tparam Dense  a sum for each column of C; false: for each entry of the row, whose products are
///                searched for
template <class Semiring, matrices::Index Idx, bool Dense, bool WithHits>
class SemiringRow {
 public:
  using Operand = typename Semiring::Operand;
  using Sum = typename Semiring::Sum;

  static constexpr std::uint64_t bytes_per_sum = sizeof(Sum) + (WithHits ? 1 : 0);

  explicit SemiringRow(std::int64_t sums) {
    reserve_large_pages(sums_, sums);
    sums_.resize(static_cast<std::size_t>(sums));
    if (WithHits) hits_.resize(static_cast<std::size_t>(sums));
  }

  /// \param columns  of the row of the structure
  /// \return entries that have products, if WithHits or of counts
  std::int64_t fill(const SemiringOperand<Operand, Idx>& a, const SemiringOperand<Operand, Idx>& b,
                    std::int64_t row, std::span<const Idx> columns, Sum* values,
                    std::uint8_t* hits) {
    if (columns.empty()) return 0;
    const auto entries = static_cast<std::int64_t>(columns.size());
    Sum* const sums = Dense ? sums_.data() : values;
    std::uint8_t* const found = !WithHits ? nullptr : Dense ? hits_.data() : hits;
    for (std::int64_t i = 0; i < entries; ++i) {
      const std::int64_t place = Dense ? static_cast<std::int64_t>(columns[i]) : i;
      sums[place] = Semiring::zero();
      if constexpr (WithHits) found[place] = 0;
    }
    const auto add = [&](std::int64_t place, Sum product) {
      Semiring::add(sums[place], product);
      if constexpr (WithHits) found[place] = 1;
    };
    const Idx first = columns.front();
    const Idx last = columns.back();
    const Idx* const columns_b = b.col_idx.data();
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      fetch_ahead(a, i, b.row_ptr.data(), columns_b);
      const std::int64_t k = a.col_idx[i];
      const Operand factor = a.value(i);
      const std::int64_t begin = b.row_ptr[k];
      const std::int64_t end = b.row_ptr[k + 1];
      const std::int64_t length = end - begin;
      if (length > 3 * entries && search_is_shorter(entries, length)) {
        const Idx* from = columns_b + begin;
        for (std::int64_t j = 0; j < entries; ++j) {
          from = std::lower_bound(from, columns_b + end, columns[j]);
          if (from == columns_b + end) break;
          if (*from != columns[j]) continue;
          add(Dense ? static_cast<std::int64_t>(columns[j]) : j,
              Semiring::product(factor, b.value(from - columns_b)));
        }
      } else if constexpr (Dense) {
        for (std::int64_t j = begin; j < end; ++j)
          add(columns_b[j], Semiring::product(factor, b.value(j)));
      } else {
        const Idx* from = columns.data();
        const Idx* const to = from + entries;
        for (std::int64_t j = begin; j < end && columns_b[j] <= last; ++j) {
          if (columns_b[j] < first) continue;
          from = std::lower_bound(from, to, columns_b[j]);
          if (*from != columns_b[j]) continue;
          add(from - columns.data(), Semiring::product(factor, b.value(j)));
        }
      }
    }
    std::int64_t with_products = 0;
    for (std::int64_t i = 0; i < entries; ++i) {
      if constexpr (Dense) {
        values[i] = sums[columns[i]];
        if constexpr (WithHits) hits[i] = found[columns[i]];
      }
      if constexpr (WithHits) {
        with_products += hits[i];
      } else if constexpr (std::is_same_v<Operand, NoOperand>) {
        with_products += values[i] != 0 ? 1 : 0;
      }
    }
    return with_products;
  }

 private:
  /// Whether `entries` columns are found in a row of B sooner than its products are added. A step
  /// of a search takes about as long as three products.
  static bool search_is_shorter(std::int64_t entries, std::int64_t length) {
    const int steps = std::bit_width(static_cast<std::uint64_t>(length));
    return 3 * entries * steps < length;
  }

  std::vector<Sum> sums_;
  std::vector<std::uint8_t> hits_;
};

/// \param cols      columns of C
/// \param products  product_offsets()
template <bool Dense, bool WithHits, class Semiring, matrices::Index Idx>
void fill_structure(const HostContext& context,
                    const SemiringOperand<typename Semiring::Operand, Idx>& a,
                    const SemiringOperand<typename Semiring::Operand, Idx>& b,
                    const StructureView<Idx>& structure, std::int64_t cols,
                    const std::vector<std::int64_t>& products,
                    StructureValues<typename Semiring::Sum>& result) {
  using Row = SemiringRow<Semiring, Idx, Dense, WithHits>;
  const std::int64_t sums = Dense ? cols : 0;
  const std::uint64_t bytes =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sums) * Row::bytes_per_sum);
  const auto threads = static_cast<std::uint64_t>(host_threads());
  const std::uint64_t budget = work_space_budget(context, threads * bytes);
  const auto workers = static_cast<int>(std::min(budget / bytes, threads));
  if (workers == 0) throw out_of_memory_error("the sums of a row of C", bytes, budget);
  std::vector<Row> rows;
  for (int worker = 0; worker < workers; ++worker) rows.emplace_back(sums);
  constexpr std::int64_t products_per_block = 1 << 15;
  constexpr std::int64_t rows_per_block = 1 << 13;
  const std::vector<std::int64_t> cuts = cut_rows(products, products_per_block, rows_per_block);
  for_each_row(context, "values", workers, cuts, [&](int worker, std::int64_t row) {
    const std::int64_t begin = structure.row_ptr[row];
    const auto entries = static_cast<std::size_t>(structure.row_ptr[row + 1] - begin);
    result.row_hits[row + 1] = rows[static_cast<std::size_t>(worker)].fill(
        a, b, row, std::span(structure.col_idx.data() + begin, entries),
        result.values.data() + begin, WithHits ? result.hits.data() + begin : nullptr);
  });
}

/// The sum of the products of each entry of a structure.
/// \param with_hits  the structure may have entries without products
/// \pre the host runtime is running
/// \throws Error (out_of_memory)
template <class Semiring, matrices::Index Idx>
StructureValues<typename Semiring::Sum> compute_on_structure(
    const HostContext& context, const SemiringOperand<typename Semiring::Operand, Idx>& a,
    const SemiringOperand<typename Semiring::Operand, Idx>& b, const StructureView<Idx>& structure,
    std::int64_t cols, bool with_hits) {
  StructureValues<typename Semiring::Sum> result;
  const auto entries = static_cast<std::int64_t>(structure.col_idx.size());
  resize_for_overwrite(result.values, entries);
  if (with_hits) resize_for_overwrite(result.hits, entries);
  resize_for_overwrite(result.row_hits, a.rows + 1);
  result.row_hits[0] = 0;
  const std::vector<std::int64_t> products = product_offsets(a, b);
  // Sums that are mostly unused take longer to allocate than the products to search.
  constexpr std::int64_t cols_per_product = 8;
  const bool dense = cols <= cols_per_product * (products.back() + entries);
  const auto fill = [&]<bool Dense, bool WithHits>() {
    fill_structure<Dense, WithHits, Semiring>(context, a, b, structure, cols, products, result);
  };
  if (!dense) {
    if (!with_hits) resize_for_overwrite(result.hits, entries);
    fill.template operator()<false, true>();
    if (!with_hits) result.hits = {};
  } else if (with_hits) {
    fill.template operator()<true, true>();
  } else {
    fill.template operator()<true, false>();
  }
  return result;
}

/// A count of products that fits the longest row of A.
template <matrices::Index Idx>
using ProductCounter = std::make_unsigned_t<Idx>;

// Compiled once for each type of indices, not again for each type of values: CMakeLists.txt lists
// the instances.
extern template StructureValues<OrAnd::Sum> compute_on_structure<OrAnd>(
    const HostContext&, const SemiringOperand<OrAnd::Operand, std::int32_t>&,
    const SemiringOperand<OrAnd::Operand, std::int32_t>&, const StructureView<std::int32_t>&,
    std::int64_t, bool);
extern template StructureValues<OrAnd::Sum> compute_on_structure<OrAnd>(
    const HostContext&, const SemiringOperand<OrAnd::Operand, std::int64_t>&,
    const SemiringOperand<OrAnd::Operand, std::int64_t>&, const StructureView<std::int64_t>&,
    std::int64_t, bool);
extern template StructureValues<ProductCounter<std::int32_t>>
compute_on_structure<Count<ProductCounter<std::int32_t>>>(
    const HostContext&, const SemiringOperand<NoOperand, std::int32_t>&,
    const SemiringOperand<NoOperand, std::int32_t>&, const StructureView<std::int32_t>&,
    std::int64_t, bool);
extern template StructureValues<ProductCounter<std::int64_t>>
compute_on_structure<Count<ProductCounter<std::int64_t>>>(
    const HostContext&, const SemiringOperand<NoOperand, std::int64_t>&,
    const SemiringOperand<NoOperand, std::int64_t>&, const StructureView<std::int64_t>&,
    std::int64_t, bool);

}  // namespace sortie::spgemm::host
