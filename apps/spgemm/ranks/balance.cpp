// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/ranks/factors.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/move_rows.hpp"
#include "apps/spgemm/ranks/product_steps.hpp"
#include "apps/spgemm/ranks/row_division.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cluster {

template <class Matrix>
DividedMatrix<Matrix> divided(Ranks& ranks, Matrix block) {
  struct Size {
    std::int64_t rows;
    std::int64_t cols;
  };
  const std::vector<Size> sizes = ranks.gather(Size{block.rows, block.cols});
  DividedMatrix<Matrix> matrix{{0}, std::move(block)};
  for (const Size& size : sizes) matrix.first_rows.push_back(matrix.first_rows.back() + size.rows);
  ranks.together("join blocks", [&] {
    if (sizes.front().cols == matrix.block.cols) return;
    throw input_error("matrix", 0, std::to_string(matrix.block.cols) + " columns",
                      std::to_string(sizes.front().cols) + " as on rank 0");
  });
  return matrix;
}

template <class Matrix>
DividedMatrix<Matrix> balance_rows(Ranks& ranks, const HostContext& context, TrafficPlan& plan,
                                   DividedMatrix<Matrix> a, const DividedMatrix<Matrix>* b) {
  const PhaseTimer timer(context, "balance");
  RankMemory memory(ranks, context);
  std::vector<std::int64_t> first_rows;
  {
    const NeededRows<Matrix> needed(ranks, context, plan, memory, a, b == nullptr ? a : *b);
    std::vector<std::uint64_t> products;
    std::uint64_t mine = 0;
    together_on_own_threads(ranks, context, "count products", [&] {
      products = needed.products(a.block);
      mine = std::accumulate(products.begin(), products.end(), std::uint64_t{0});
    });
    const auto count = static_cast<std::uint64_t>(ranks.size());
    const std::uint64_t most = ranks.sum(mine) / (count * groups_per_rank);
    std::vector<RowGroup> groups;
    ranks.on_devices("group rows", [&] {
      groups = group_rows(a.first_rows[static_cast<std::size_t>(ranks.rank())], products, most);
    });
    plan.add_gathering(groups.size(), sizeof(RowGroup));
    const auto all = ranks.gather_arrays(std::span<const RowGroup>(groups));
    first_rows = divide_rows(all, a.rows(), ranks.size());
  }
  return move_rows(ranks, plan, memory, std::move(a), std::move(first_rows));
}

template <class Matrix>
DividedMatrix<Matrix> balance(Ranks& ranks, const HostContext& context, DividedMatrix<Matrix> a,
                              const DividedMatrix<Matrix>& b) {
  TrafficPlan plan(ranks);
  a = balance_rows(ranks, context, plan, std::move(a), &b);
  plan.finish(context);
  return a;
}

template <class Matrix>
DividedMatrix<Matrix> balance(Ranks& ranks, const HostContext& context, DividedMatrix<Matrix> a) {
  TrafficPlan plan(ranks);
  a = balance_rows<Matrix>(ranks, context, plan, std::move(a), nullptr);
  plan.finish(context);
  return a;
}

#define INSTANTIATE_MATRIX(...)                                                                   \
  template DividedMatrix<__VA_ARGS__> divided(Ranks&, __VA_ARGS__);                               \
  template DividedMatrix<__VA_ARGS__> balance_rows(Ranks&, const HostContext&, TrafficPlan&,      \
                                                   DividedMatrix<__VA_ARGS__>,                    \
                                                   const DividedMatrix<__VA_ARGS__>*);            \
  template DividedMatrix<__VA_ARGS__> balance(                                                    \
      Ranks&, const HostContext&, DividedMatrix<__VA_ARGS__>, const DividedMatrix<__VA_ARGS__>&); \
  template DividedMatrix<__VA_ARGS__> balance(Ranks&, const HostContext&,                         \
                                              DividedMatrix<__VA_ARGS__>);
#define INSTANTIATE(Value, Idx) INSTANTIATE_MATRIX(matrices::Csr<Value, Idx>)
#define INSTANTIATE_PATTERN(Idx) INSTANTIATE_MATRIX(matrices::Pattern<Idx>)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE
#undef INSTANTIATE_MATRIX

}  // namespace sortie::cluster
