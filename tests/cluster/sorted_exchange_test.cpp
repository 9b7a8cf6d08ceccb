// SPDX-License-Identifier: Apache-2.0
#include "cluster/sorted_exchange.hpp"
#include "cluster/traffic_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/exact_splits.hpp"
#include "core/host_runtime.hpp"
#include "core/random.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

struct Record {
  std::uint32_t key;
  std::uint32_t source;  ///< its number among all records
  friend bool operator==(const Record&, const Record&) = default;
};

bool before(const Record& a, const Record& b) {
  return a.key < b.key;
}

/// The sorted records of a rank; those of all ranks are numbered by rank and position.
std::vector<Record> records_of(int rank) {
  const auto r = static_cast<std::uint32_t>(rank);
  std::vector<Record> records(r % 4 == 2 ? 0 : 900 + 100 * (r % 3));
  Random random(r);
  for (Record& record : records) record = {static_cast<std::uint32_t>(random.below(50)), 0};
  std::ranges::stable_sort(records, before);
  for (std::uint32_t i = 0; i < records.size(); ++i) records[i].source = r * 10000 + i;
  return records;
}

struct Expected {
  std::vector<Record> all;
  std::vector<std::uint64_t> sizes;
};

Expected expected(int ranks) {
  Expected wanted;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<Record> records = records_of(rank);
    wanted.all.insert(wanted.all.end(), records.begin(), records.end());
  }
  std::ranges::stable_sort(wanted.all, before);
  wanted.sizes = EqualShares{wanted.all.size(), static_cast<std::uint64_t>(ranks)}.sizes();
  return wanted;
}

PartExchange plan_of(Ranks& ranks, TrafficPlan& traffic, const std::vector<Record>& records,
                     std::span<const std::uint64_t> sizes) {
  const SortedItems items = sorted_items(
      records.size(), [&](std::uint64_t i) { return records[i]; }, before);
  return plan_exchange(ranks, traffic, exact_splits(ranks, {&items, 1}, sizes)[0]);
}

TEST(SortedExchange, RecordsAreMergedStably) {
  test::on_ranks([](Ranks& ranks) {
    const Expected wanted = expected(ranks.size());
    const std::vector<Record> mine = records_of(ranks.rank());
    TrafficPlan traffic(ranks);
    const PartExchange plan = plan_of(ranks, traffic, mine, wanted.sizes);
    std::vector<Record> received(plan.items_received());
    std::vector<Record> merged(received.size());
    const PartArray array{std::as_bytes(std::span(mine)).data(),
                          std::as_writable_bytes(std::span(received)).data(), sizeof(Record)};
    exchange_parts(ranks, traffic, plan, {&array, 1});
    traffic.finish({});
    std::vector<sortie::detail::RecordRun> runs;
    for (std::size_t source = 0; source < static_cast<std::size_t>(ranks.size()); ++source)
      runs.push_back({received.data() + plan.received[source], plan.run(source)});
    ranks.together("merge", [&] { merge_record_parts(runs, merged.data(), before); });
    const std::uint64_t first = begins_of(wanted.sizes)[static_cast<std::size_t>(ranks.rank())];
    const auto part = std::span(wanted.all).subspan(first, merged.size());
    EXPECT_TRUE(std::ranges::equal(merged, part));
  });
}

TEST(SortedExchange, KeysAndValuesAreParallelArrays) {
  test::on_ranks([](Ranks& ranks) {
    const Expected wanted = expected(ranks.size());
    const std::vector<Record> mine = records_of(ranks.rank());
    std::vector<std::uint16_t> keys;
    std::vector<std::uint64_t> values;
    for (const Record& record : mine) {
      keys.push_back(static_cast<std::uint16_t>(record.key));
      values.push_back(record.source);
    }
    TrafficPlan traffic(ranks);
    const PartExchange plan = plan_of(ranks, traffic, mine, wanted.sizes);
    std::vector<std::uint16_t> got_keys(plan.items_received());
    std::vector<std::uint64_t> got_values(plan.items_received());
    ranks.set_message_bytes(101);  // parts of several messages
    const PartArray arrays[] = {
        {std::as_bytes(std::span(keys)).data(), std::as_writable_bytes(std::span(got_keys)).data(),
         sizeof(std::uint16_t)},
        {std::as_bytes(std::span(values)).data(),
         std::as_writable_bytes(std::span(got_values)).data(), sizeof(std::uint64_t)}};
    exchange_parts(ranks, traffic, plan, arrays);
    traffic.finish({});
    ranks.set_message_bytes(std::uint64_t{1} << 30);
    std::vector<std::uint16_t> out_keys(got_keys.size());
    std::vector<std::uint64_t> out_values(got_keys.size());
    std::vector<multisort::Run<std::uint16_t, std::uint64_t>> runs;
    for (std::size_t source = 0; source < static_cast<std::size_t>(ranks.size()); ++source)
      runs.push_back({Items{got_keys.data(), got_values.data()}.from(plan.received[source]),
                      plan.run(source)});
    ranks.together("merge", [&] {
      merge_parts<std::uint16_t, std::uint64_t>(runs, {out_keys.data(), out_values.data()});
    });
    const std::uint64_t first = begins_of(wanted.sizes)[static_cast<std::size_t>(ranks.rank())];
    for (std::size_t i = 0; i < out_keys.size(); ++i) {
      ASSERT_EQ(out_keys[i], wanted.all[first + i].key) << i;
      ASSERT_EQ(out_values[i], wanted.all[first + i].source) << i;
    }
  });
}

/// Runs long enough for several threads, with many equal keys.
TEST(SortedExchange, ThreadsMergeStably) {
  start_host_runtime(0);
  std::vector<std::vector<Record>> runs(4);
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    Random random(r);
    runs[r].resize(r == 2 ? 0 : 30000);
    for (Record& record : runs[r]) record.key = static_cast<std::uint32_t>(random.below(500));
    std::ranges::stable_sort(runs[r], before);
    for (std::uint32_t i = 0; i < runs[r].size(); ++i) runs[r][i].source = 100000 * r + i;
  }
  std::vector<Record> expected;
  for (const auto& run : runs) expected.insert(expected.end(), run.begin(), run.end());
  std::ranges::stable_sort(expected, before);

  std::vector<sortie::detail::RecordRun> record_runs;
  for (const auto& run : runs) record_runs.push_back({run.data(), run.size()});
  std::vector<Record> merged(expected.size());
  merge_record_parts(record_runs, merged.data(), before);
  EXPECT_TRUE(merged == expected);

  std::vector<std::vector<std::uint32_t>> keys(runs.size());
  std::vector<std::vector<std::uint32_t>> values(runs.size());
  std::vector<multisort::Run<std::uint32_t, std::uint32_t>> pair_runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const Record& record : runs[r]) {
      keys[r].push_back(record.key);
      values[r].push_back(record.source);
    }
    pair_runs.push_back({{keys[r].data(), values[r].data()}, keys[r].size()});
  }
  std::vector<std::uint32_t> out_keys(expected.size());
  std::vector<std::uint32_t> out_values(expected.size());
  merge_parts<std::uint32_t, std::uint32_t>(pair_runs, {out_keys.data(), out_values.data()});
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ((Record{out_keys[i], out_values[i]}), expected[i]) << i;
}

}  // namespace
}  // namespace sortie::cluster
