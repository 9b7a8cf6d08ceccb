// SPDX-License-Identifier: Apache-2.0
//
// Sorts on ranks of one process that have a GPU each, or share one. NCCL needs processes with a GPU
// each: device_program.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/device_exchange.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/cluster_sort.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/cluster/sort_shapes.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using test::are_same;
using test::make;
using test::Shape;
using test::shapes;
using test::Sorted;

void on_logical_devices(int count, const Context& context,
                        const std::function<void(Ranks&, const Context&)>& job) {
  SCOPED_TRACE(std::to_string(count) + " devices");
  run_on_devices(context, spread_over_gpus(context, count), job);
}

template <class T>
T figure(const RunReport& report, std::string_view name) {
  for (const auto& [key, value] : report.figures())
    if (key == name) return std::get<T>(value);
  ADD_FAILURE() << "no figure " << name;
  return {};
}

/// Sorts a shape on the ranks' devices; expects the order of one machine.
/// \return how items went from rank to rank
template <class Key, class Value>
std::string expect_sorted(Ranks& ranks, const Context& own, const Shape& shape, Order order,
                          bool with_values, Transport transport = Transport::automatic) {
  Sorted<Key, Value> sorted = make<Key, Value>(ranks, shape, order);
  RunReport report;
  Context context = own;
  context.report = &report;
  SortOptions options;
  options.order = order;
  options.transport = transport;
  if (with_values) {
    sort(ranks, context, sorted.keys, sorted.values, options);
    EXPECT_TRUE(are_same(sorted.values, sorted.expected_values)) << shape.name;
  } else {
    sort(ranks, context, sorted.keys, options);
  }
  EXPECT_TRUE(are_same(sorted.keys, sorted.expected_keys))
      << shape.name << ", " << name(key_type_of<Key>());
  EXPECT_EQ(figure<std::uint64_t>(report, "planned_exchange_bytes"),
            figure<std::uint64_t>(report, "exchanged_bytes"));
  return figure<std::string>(report, "exchange_path");
}

TEST(ClusterDeviceSort, SortsEveryShape) {
  for (const int devices : {2, 3, 5}) {
    on_logical_devices(devices, test::context(), [](Ranks& ranks, const Context& own) {
      ranks.set_message_bytes(101);  // pieces of several messages
      for (const Shape& shape : shapes()) {
        const std::string path = expect_sorted<std::uint64_t, std::uint64_t>(
            ranks, own, shape, Order::ascending, false, Transport::peer);
        EXPECT_EQ(path, "by peer copies");
        expect_sorted<std::uint32_t, std::uint32_t>(ranks, own, shape, Order::descending, true);
      }
    });
  }
}

TEST(ClusterDeviceSort, SortsEveryTypeInBothDirections) {
  on_logical_devices(3, test::context(), [](Ranks& ranks, const Context& own) {
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const KeyType type :
           {KeyType::u8, KeyType::i8, KeyType::u16, KeyType::i16, KeyType::u32, KeyType::i32,
            KeyType::f32, KeyType::u64, KeyType::i64, KeyType::f64}) {
        with_key_type(type, [&]<class Key>(Key) {
          expect_sorted<Key, std::uint64_t>(ranks, own, shapes()[0], order, false);
          expect_sorted<Key, std::uint32_t>(ranks, own, shapes()[2], order, true);
        });
      }
    }
  });
}

TEST(ClusterDeviceSort, SortsManyKeysOfUnevenShares) {
  const Shape shape{"many",
                    [](std::uint64_t rank, std::uint64_t) { return 60'000 + 200'000 * (rank % 2); },
                    [](std::uint64_t i) { return test::drawn(i) >> (i % 3 == 0 ? 50 : 0); }};
  for (const int devices : {2, 4}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      expect_sorted<std::uint32_t, std::uint32_t>(ranks, own, shape, Order::ascending, true);
      expect_sorted<double, std::uint32_t>(ranks, own, shape, Order::descending, false);
    });
  }
}

