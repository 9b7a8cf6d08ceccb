// SPDX-License-Identifier: Apache-2.0
#include "sortie/cluster_sort.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/sort/ranks/bucket_sort.hpp"
#include "core/random.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/cluster/sort_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using test::are_same;
using test::drawn;
using test::make;
using test::Shape;
using test::shapes;
using test::Sorted;

std::uint64_t number(int rank) {
  return static_cast<std::uint64_t>(rank);
}

Context host_context() {
  Context context;
  context.backend = Backend::host;
  return context;
}

template <class Key, class Value>
void expect_sorted(Ranks& ranks, const Shape& shape, Order order, bool with_values) {
  Sorted<Key, Value> sorted = make<Key, Value>(ranks, shape, order);
  SortOptions options;
  options.order = order;
  const Context context = host_context();
  if (with_values) {
    sort(ranks, context, sorted.keys, sorted.values, options);
    EXPECT_TRUE(are_same(sorted.values, sorted.expected_values));
  } else {
    sort(ranks, context, sorted.keys, options);
  }
  EXPECT_TRUE(are_same(sorted.keys, sorted.expected_keys))
      << shape.name << ", " << name(key_type_of<Key>());
}

TEST(ClusterSort, SortsEveryShape) {
  test::on_ranks([](Ranks& ranks) {
    for (const Shape& shape : shapes()) {
      expect_sorted<std::uint64_t, std::uint64_t>(ranks, shape, Order::ascending, false);
      expect_sorted<std::uint32_t, std::uint32_t>(ranks, shape, Order::descending, true);
    }
  });
}

TEST(ClusterSort, SortsEveryTypeInBothDirections) {
  test::on_few_ranks([](Ranks& ranks) {
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const KeyType type :
           {KeyType::u8, KeyType::i8, KeyType::u16, KeyType::i16, KeyType::u32, KeyType::i32,
            KeyType::f32, KeyType::u64, KeyType::i64, KeyType::f64}) {
        with_key_type(type, [&]<class Key>(Key) {
          // Two of three for each type: without values, with short and with long ones.
          switch ((static_cast<int>(type) + (order == Order::ascending ? 0 : 1)) % 3) {
            case 0:
              return expect_sorted<Key, std::uint32_t>(ranks, shapes()[0], order, false);
            case 1:
              return expect_sorted<Key, std::uint32_t>(ranks, shapes()[2], order, true);
            default:
              return expect_sorted<Key, std::uint64_t>(ranks, shapes()[0], order, true);
          }
        });
      }
    }
  });
}

/// Sorts keys alone by buckets, however few they are. \return whether that applied
template <class Key>
bool expect_sorted_by_buckets(Ranks& ranks, const Shape& shape, Order order) {
  Sorted<Key, std::uint32_t> sorted = make<Key, std::uint32_t>(ranks, shape, order);
  const std::vector<Key> before = sorted.keys;
  detail::KeyShare share;
  share.type = key_type_of<Key>();
  share.items = sorted.keys.size();
  share.key_array = detail::share_array(sorted.keys);
  share.options.order = order;
  const bool applies = sorting::sort_by_buckets(ranks, host_context(), share, 0);
  EXPECT_TRUE(are_same(sorted.keys, applies ? sorted.expected_keys : before))
      << shape.name << ", " << name(key_type_of<Key>()) << ", " << ranks.size() << " ranks";
  return applies;
}

TEST(ClusterSort, KeysAloneAreSortedByBuckets) {
  const auto many = [](std::uint64_t rank, std::uint64_t) { return 90 + 100 * (rank % 3); };
  // Every bucket of all keys has some: more than one border in a bucket, borders between buckets.
  const std::vector<Shape> divisible = {
      {"uniform", many, drawn},
      {"below 2^40", many, [](std::uint64_t i) { return drawn(i) >> 24; }},
      {"96 values", many, [](std::uint64_t i) { return drawn(i) % 96 << 57 | 7; }},
      {"one far above", many, [](std::uint64_t i) { return i == 50 ? ~0ULL : drawn(i) >> 1; }},
      {"equal and uniform", many, [](std::uint64_t i) { return i % 16 == 0 ? 9 : drawn(i); }}};
  test::on_ranks([&](Ranks& ranks) {
    EXPECT_EQ(expect_sorted_by_buckets<std::uint64_t>(ranks, divisible[0], Order::ascending),
              ranks.size() > 1);
  });
  test::on_few_ranks([&](Ranks& ranks) {
    for (const Shape& shape : divisible) {
      const bool is_narrow = shape.name == "below 2^40";  // 8 bits of a word of 32
      for (const Order order : {Order::ascending, Order::descending}) {
        // A bucket with much more than others may be too much for one thread of many.
        const bool may_not_apply = ranks.size() == 1 || shape.name == "equal and uniform";
        const bool long_keys = expect_sorted_by_buckets<std::uint64_t>(ranks, shape, order);
        EXPECT_TRUE(long_keys || may_not_apply) << shape.name;
        expect_sorted_by_buckets<double>(ranks, shape, order);
        const bool short_keys = expect_sorted_by_buckets<std::int32_t>(ranks, shape, order);
        EXPECT_TRUE(short_keys || may_not_apply || is_narrow) << shape.name;
        EXPECT_FALSE(short_keys && is_narrow);
      }
    }
    for (const Shape& shape : shapes())
      expect_sorted_by_buckets<std::int64_t>(ranks, shape, Order::descending);
  });
}

