// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/spare_array.hpp"

namespace {

using sortie::SpareArray;

/// The state is one for the process and a type, so each test has a type of its own.
template <int Test>
struct Number {
  std::int64_t value = 0;
};

constexpr std::int64_t large = 1 << 20;

TEST(SpareArrays, GiveTheStorageThatWasKept) {
  using Item = Number<0>;
  std::vector<Item> array(large);
  const Item* const storage = array.data();
  SpareArray<Item>::keep(std::move(array));
  EXPECT_EQ(SpareArray<Item>::take(large + 1).capacity(), 0);
  std::vector<Item> taken = SpareArray<Item>::take(large / 2);
  EXPECT_EQ(taken.data(), storage);
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(SpareArray<Item>::take(large / 2).capacity(), 0) << "it was given twice";
  // All of it can be written and read, though the system may have taken its pages.
  taken.resize(large);
  std::int64_t next = 0;
  for (Item& item : taken) item.value = next++;
  for (std::int64_t i = 0; i < large; ++i) ASSERT_EQ(taken[i].value, i);
}

TEST(SpareArrays, TheLargestIsKept) {
  using Item = Number<1>;
  std::vector<Item> array(2 * large);
  const Item* const storage = array.data();
  SpareArray<Item>::keep(std::vector<Item>(large));
  SpareArray<Item>::keep(std::move(array));
  SpareArray<Item>::keep(std::vector<Item>(large));
  EXPECT_EQ(SpareArray<Item>::take(large).data(), storage);
  EXPECT_EQ(SpareArray<Item>::take(large).capacity(), 0);
}

TEST(SpareArrays, SmallOnesAreFreed) {
  using Item = Number<2>;
  SpareArray<Item>::keep(std::vector<Item>(100));
  SpareArray<Item>::keep({});
  EXPECT_EQ(SpareArray<Item>::take(1).capacity(), 0);
  EXPECT_EQ(SpareArray<Item>::take(0).capacity(), 0);
}

TEST(SpareArrays, SmallResultsDoNotTakeThem) {
  using Item = Number<3>;
  SpareArray<Item>::keep(std::vector<Item>(large));
  EXPECT_EQ(SpareArray<Item>::take(1).capacity(), 0);
  EXPECT_EQ(SpareArray<Item>::take(large / 5).capacity(), 0) << "too much for so few";
  EXPECT_GE(SpareArray<Item>::take(large).capacity(), large);
}

}  // namespace
