// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/sort_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sortie::sorting {
namespace {

/// Samples of each border that exact_splits() takes in a round, and its collective calls for one.
constexpr double samples = 64;
constexpr std::uint64_t calls_of_round = 3;

/// Blocks for reading and writing.
constexpr std::uint64_t block_bytes = std::uint64_t{16} << 20;

}  // namespace

cluster::RankPlan plan_sort(std::uint64_t records, const RecordFormat& format, int ranks,
                            int on_machine) {
  const auto p = static_cast<std::uint64_t>(ranks);
  const std::uint64_t share = (records + p - 1) / p;
  const std::uint64_t bytes = share * format.record_bytes();
  const double items = static_cast<double>(share);
  cluster::RankPlan plan;
  plan.ranks = ranks;
  plan.steps.push_back({"local sort", 0, 0, 0, 0, "sort", items});
  // The share, and the received runs.
  plan.rank_memory = (ranks > 1 ? 2 : 1) * bytes + block_bytes;
  if (ranks == 1) return plan;

  const double rounds =
      std::ceil(std::log2(std::max(2.0, static_cast<double>(records))) / std::log2(samples));
  cluster::RankStep splits{
      "splits", calls_of_round * static_cast<std::uint64_t>(rounds), 0, 0, 0, "", 0};
  plan.steps.push_back(splits);

  cluster::RankStep exchange{"exchange", 1, 0, 0, p - 1, "", 0};
  divide_bytes(bytes / p * (p - 1), ranks, on_machine, exchange);
  plan.steps.push_back(exchange);

  const auto levels = static_cast<double>(std::bit_width(p - 1));
  plan.steps.push_back({"merge", 0, 0, 0, 0, "merge", items * levels});
  return plan;
}

}  // namespace sortie::sorting