TEST(ClusterSort, ManyKeysAloneAreSortedByBuckets) {
  const Shape shape{
      "uniform",
      [](std::uint64_t rank, std::uint64_t) { return sorting::fewest_bucket_keys + 3 * rank; },
      drawn};
  const auto expect = [&](Ranks& ranks) {
    if (ranks.size() > 3) return;
    Sorted<std::int64_t, std::uint32_t> sorted =
        make<std::int64_t, std::uint32_t>(ranks, shape, Order::ascending);
    RunReport report;
    Context context = host_context();
    context.report = &report;
    sort(ranks, context, sorted.keys);
    EXPECT_TRUE(are_same(sorted.keys, sorted.expected_keys));
    std::vector<std::string> phases;
    for (const auto& phase : report.phases())
      if (phase.within.empty()) phases.push_back(phase.name);
    if (ranks.size() == 1) return;
    EXPECT_THAT(phases, testing::ElementsAre("divide", "splits", "exchange", "buckets"));
  };
  test::on_few_ranks(expect);
}

TEST(ClusterSort, AFaultInTheSortByBucketsLeavesEachRankItsKeys) {
  test::on_few_ranks([](Ranks& ranks) {
    if (ranks.size() == 1) return;
    const std::vector<std::string> phases = {"check keys",   "measure memory", "divide",
                                             "sort borders", "allocate",       "sort buckets"};
    for (std::size_t i = 0; i < phases.size(); ++i) {
      for (const int failing : test::failing_ranks(ranks, i)) {
        const test::Fault fault(ranks, failing, phases[i]);
        auto sorted = make<std::int64_t, std::uint64_t>(ranks, shapes()[0], Order::descending);
        std::vector<std::int64_t> before = sorted.keys;
        detail::KeyShare share;
        share.type = KeyType::i64;
        share.items = sorted.keys.size();
        share.key_array = detail::share_array(sorted.keys);
        std::string found;
        try {
          static_cast<void>(sorting::sort_by_buckets(ranks, host_context(), share, 0));
        } catch (const Error& error) {
          found = error.what();
        }
        EXPECT_EQ(found, "rank " + std::to_string(failing) + ": injected") << phases[i];
        if (phases[i] == "sort buckets") continue;
        std::ranges::sort(before);
        std::ranges::sort(sorted.keys);
        EXPECT_EQ(sorted.keys, before) << phases[i];
      }
    }
  });
}

struct Record {
  std::uint16_t key;
  std::uint64_t source;
  char text[3];
};

TEST(ClusterSort, RecordsAreSortedStablyByAComparator) {
  test::on_ranks([](Ranks& ranks) {
    for (const Shape& shape : shapes()) {
      const auto sorted = make<std::uint16_t, std::uint64_t>(ranks, shape, Order::descending);
      std::vector<Record> records;
      for (std::size_t i = 0; i < sorted.keys.size(); ++i)
        records.push_back({sorted.keys[i], sorted.values[i], "ab"});
      sort_records(ranks, host_context(), records,
                   [](const Record& a, const Record& b) { return a.key > b.key; });
      ASSERT_EQ(records.size(), sorted.expected_keys.size());
      for (std::size_t i = 0; i < records.size(); ++i) {
        EXPECT_EQ(records[i].source, sorted.expected_values[i]) << shape.name;
        EXPECT_EQ(std::string(records[i].text), "ab");
      }
    }
  });
}

