// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/file_sort.hpp"

#include <bit>

#include "apps/sort/ranks/bucket_sort.hpp"
#include "cluster/exact_splits.hpp"
#include "multisort/host/block_partition.hpp"

namespace sortie::sorting {
namespace {

/// Collective calls of cluster::sort() beside those of the splits: "check keys", "measure memory",
/// the number of all keys, "check memory", "local sort"; "allocate"; then "merge", "check traffic",
/// and four for the figures of the report.
constexpr std::uint64_t calls_before_splits = 5;
constexpr std::uint64_t calls_before_exchange = 1;
constexpr std::uint64_t calls_after_exchange = 6;

/// The same of sort_by_buckets(): whether it applies (2), the sample, the most threads, "measure
/// memory", the number of all keys, whether it fits, "divide", the counts of the buckets; "sort
/// borders"; "allocate"; then "sort buckets", "check traffic", and four for the report.
constexpr std::uint64_t calls_before_borders = 9;
constexpr std::uint64_t calls_of_borders = 1;
constexpr std::uint64_t calls_around_bucket_exchange = 7;

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

  if (may_sort_by_buckets(format.key, format.value_bytes(), share, ranks)) {
    plan.steps.front().collectives = calls_before_borders;
    // The counts of the exchange, and those of the first buckets, take two messages to each rank.
    plan.steps.push_back(
        {"splits", calls_of_borders + cluster::split_calls(records / multisort::block_buckets, p),
         0, 0, 2 * (p - 1), "", 0});
    cluster::RankStep exchange{"exchange", calls_around_bucket_exchange, 0, 0, p - 1, "", 0};
    divide_bytes(bytes / p * (p - 1), ranks, on_machine, exchange);
    plan.steps.push_back(exchange);
    return plan;
  }
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
