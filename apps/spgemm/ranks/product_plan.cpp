// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/product_steps.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/spgemm/ranks/row_division.hpp"

namespace sortie::spgemm {
namespace {

using matrices::Csr;

/// Collective calls of balance(), and of multiply() for one round.
constexpr std::uint64_t calls_of_balance = 8;
constexpr std::uint64_t calls_of_fetch = 4;

/// What a rank computes and fetches.
struct Share {
  std::uint64_t entries_a = 0;
  std::uint64_t products = 0;
  std::uint64_t entries_c = 0;  ///< at most
  std::uint64_t rows_fetched = 0;
  std::uint64_t entries_fetched = 0;
};

template <class Value, class Idx>
std::uint64_t row_length(const Csr<Value, Idx>& matrix, std::int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  return static_cast<std::uint64_t>(matrix.row_ptr[i + 1] - matrix.row_ptr[i]);
}

/// Products of every row of C.
template <class Value, class Idx>
std::vector<std::uint64_t> products_of_rows(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  std::vector<std::uint64_t> products(static_cast<std::size_t>(a.rows));
  for (std::size_t row = 0; row < products.size(); ++row) {
    for (auto k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      products[row] += row_length(b, a.col_idx[static_cast<std::size_t>(k)]);
  }
  return products;
}

/// First row of each rank if the entries are divided evenly, as the reader does; then the number of rows.
template <class Value, class Idx>
std::vector<std::int64_t> rows_by_entries(const Csr<Value, Idx>& matrix, int ranks) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(ranks) + 1, matrix.rows);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(matrix.nnz()) * rank / ranks);
    const auto found = std::ranges::lower_bound(matrix.row_ptr, wanted);
    first[static_cast<std::size_t>(rank)] =
        std::min<std::int64_t>(found - matrix.row_ptr.begin(), matrix.rows);
  }
  return first;
}

}  // namespace

template <matrices::Scalar Value, matrices::Index Idx>
cluster::RankPlan plan_product(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, int ranks,
                               int on_machine) {
  constexpr std::uint64_t entry_bytes = sizeof(Value) + sizeof(Idx);
  const std::vector<std::uint64_t> products = products_of_rows(a, b);
  std::uint64_t all_products = 0;
  for (const std::uint64_t count : products) all_products += count;
  const std::uint64_t groups = cluster::groups_per_rank * static_cast<std::uint64_t>(ranks);
  const std::vector<std::int64_t> first_rows = cluster::divide_rows(
      cluster::group_rows(0, products, std::max<std::uint64_t>(1, all_products / groups)), a.rows,
      ranks);
  const bool is_square = &a == &b;
  const std::vector<std::int64_t> rows_of_b = is_square ? first_rows : rows_by_entries(b, ranks);
  const std::vector<std::int64_t> rows_before = rows_by_entries(a, ranks);

  std::vector<std::int32_t> last_user(static_cast<std::size_t>(b.rows), -1);
  Share most;
  std::uint64_t most_memory = 0;
  std::uint64_t most_moved = 0;
  std::uint64_t most_sent = 0;
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    Share share;
    for (std::int64_t row = first_rows[r]; row < first_rows[r + 1]; ++row) {
      const auto i = static_cast<std::size_t>(row);
      share.entries_a += row_length(a, row);
      share.products += products[i];
      share.entries_c += std::min(products[i], static_cast<std::uint64_t>(b.cols));
      for (auto k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const auto column = static_cast<std::int64_t>(a.col_idx[static_cast<std::size_t>(k)]);
        std::int32_t& user = last_user[static_cast<std::size_t>(column)];
        if (user == rank) continue;
        user = rank;
        if (column >= rows_of_b[r] && column < rows_of_b[r + 1]) continue;
        ++share.rows_fetched;
        share.entries_fetched += row_length(b, column);
        const auto owner = std::ranges::upper_bound(rows_of_b, column) - rows_of_b.begin() - 1;
        sent[static_cast<std::size_t>(owner)] +=
            row_length(b, column) * entry_bytes + sizeof(Idx);  // and its length
      }
    }
    const auto begin = std::max(first_rows[r], rows_before[r]);
    const auto end = std::min(first_rows[r + 1], rows_before[r + 1]);
    const auto entries = [&](std::int64_t from, std::int64_t to) {
      if (from >= to) return std::uint64_t{0};
      return static_cast<std::uint64_t>(a.row_ptr[static_cast<std::size_t>(to)] -
                                        a.row_ptr[static_cast<std::size_t>(from)]);
    };
    most_moved =
        std::max(most_moved, entries(rows_before[r], rows_before[r + 1]) - entries(begin, end));
    const auto entries_b =
        static_cast<std::uint64_t>(b.row_ptr[static_cast<std::size_t>(rows_of_b[r + 1])] -
                                   b.row_ptr[static_cast<std::size_t>(rows_of_b[r])]);
    const std::uint64_t held =
        share.entries_a + (is_square ? 0 : entries_b) + share.entries_fetched + share.entries_c;
    most_memory = std::max(most_memory, held * entry_bytes);
    most.products = std::max(most.products, share.products);
    most.rows_fetched = std::max(most.rows_fetched, share.rows_fetched);
  }
  for (const std::uint64_t bytes : sent) most_sent = std::max(most_sent, bytes);

  cluster::RankPlan plan;
  plan.ranks = ranks;
  plan.rank_memory = most_memory;
  if (ranks > 1) {
    const auto others = static_cast<std::uint64_t>(ranks - 1);
    cluster::RankStep balance{"balance", calls_of_balance, 0, 0, others, "", 0};
    divide_bytes(most_moved * entry_bytes, ranks, on_machine, balance);
    cluster::RankStep find{"find rows", calls_of_fetch, 0, 0, others, "", 0};
    divide_bytes(most.rows_fetched * sizeof(Idx), ranks, on_machine, find);
    cluster::RankStep fetch{"fetch rows", 1, 0, 0, 2 * others, "", 0};
    divide_bytes(most_sent, ranks, on_machine, fetch);
    plan.steps = {balance, find, fetch};
  }
  plan.steps.push_back({"multiply", 0, 0, 0, 0, "products", static_cast<double>(most.products)});
  return plan;
}

#define SORTIE_INSTANTIATE(Value, Idx) \
  template cluster::RankPlan plan_product(const Csr<Value, Idx>&, const Csr<Value, Idx>&, int, int);
SORTIE_INSTANTIATE(float, std::int32_t)
SORTIE_INSTANTIATE(float, std::int64_t)
SORTIE_INSTANTIATE(double, std::int32_t)
SORTIE_INSTANTIATE(double, std::int64_t)
SORTIE_INSTANTIATE(std::complex<double>, std::int32_t)
SORTIE_INSTANTIATE(std::complex<double>, std::int64_t)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm
