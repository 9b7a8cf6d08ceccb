// SPDX-License-Identifier: Apache-2.0

// Arrays that come in order, or in the opposite one, and those that nearly do.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "multisort/backends.hpp"
#include "multisort/host/sort_typed_definition.hpp"
#include "sortie/context.hpp"

namespace sortie::test {
namespace {

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class T>
class OrderedInputTest : public testing::Test {
 protected:
  using Key = typename T::Key;
  using Value = typename T::Value;

  struct Outcome {
    bool sorted = false;
    std::vector<Key> keys;
    std::vector<Value> values;  ///< each was the number of its item
  };

  static Outcome sort(std::vector<Key> keys, const KeyCodec<Key>& form, std::size_t devices,
                      bool stable = true) {
    Context context;
    context.backend = Backend::host;
    static_cast<void>(multisort::start_devices(context, 0));
    Outcome outcome;
    outcome.keys = std::move(keys);
    outcome.values.resize(outcome.keys.size());
    if constexpr (has_values<Value>)
      std::iota(outcome.values.begin(), outcome.values.end(), Value{0});
    outcome.sorted =
        multisort::OrderedInput<Key, Value>(context, {outcome.keys.data(), outcome.values.data()},
                                            outcome.keys.size(), form, stable, devices)
            .sort();
    return outcome;
  }

  /// 0, 1, ... as far as keys go, encoded: so that they are in the order that `form` wants.
  static std::vector<Key> in_order(std::size_t n, const KeyCodec<Key>& form) {
    std::vector<Key> keys(n);
    for (std::size_t i = 0; i < n; ++i) {
      // Where there are more items than keys, neighbours share one.
      const std::size_t most = std::numeric_limits<Key>::max();
      keys[i] = static_cast<Key>(n <= most ? i : i / (n / most + 1));
    }
    form.decode(keys.data(), n);
    return keys;
  }

  static std::vector<KeyCodec<Key>> forms() {
    constexpr KeyKind kind = KeyKind::floating_point;
    return {KeyCodec<Key>(), KeyCodec<Key>(kind, Order::ascending),
            KeyCodec<Key>(kind, Order::descending)};
  }
};

using AllTypes = testing::Types<Types<std::uint8_t, NoValue>, Types<std::uint16_t, std::uint32_t>,
                                Types<std::uint32_t, NoValue>, Types<std::uint32_t, std::uint64_t>,
                                Types<std::uint64_t, NoValue>, Types<std::uint64_t, std::uint32_t>>;
TYPED_TEST_SUITE(OrderedInputTest, AllTypes);

constexpr std::size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 4095, 4096, 4097, 8193, 65'535, 65'541};

TYPED_TEST(OrderedInputTest, LeavesWhatIsInOrder) {
  for (const auto& form : this->forms()) {
    for (const std::size_t n : sizes) {
      for (const std::size_t devices : {1, 2, 3, 8}) {
        const auto keys = this->in_order(n, form);
        const auto outcome = this->sort(keys, form, devices);
        ASSERT_TRUE(outcome.sorted) << n << " items, " << devices << " devices";
        ASSERT_EQ(outcome.keys, keys);
        if constexpr (has_values<typename TypeParam::Value>) {
          ASSERT_TRUE(std::is_sorted(outcome.values.begin(), outcome.values.end()));
        }
      }
    }
  }
}

TYPED_TEST(OrderedInputTest, ReversesWhatIsInTheOppositeOrder) {
  for (const auto& form : this->forms()) {
    for (const std::size_t n : sizes) {
      for (const std::size_t devices : {1, 2, 3, 8}) {
        const auto expected = this->in_order(n, form);
        const bool distinct =
            std::adjacent_find(expected.begin(), expected.end()) == expected.end();
        auto keys = expected;
        std::reverse(keys.begin(), keys.end());
        for (const bool stable : {false, true}) {
          const auto outcome = this->sort(keys, form, devices, stable);
          // In a stable sort, equal keys must keep the order of their values.
          const bool reverses = distinct || !stable || !has_values<typename TypeParam::Value>;
          ASSERT_EQ(outcome.sorted, reverses) << n << " items, " << devices << " devices";
          ASSERT_EQ(outcome.keys, outcome.sorted ? expected : keys);
          if constexpr (has_values<typename TypeParam::Value>) {
            ASSERT_TRUE(outcome.sorted
                            ? std::is_sorted(outcome.values.rbegin(), outcome.values.rend())
                            : std::is_sorted(outcome.values.begin(), outcome.values.end()));
          }
        }
      }
    }
  }
}

// One key out of order anywhere: at the ends of devices' shares, of what is looked at first and of
// what is looked at together.
TYPED_TEST(OrderedInputTest, TouchesNothingElse) {
  const auto form = this->forms().back();
  for (const std::size_t n : {3, 64, 65, 66, 4'098, 65'541}) {
    for (const bool opposite : {false, true}) {
      auto sound = this->in_order(n, form);
      if (opposite) std::reverse(sound.begin(), sound.end());
      for (std::size_t at = 0; at + 1 < n; ++at) {
        const bool near_border = at < 70 || at + 70 > n || (at + 3) % (n / 3) < 6 || at % 4096 < 2;
        if (!near_border && at % 997 != 0) continue;
        auto keys = sound;
        std::swap(keys[at], keys[at + 1]);
        if (keys == sound) continue;  // equal ones
        const auto outcome = this->sort(keys, form, 3);
        ASSERT_FALSE(outcome.sorted) << n << " items, at " << at << (opposite ? ", opposite" : "");
        ASSERT_EQ(outcome.keys, keys);
        if constexpr (has_values<typename TypeParam::Value>) {
          ASSERT_TRUE(std::is_sorted(outcome.values.begin(), outcome.values.end()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