TEST(ClusterSort, ReportsTheBytesItSendsAndPhases) {
  test::on_few_ranks([](Ranks& ranks) {
    auto sorted =
        make<std::uint32_t, std::uint64_t>(ranks, shapes()[4], Order::ascending);  // reversed
    RunReport report;
    Context context = host_context();
    context.report = &report;
    sort(ranks, context, sorted.keys, sorted.values);
    const auto figure = [&](std::string_view key) {
      for (const auto& [name, value] : report.figures())
        if (name == key) return value;
      return RunReport::Value(std::string("none"));
    };
    EXPECT_EQ(std::get<std::uint64_t>(figure("ranks")), number(ranks.size()));
    const auto planned = std::get<std::uint64_t>(figure("planned_exchange_bytes"));
    EXPECT_EQ(std::get<std::uint64_t>(figure("exchanged_bytes")), planned);
    EXPECT_EQ(planned > 0, ranks.size() > 1);
    const std::uint64_t counts = 8 * number(ranks.size()) * (number(ranks.size()) - 1);
    EXPECT_EQ((planned - counts) % 12, 0u);
    EXPECT_LE(std::get<std::uint64_t>(figure("most_exchange_bytes")), planned);
    EXPECT_LT(std::get<double>(figure("imbalance")), 1.02);
    std::vector<std::string> phases;
    for (const auto& phase : report.phases())
      if (phase.within.empty()) phases.push_back(phase.name);
    if (ranks.size() == 1) {
      EXPECT_THAT(phases, testing::ElementsAre("local sort"));
    } else {
      EXPECT_THAT(phases, testing::ElementsAre("local sort", "splits", "exchange", "merge"));
    }
  });
}

/// The error that all ranks throw.
std::string error_of(Ranks& ranks, const Context& context, std::uint64_t values_missing) {
  auto sorted = make<std::uint32_t, std::uint64_t>(ranks, shapes()[0], Order::ascending);
  sorted.values.resize(sorted.values.size() - values_missing);
  try {
    sort(ranks, context, sorted.keys, sorted.values);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ClusterSort, AFaultInAnyPhaseIsThrownByAll) {
  test::on_few_ranks([](Ranks& ranks) {
    const std::vector<std::string> phases = {"check keys", "measure memory", "check memory",
                                             "local sort", "splits",         "allocate",
                                             "merge",      "check traffic"};
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const std::string& phase = phases[i];
      for (const int failing : test::failing_ranks(ranks, i)) {
        const test::Fault fault(ranks, failing, phase);
        const std::string found = error_of(ranks, host_context(), 0);
        if (found == "none" && ranks.size() == 1) continue;  // has no exchange
        EXPECT_EQ(found, "rank " + std::to_string(failing) + ": injected") << phase;
      }
    }
  });
}

/// Signed keys are encoded for the merge: the caller gets his own back.
TEST(ClusterSort, AFaultBeforeTheMergeLeavesEachRankItsKeys) {
  test::on_few_ranks([](Ranks& ranks) {
    const std::vector<std::string> phases = {"local sort", "splits", "allocate"};
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const test::Fault fault(ranks, static_cast<int>(i) % ranks.size(), phases[i]);
      auto sorted =
          make<std::int64_t, std::uint64_t>(ranks, shapes()[0], Order::descending);  // uniform
      std::vector<std::int64_t> before = sorted.keys;
      const bool has_phase = ranks.size() > 1 || phases[i] == "local sort";
      bool has_failed = false;
      try {
        SortOptions options;
        options.order = Order::descending;
        sort(ranks, host_context(), sorted.keys, options);
      } catch (const Error&) {
        has_failed = true;
      }
      EXPECT_EQ(has_failed, has_phase) << phases[i];
      std::ranges::sort(before);
      std::ranges::sort(sorted.keys);
      EXPECT_EQ(sorted.keys, before) << phases[i];
    }
  });
}

TEST(ClusterSort, AValueForEachKeyIsExpected) {
  test::on_few_ranks([](Ranks& ranks) {
    const std::string found =
        error_of(ranks, host_context(), ranks.rank() == ranks.size() - 1 ? 1 : 0);
    EXPECT_THAT(found, testing::StartsWith("rank " + std::to_string(ranks.size() - 1)));
    EXPECT_THAT(found, testing::HasSubstr("values, expected one value per key"));
  });
}

TEST(ClusterSort, MoreThanTheMemoryIsRefusedWithTheRanksThatWouldDo) {
  test::on_few_ranks([](Ranks& ranks) {
    Context context = host_context();
    context.memory_budget = 120;  // 10 items
    const std::uint64_t p = number(ranks.size());
    std::uint64_t all = 0;
    for (std::uint64_t rank = 0; rank < p; ++rank) all += shapes()[0].items(rank, p);
    EXPECT_THAT(
        error_of(ranks, context, 0),
        testing::HasSubstr("at least " + std::to_string((all + 9) / 10) + " ranks are enough"));
  });
}

}  // namespace
}  // namespace sortie::cluster
