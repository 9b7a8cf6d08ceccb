// SPDX-License-Identifier: Apache-2.0

// The host's part of the heterogeneous sort: runs of encoded keys that lie one behind the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "papers/het/het_sort.hpp"
#include "primitives/key_codec.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"

namespace sortie::test {
namespace {

const std::vector<std::vector<std::uint64_t>> cuts = {
    {1}, {700}, {1, 1}, {0, 5, 0}, {3000, 1, 2000}, {400, 0, 400, 9, 70, 0, 5000, 33}};

template <class Key>
class MergeSortedRuns : public testing::Test {
 protected:
  using Bits = BitsOf<Key>;

  /// Sorts each run on its own and encodes its keys, as a GPU leaves them; values are the places of
  /// the keys at first. The merge must give what a stable sort of the whole gives.
  template <class Value>
  void check(const std::vector<std::uint64_t>& sizes, Order order, bool few_values) {
    const std::uint64_t n = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    Random random(n + sizes.size());
    std::vector<Key> keys(n);
    for (Key& key : keys)
      key = few_values ? static_cast<Key>(random.below(5)) : key_of_bits<Key>(random());
    std::vector<Value> values(n);
    std::iota(values.begin(), values.end(), Value{0});
    std::vector<Key> expected_keys = keys;
    std::vector<Value> expected_values = values;
    multisort::reference::sort(std::span(expected_keys), std::span(expected_values), order);

    std::uint64_t begin = 0;
    for (const std::uint64_t size : sizes) {
      multisort::reference::sort(std::span(keys).subspan(begin, size),
                                 std::span(values).subspan(begin, size), order);
      begin += size;
    }
    constexpr KeyType type = key_type_of<Key>();
    const KeyCodec<Bits> form(kind_of(type), order);
    std::vector<Bits> encoded(n);
    std::memcpy(encoded.data(), keys.data(), n * sizeof(Key));
    form.encode(encoded.data(), n);

    multisort::Request request{
        encoded.data(), type, n, values.data(), static_cast<int>(sizeof(Value)), {}};
    request.options.order = order;
    Context context;
    context.backend = Backend::host;
    papers::prepare_merge(context, request, sizes)();
    EXPECT_EQ(std::memcmp(encoded.data(), expected_keys.data(), n * sizeof(Key)), 0);
    EXPECT_EQ(values, expected_values);

    // Keys alone.
    std::memcpy(encoded.data(), keys.data(), n * sizeof(Key));
    form.encode(encoded.data(), n);
    request.values = nullptr;
    request.value_bytes = 0;
    papers::prepare_merge(context, request, sizes)();
    EXPECT_EQ(std::memcmp(encoded.data(), expected_keys.data(), n * sizeof(Key)), 0);
  }
};

using Keys = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(MergeSortedRuns, Keys, );

TYPED_TEST(MergeSortedRuns, AnyCutInBothDirections) {
  for (const std::vector<std::uint64_t>& sizes : cuts) {
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const bool few_values : {false, true}) {
        SCOPED_TRACE(testing::Message() << sizes.size() << " runs, few values: " << few_values
                                        << ", descending: " << (order == Order::descending));
        this->template check<std::uint32_t>(sizes, order, few_values);
        this->template check<std::uint64_t>(sizes, order, few_values);
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
