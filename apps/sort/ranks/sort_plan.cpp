// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/sort_plan.hpp"

#include <bit>

#include "cluster/exact_splits.hpp"

namespace sortie::sorting {
namespace {

/// Collective calls of cluster::sort() beside those of the splits: "check keys", "measure memory",
/// the number of all keys, "check memory", "local sort"; "allocate"; then "merge", "check traffic",
/// and four for the figures of the report.
constexpr std::uint64_t calls_before_splits = 5;
constexpr std::uint64_t calls_before_exchange = 1;
constexpr std::uint64_t calls_after_exchange = 6;

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

  plan.steps.front().collectives = calls_before_splits;
  // The counts of the exchange take a message to each rank.
  plan.steps.push_back({"splits", cluster::split_calls(records, p), 0, 0, p - 1, "", 0});

  cluster::RankStep exchange{"exchange", calls_before_exchange, 0, 0, p - 1, "", 0};
  divide_bytes(bytes / p * (p - 1), ranks, on_machine, exchange);
  plan.steps.push_back(exchange);

  const auto levels = static_cast<double>(std::bit_width(p - 1));
  plan.steps.push_back({"merge", calls_after_exchange, 0, 0, 0, "merge", items * levels});
  return plan;
}

}  // namespace sortie::sorting
