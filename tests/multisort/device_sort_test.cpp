// SPDX-License-Identifier: Apache-2.0

// The sort of chunks that lie on GPUs, by the algorithms that take every type, on several logical
// devices, which share GPUs where there are fewer.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "papers/papers.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"
#include "tests/multisort/device_chunks.hpp"

namespace sortie::test {
namespace {

std::string describe(const SortOptions& options, std::size_t chunks) {
  return std::string(name(options.algorithm)) + ", " + std::to_string(chunks) + " chunks, " +
         std::string(name(options.transport)) +
         (options.order == Order::ascending ? ", ascending" : ", descending");
}

template <class T>
void check(const std::vector<typename T::Key>& keys, const std::vector<std::uint64_t>& sizes,
           const SortOptions& options) {
  SCOPED_TRACE(describe(options, sizes.size()));
  ASSERT_EQ(sort_chunks_and_compare<T>(keys, sizes, options), "");
}

SortOptions options_of(Order order, Transport transport = Transport::automatic) {
  SortOptions options;
  options.order = order;
  options.stable = true;
  options.transport = transport;
  return options;
}

/// Chunks whose sizes differ, and of which one is empty where there are three or more.
[[nodiscard]] std::vector<std::uint64_t> unequal_sizes(std::uint64_t n, std::size_t count) {
  std::vector<std::uint64_t> sizes = EqualShares{n, count}.sizes();
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::uint64_t moved = sizes[i] * (i % 3) / 4;
    sizes[i] -= moved;
    sizes[i + 1] += moved;
  }
  if (count >= 3) {
    sizes[0] += sizes[1];
    sizes[1] = 0;
  }
  return sizes;
}

using AllTypes = testing::Types<
    DeviceTypes<std::uint8_t, void>, DeviceTypes<std::uint8_t, std::uint32_t>,
    DeviceTypes<std::int8_t, std::uint64_t>, DeviceTypes<std::uint16_t, void>,
    DeviceTypes<std::int16_t, std::uint32_t>, DeviceTypes<std::uint16_t, std::uint64_t>,
    DeviceTypes<std::uint32_t, void>, DeviceTypes<std::uint32_t, std::uint32_t>,
    DeviceTypes<std::uint32_t, std::uint64_t>, DeviceTypes<std::int32_t, void>,
    DeviceTypes<float, void>, DeviceTypes<float, std::uint32_t>, DeviceTypes<std::uint64_t, void>,
    DeviceTypes<std::uint64_t, std::uint32_t>, DeviceTypes<std::uint64_t, std::uint64_t>,
    DeviceTypes<std::int64_t, std::uint32_t>, DeviceTypes<double, void>,
    DeviceTypes<double, std::uint64_t>>;
template <class T>
class DeviceSortTest : public testing::Test {};
TYPED_TEST_SUITE(DeviceSortTest, AllTypes);

TYPED_TEST(DeviceSortTest, OneToFiveDevices) {
  for (std::size_t devices = 1; devices <= 5; ++devices) {
    for (const std::uint64_t n : {0, 1, 7, 3'000, 200'003}) {
      const auto keys =
          draw_keys<typename TypeParam::Key>({"uniform", Distribution::Kind::uniform}, n, devices);
      for (const Order order : {Order::ascending, Order::descending}) {
        check<TypeParam>(keys, EqualShares{n, devices}.sizes(), options_of(order));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceSortTest, UnequalChunksAndHostStaging) {
  for (std::size_t devices = 2; devices <= 4; ++devices) {
    const std::uint64_t n = 150'001;
    const auto keys =
        draw_keys<typename TypeParam::Key>({"uniform", Distribution::Kind::uniform}, n, devices);
    const auto sizes = unequal_sizes(n, devices);
    check<TypeParam>(keys, sizes, options_of(Order::ascending));
    check<TypeParam>(keys, sizes, options_of(Order::descending, Transport::staged));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceSortTest, EveryDistributionOnThreeDevices) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<typename TypeParam::Key>(distribution, 60'001);
    check<TypeParam>(keys, EqualShares{keys.size(), 3}.sizes(), options_of(Order::ascending));
    if (this->HasFatalFailure()) return;
  }
}

// What is the same for all types is tried with one, on more devices and more items.
TEST(DeviceSort, EveryDistributionOnFourAndFiveDevices) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::uint32_t>(distribution, 1'000'003);
    for (const std::size_t devices : {4, 5}) {
      check<DeviceTypes<std::uint32_t, void>>(keys, unequal_sizes(keys.size(), devices),
                                              options_of(Order::descending));
      check<DeviceTypes<std::uint32_t, std::uint32_t>>(keys, unequal_sizes(keys.size(), devices),
                                                       options_of(Order::ascending));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(DeviceSort, SkewWithHostStaging) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::uint64_t>(distribution, 100'000);
    check<DeviceTypes<std::uint64_t, std::uint32_t>>(
        keys, EqualShares{keys.size(), 3}.sizes(), options_of(Order::ascending, Transport::staged));
    if (HasFatalFailure()) return;
  }
}

TEST(DeviceSort, ManyDevices) {
  const auto keys = draw_keys<std::uint32_t>({"uniform", Distribution::Kind::uniform}, 500'000);
  const auto crowded = draw_keys<std::uint32_t>({"zipf 1", Distribution::Kind::zipf, 1}, 500'000);
  for (const std::size_t devices : {8, 16, 33}) {
    for (const auto* drawn : {&keys, &crowded}) {
      check<DeviceTypes<std::uint32_t, std::uint32_t>>(
          *drawn, EqualShares{drawn->size(), devices}.sizes(), options_of(Order::ascending));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(DeviceSort, RmgSortsEveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::int32_t>(distribution, 150'001);
    for (const std::size_t devices : {1, 2, 3, 5}) {
      for (const Transport transport : {Transport::automatic, Transport::staged}) {
        SortOptions options = options_of(Order::descending, transport);
        options.algorithm = papers::rmg;
        check<DeviceTypes<std::int32_t, void>>(keys, unequal_sizes(keys.size(), devices), options);
        check<DeviceTypes<std::int32_t, std::uint64_t>>(keys, unequal_sizes(keys.size(), devices),
                                                        options);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// NaNs of either sign, infinities and zeros have their places among 40 000 others.
TEST(DeviceSort, NotANumberAndZerosInTotalOrder) {
  using Limits = std::numeric_limits<float>;
  const float special[] = {Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           0.0F,
                           -0.0F,
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::lowest()};
  auto keys = draw_keys<float>({"uniform", Distribution::Kind::uniform}, 40'000);
  for (std::size_t i = 0; i < 5'000; ++i) keys[7 * i] = special[i % std::size(special)];
  for (const Order order : {Order::ascending, Order::descending})
    check<DeviceTypes<float, std::uint32_t>>(keys, EqualShares{keys.size(), 3}.sizes(),
                                             options_of(order));
}

// What goes from the first device to others takes more than one slice of the relay.
TEST(DeviceSort, SeveralSlicesLarge) {
  const std::vector<std::uint64_t> sizes{26'000'000, 3'000'000, 1'000'003};
  const auto keys =
      draw_keys<std::uint32_t>({"zipf 1", Distribution::Kind::zipf, 1}, begins_of(sizes).back());
  check<DeviceTypes<std::uint32_t, void>>(keys, sizes, options_of(Order::ascending));
}

// Whatever the keys, each device has its share to sort, within the padding of its borders.
TEST(DeviceSort, SharesAreBalanced) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::uint32_t>(distribution, 1'000'003);
    for (const std::size_t devices : {2, 3, 4}) {
      RunReport report;
      ASSERT_EQ((sort_chunks_and_compare<DeviceTypes<std::uint32_t, void>>(
                    keys, EqualShares{keys.size(), devices}.sizes(), options_of(Order::ascending),
                    &report)),
                "");
      for (const auto& [name, value] : report.figures())
        if (name == "imbalance") {
          EXPECT_LE(std::get<double>(value), 0.01);
        }
    }
  }
}

TEST(DeviceSort, ItsPhasesAreReported) {
  RunReport report;
  const auto keys = draw_keys<std::uint32_t>({"uniform", Distribution::Kind::uniform}, 100'000);
  EXPECT_EQ((sort_chunks_and_compare<DeviceTypes<std::uint32_t, void>>(
                keys, EqualShares{keys.size(), 2}.sizes(), options_of(Order::ascending), &report)),
            "");
  std::vector<std::string> names;
  for (const RunReport::Phase& phase : report.phases()) names.push_back(phase.name);
  ASSERT_GE(names.size(), 3U);
  EXPECT_EQ(names[0], "histogram");
  EXPECT_EQ(names[1], "scatter");
  EXPECT_EQ(names[2], "local sort");
  ASSERT_EQ(report.figures().size(), 1U);
  EXPECT_EQ(report.figures().front().first, "imbalance");
}

}  // namespace
}  // namespace sortie::test
