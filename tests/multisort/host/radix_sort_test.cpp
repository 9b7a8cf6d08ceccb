// The radix sort over logical devices with digits of every width: those of many items are wider.

#include "sortie/multisort/host/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "multisort/distributions.hpp"
#include "sortie/core/context.hpp"

namespace sortie::test {
namespace {

using multisort::NoValue;

template <class Key>
class RadixSortTest : public testing::Test {};
using Keys = testing::Types<std::uint8_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RadixSortTest, Keys);

TYPED_TEST(RadixSortTest, DigitsOfEveryWidth) {
  using Sort = multisort::RadixSort<TypeParam, NoValue>;
  Context context;
  context.backend = Backend::host;
  static_cast<void>(multisort::start_devices(context, 0));
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys_in = draw_keys<TypeParam>(distribution, 6'007);
    std::vector<TypeParam> expected = keys_in;
    std::sort(expected.begin(), expected.end());
    for (int digit_bits = 1; digit_bits <= Sort::widest_digit; digit_bits += 3) {
      for (const std::size_t devices : {1, 2, 7}) {
        std::vector<TypeParam> keys = keys_in;
        Sort(context, {keys.data(), nullptr}, keys.size(), {}, devices, digit_bits).run();
        ASSERT_TRUE(keys == expected) << digit_bits << " bits, " << devices << " devices";
      }
    }
  }
}

TEST(RadixSort, DigitsAreWiderForMoreItems) {
  using Sort = multisort::RadixSort<std::uint32_t, NoValue>;
  EXPECT_EQ(Sort::usual_digit_bits(0), 8);
  EXPECT_EQ(Sort::usual_digit_bits(1'000'000), 8);
  EXPECT_EQ(Sort::usual_digit_bits(std::uint64_t{1} << 26), 9);
  EXPECT_EQ(Sort::usual_digit_bits(std::uint64_t{1} << 40), 10);
}

}  // namespace
}  // namespace sortie::test