TEST(ClusterDeviceSort, GoesThroughHostMemoryWhereItMust) {
  on_logical_devices(2, test::context(), [](Ranks& ranks, const Context& own) {
    // So many that a budget holds them in chunks, but not as a whole.
    const Shape uniform{"uniform", [](std::uint64_t, std::uint64_t) { return 500'000; },
                        test::drawn};
    const auto path = [&](const Context& context, Transport transport) {
      return expect_sorted<std::uint32_t, std::uint32_t>(ranks, context, uniform, Order::ascending,
                                                         false, transport);
    };
    EXPECT_EQ(path(own, Transport::staged), "through host memory: as asked for");
    Context little = own;
    little.memory_budget = std::uint64_t{10} << 20;
    EXPECT_EQ(path(little, Transport::automatic),
              "through host memory: the items of a rank do not fit in its part of the GPU");
    EXPECT_THAT(test::error_of([&] { static_cast<void>(path(little, Transport::peer)); }),
                testing::HasSubstr("expected one between devices for transport peer"));
    // Where one rank works on the host, every rank sorts its items, and merges what it receives.
    Context mixed = own;
    if (ranks.rank() == 1) mixed.backend = Backend::host;
    auto sorted = make<std::uint32_t, std::uint32_t>(ranks, uniform, Order::ascending);
    sort(ranks, mixed, sorted.keys, sorted.values);
    EXPECT_TRUE(are_same(sorted.values, sorted.expected_values));
  });
}

TEST(ClusterDeviceSort, AFaultInAnyPhaseIsThrownByAllAndLeavesTheKeys) {
  on_logical_devices(3, test::context(), [](Ranks& ranks, const Context& own) {
    // Devices are connected by the first sort that comes so far.
    for (const char* const phase :
         {"find device", "choose exchange", "connect devices", "measure device memory",
          "check transport", "copy in", "local sort", "splits", "allocate received",
          "finish pieces", "exchange pieces", "sort received", "allocate", "copy out",
          "check traffic"}) {
      for (const int failing : {0, 1, 2}) {
        const test::Fault fault(ranks, failing, phase);
        auto sorted = make<std::int64_t, std::uint64_t>(ranks, shapes()[0], Order::ascending);
        const std::vector<std::int64_t> before = sorted.keys;
        EXPECT_EQ(test::error_of([&] { sort(ranks, own, sorted.keys); }),
                  "rank " + std::to_string(failing) + ": injected")
            << phase;
        const bool may_have_changed = phase == std::string_view("copy out") ||
                                      phase == std::string_view("allocate") ||
                                      phase == std::string_view("check traffic");
        EXPECT_TRUE(may_have_changed || sorted.keys == before) << phase;
      }
    }
    expect_sorted<std::int64_t, std::uint64_t>(ranks, own, shapes()[0], Order::ascending, true);
  });
}

TEST(ClusterDeviceSort, GoesByNcclBetweenThreadsOfOneProcess) {
  const int gpus = cuda_device_count();
  if (gpus < 2) GTEST_SKIP() << "found " << gpus << " GPU, expected two";
  if (!why_no_nccl().empty()) GTEST_SKIP() << why_no_nccl();
  on_logical_devices(gpus, test::context(), [](Ranks& ranks, const Context& own) {
    ranks.attachment() = connect_by_nccl(ranks, own.device);
    for (const std::uint64_t message : {std::uint64_t{101}, Ranks::most_message_bytes}) {
      ranks.set_message_bytes(message);
      for (const Shape& shape : shapes()) {
        const std::string path = expect_sorted<std::uint32_t, std::uint64_t>(
            ranks, own, shape, Order::ascending, true, Transport::peer);
        EXPECT_THAT(path, testing::StartsWith("by NCCL "));
      }
    }
    const Shape many{"many", [](std::uint64_t, std::uint64_t) { return 300'000; }, test::drawn};
    expect_sorted<std::uint64_t, std::uint32_t>(ranks, own, many, Order::descending, false);
  });
}

}  // namespace
}  // namespace sortie::cluster
