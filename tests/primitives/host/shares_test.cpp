// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/parallel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace sortie::test {
namespace {

TEST(EqualShares, CoverAllItemsAndDifferByOne) {
  for (const std::uint64_t items : {0, 1, 2, 7, 8, 9, 1000, 1023}) {
    for (const std::uint64_t count : {1, 2, 3, 7, 8, 64, 1000, 1024}) {
      SCOPED_TRACE(testing::Message() << items << " items, " << count << " shares");
      const EqualShares shares{items, count};
      EXPECT_EQ(shares.begin(0), 0U);
      EXPECT_EQ(shares.begin(count), items);
      const std::vector<std::uint64_t> sizes = shares.sizes();
      ASSERT_EQ(sizes.size(), count);
      for (std::uint64_t share = 0; share < count; ++share) {
        ASSERT_EQ(sizes[share], shares.begin(share + 1) - shares.begin(share));
        ASSERT_GE(sizes[share], items / count);
        ASSERT_LE(sizes[share], items / count + 1);
      }
      EXPECT_EQ(begins_of(sizes).back(), items);
    }
  }
}

TEST(EqualShares, LargestNumberOfItems) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const EqualShares shares{most, 1024};
  EXPECT_EQ(shares.begin(1024), most);
  EXPECT_EQ(shares.begin(512), most / 2);
}

TEST(BeginsOf, ExclusiveSumsAndTheTotal) {
  EXPECT_EQ(begins_of(std::vector<std::uint64_t>{}), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(begins_of(std::vector<std::uint64_t>{3, 0, 4}),
            (std::vector<std::uint64_t>{0, 3, 3, 7}));
}

}  // namespace
}  // namespace sortie::test
