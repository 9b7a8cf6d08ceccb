// SPDX-License-Identifier: Apache-2.0

// The sort of one array through the public API, on logical devices, against the reference.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "sortie/run_report.hpp"
#include "sortie/sort.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"

namespace sortie::test {
namespace {

/// Eight bytes with the alignment of four.
struct Tag {
  float weight;
  std::uint32_t item;
};

template <class Value>
Value value_of(std::uint32_t item) {
  if constexpr (std::is_same_v<Value, Tag>) {
    return {0.5F, item};
  } else {
    return static_cast<Value>(item);
  }
}

template <class Value>
std::uint32_t item_of(const Value& value) {
  if constexpr (std::is_same_v<Value, Tag>) {
    return value.item;
  } else {
    return static_cast<std::uint32_t>(value);
  }
}

Context host_context() {
  Context context;
  context.backend = Backend::host;
  return context;
}

std::string describe(const SortOptions& options, std::size_t n) {
  return std::to_string(n) + " items, " + std::to_string(options.devices) + " devices, " +
         std::string(name(options.algorithm)) +
         (options.order == Order::ascending ? ", ascending" : ", descending");
}

/// Key and value type of a test; `void` for keys alone.
template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

/// Sorts by the public API and by the reference, and compares bit by bit.
template <class T>
void check(const std::vector<typename T::Key>& keys_in, const SortOptions& options) {
  SCOPED_TRACE(describe(options, keys_in.size()));
  using Key = typename T::Key;
  std::vector<Key> keys = keys_in;
  std::vector<Key> expected = keys_in;
  if constexpr (std::is_void_v<typename T::Value>) {
    sort(host_context(), std::span<Key>(keys), options);
    multisort::reference::sort(std::span<Key>(expected), options.order);
    ASSERT_TRUE(images_of(keys) == images_of(expected)) << "keys differ from the reference's";
  } else {
    using Value = typename T::Value;
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < keys.size(); ++i) values.push_back(value_of<Value>(i));
    std::vector<Value> expected_values = values;
    sort(host_context(), std::span<Key>(keys), std::span<Value>(values), options);
    multisort::reference::sort(std::span<Key>(expected), std::span<Value>(expected_values),
                               options.order);
    ASSERT_TRUE(images_of(keys) == images_of(expected)) << "keys differ from the reference's";
    for (std::size_t i = 0; i < values.size(); ++i)
      if (item_of(values[i]) != item_of(expected_values[i])) FAIL() << "value " << i << " is wrong";
  }
}

constexpr SortAlgorithm both_algorithms[] = {SortAlgorithm::radix, SortAlgorithm::merge};

template <class T>
class SortTest : public testing::Test {};

using AllTypes = testing::Types<
    Types<std::uint8_t, void>, Types<std::uint8_t, std::uint32_t>, Types<std::uint8_t, double>,
    Types<std::int8_t, void>, Types<std::int8_t, Tag>, Types<std::uint16_t, void>,
    Types<std::uint16_t, float>, Types<std::uint16_t, Tag>, Types<std::int16_t, void>,
    Types<std::int16_t, std::uint32_t>, Types<std::uint32_t, void>,
    Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, Tag>, Types<std::int32_t, void>,
    Types<std::int32_t, double>, Types<float, void>, Types<float, std::uint32_t>, Types<float, Tag>,
    Types<std::uint64_t, void>, Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, double>,
    Types<std::int64_t, void>, Types<std::int64_t, Tag>, Types<double, void>,
    Types<double, std::uint32_t>, Types<double, std::uint64_t>>;
TYPED_TEST_SUITE(SortTest, AllTypes);

TYPED_TEST(SortTest, EveryDistributionOnFourDevices) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<typename TypeParam::Key>(distribution, 3'003);
    for (const SortAlgorithm algorithm : both_algorithms) {
      for (const Order order : {Order::ascending, Order::descending}) {
        check<TypeParam>(keys, {order, true, algorithm, 4});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(SortTest, FewItemsOnSomeDevices) {
  for (const int devices : {1, 2, 3, 8}) {
    for (const std::uint64_t n : {0, 1, 2, 17, 33, 1'001}) {
      const auto keys = draw_keys<typename TypeParam::Key>({"zipf", Distribution::Kind::zipf, 1}, n,
                                                           static_cast<std::uint64_t>(devices));
      for (const SortAlgorithm algorithm : both_algorithms) {
        check<TypeParam>(keys, {Order::ascending, true, algorithm, devices});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// What is the same for all types is tried with one.
TEST(Sort, EveryDistributionOnEveryNumberOfDevices) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (int devices = 1; devices <= 16; ++devices) {
      const auto keys = draw_keys<std::uint32_t>(distribution, 4'000 + 3 * devices);
      for (const SortAlgorithm algorithm : both_algorithms) {
        check<Types<std::uint32_t, std::uint32_t>>(keys,
                                                   {Order::descending, true, algorithm, devices});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Sort, EveryFewItemsOnEveryNumberOfDevices) {
  for (int devices = 1; devices <= 16; ++devices) {
    for (std::uint64_t n = 0; n <= 40; ++n) {
      const auto keys = draw_keys<std::int32_t>({"", Distribution::Kind::uniform}, n, n);
      for (const SortAlgorithm algorithm : both_algorithms) {
        check<Types<std::int32_t, void>>(keys, {Order::ascending, true, algorithm, devices});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// More items than the cache holds: passes through LineScatter, then digits from either end.
template <class T>
class LongSortTest : public testing::Test {};

using LongTypes = testing::Types<Types<std::uint8_t, std::uint64_t>, Types<std::uint16_t, void>,
                                 Types<std::uint32_t, void>, Types<std::uint32_t, double>,
                                 Types<float, std::uint32_t>, Types<std::uint64_t, void>,
                                 Types<std::uint64_t, std::uint32_t>, Types<std::int64_t, Tag>>;
TYPED_TEST_SUITE(LongSortTest, LongTypes);

TYPED_TEST(LongSortTest, OnDevicesOfManyItems) {
  using Kind = Distribution::Kind;
  for (const Distribution& distribution :
       {Distribution{"uniform", Kind::uniform}, Distribution{"zipf", Kind::zipf, 1.2},
        Distribution{"entropy", Kind::entropy, 20}, Distribution{"0x00AA", Kind::shared_digit}}) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<typename TypeParam::Key>(distribution, 1'500'007);
    check<TypeParam>(keys, {Order::ascending, true, SortAlgorithm::radix, 1});
    check<TypeParam>(keys, {Order::descending, true, SortAlgorithm::radix, 3});
    if (this->HasFatalFailure()) return;
  }
  const auto keys = draw_keys<typename TypeParam::Key>({"uniform", Kind::uniform}, 600'001);
  check<TypeParam>(keys, {Order::ascending, true, SortAlgorithm::merge, 5});
}

template <class Key>
class FloatingPointSortTest : public testing::Test {};
using FloatingPoint = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatingPointSortTest, FloatingPoint);

TYPED_TEST(FloatingPointSortTest, ZerosInfinitiesAndNaNsAreInTotalOrder) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam nan = Limits::quiet_NaN();
  const std::vector<TypeParam> in_order{std::copysign(nan, TypeParam{-1}),
                                        -Limits::infinity(),
                                        Limits::lowest(),
                                        -Limits::denorm_min(),
                                        TypeParam{-0.0},
                                        TypeParam{0},
                                        Limits::denorm_min(),
                                        Limits::max(),
                                        Limits::infinity(),
                                        nan};
  for (const SortAlgorithm algorithm : both_algorithms) {
    for (const int devices : {1, 3}) {
      std::vector<TypeParam> keys(in_order.rbegin(), in_order.rend());
      sort(host_context(), std::span<TypeParam>(keys),
           {Order::ascending, false, algorithm, devices});
      EXPECT_EQ(images_of(keys), images_of(in_order));
      sort(host_context(), std::span<TypeParam>(keys),
           {Order::descending, false, algorithm, devices});
      EXPECT_EQ(images_of(keys),
                images_of(std::vector<TypeParam>(in_order.rbegin(), in_order.rend())));
    }
  }
}

// Keys and values wherever their types may begin: whole cache lines do not fit then.
TEST(Sort, ArraysOnOddPlacesAndManyDevices) {
  constexpr std::uint64_t n = 300'001;
  const auto drawn = draw_keys<std::uint32_t>({"", Distribution::Kind::uniform}, n + 7);
  for (std::size_t lead = 0; lead < 7; lead += 2) {
    std::vector<std::uint32_t> keys = drawn;
    std::vector<double> values(n + 7);
    std::iota(values.begin(), values.end(), 0);
    const std::span<std::uint32_t> part(keys.data() + lead, n);
    sort(host_context(), part, std::span<double>(values).subspan(lead + (lead == 2 ? 1 : 0), n),
         {Order::ascending, false, SortAlgorithm::radix, 5});
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    for (std::size_t i = 0; i < lead; ++i) EXPECT_EQ(keys[i], drawn[i]);
    for (std::size_t i = lead + n; i < n + 7; ++i) EXPECT_EQ(keys[i], drawn[i]);
  }
}

TEST(Sort, AsManyDevicesAsThreadsByDefaultAndItsPhasesAreReported) {
  RunReport report;
  Context context = host_context();
  context.report = &report;
  auto keys = draw_keys<std::int32_t>({"", Distribution::Kind::uniform}, 3'000'000);
  sort(context, std::span<std::int32_t>(keys));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  ASSERT_FALSE(report.phases().empty());
  EXPECT_EQ(report.phases().front().name, "range");
  EXPECT_EQ(report.phases().back().name, "local sort");
}

}  // namespace
}  // namespace sortie::test
