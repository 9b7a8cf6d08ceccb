// SPDX-License-Identifier: Apache-2.0

// The check that --verify makes finds what it is there to find.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using Value = Opaque<std::uint32_t>;

class OrderCheckTest : public testing::Test {
 protected:
  void add_read() { read_.add(items(), keys_.size()); }
  void add_result() { check_.add(items(), keys_.size()); }
  void finish() { check_.finish(read_, keys_.size()); }

  std::vector<std::uint32_t> keys_{1, 2, 2, 7};
  std::vector<Value> values_{Value{0}, Value{1}, Value{2}, Value{3}};

 private:
  Items<std::uint32_t, Value> items() { return {keys_.data(), values_.data()}; }

  sorting::Fingerprint read_;
  sorting::OrderCheck<std::uint32_t, Value> check_;
};

TEST_F(OrderCheckTest, TakesARightResult) {
  std::swap(keys_[0], keys_[3]);
  std::swap(values_[0], values_[3]);
  add_read();
  std::swap(keys_[0], keys_[3]);
  std::swap(values_[0], values_[3]);
  add_result();
  EXPECT_NO_THROW(finish());
}

TEST_F(OrderCheckTest, FindsAKeyOutOfPlace) {
  std::swap(keys_[2], keys_[3]);
  expect_error([&] { add_result(); }, ErrorKind::check,
               "sort: record 3: found a key that precedes the previous one");
}

TEST_F(OrderCheckTest, FindsAKeyOutOfPlaceBetweenTwoBlocks) {
  add_result();
  expect_error([&] { add_result(); }, ErrorKind::check,
               "sort: record 4: found a key that precedes the previous one");
}

TEST_F(OrderCheckTest, FindsAChangedKey) {
  add_read();
  keys_[3] = 8;
  add_result();
  expect_error([&] { finish(); }, ErrorKind::check,
               "sort: found 4 records that differ from the 4 that were read");
}

TEST_F(OrderCheckTest, FindsValuesThatChangedKeys) {
  add_read();
  std::swap(values_[0], values_[3]);
  add_result();
  EXPECT_THROW(finish(), Error);
}

TEST_F(OrderCheckTest, FindsARecordThatStandsTwice) {
  add_read();
  keys_[2] = 1;
  keys_[1] = 1;
  add_result();
  EXPECT_THROW(finish(), Error);
}

TEST_F(OrderCheckTest, FindsALostRecord) {
  add_read();
  keys_.pop_back();
  add_result();
  keys_.push_back(7);
  EXPECT_THROW(finish(), Error);
}

// Blocks that several threads have checked.
TEST(OrderCheck, OfBlocksIsThatOfAllRecords) {
  std::vector<std::uint32_t> keys{3, 3, 5, 8};
  using Check = sorting::OrderCheck<std::uint32_t, NoValue>;
  const auto check_of = [&](std::uint64_t begin, std::uint64_t end) {
    Check check(begin);
    check.add(Items<std::uint32_t, NoValue>{keys.data() + begin, nullptr}, end - begin);
    return check;
  };
  sorting::Fingerprint read;
  read.add(Items<std::uint32_t, NoValue>{keys.data(), nullptr}, 2);
  sorting::Fingerprint others;
  others.add(Items<std::uint32_t, NoValue>{keys.data() + 2, nullptr}, 2);
  read += others;
  for (const std::uint64_t middle : {0, 2, 3, 4}) {
    Check all;
    all.append(check_of(0, middle));
    all.append(check_of(middle, 4));
    EXPECT_NO_THROW(all.finish(read, 4));
    if (middle == 0 || middle == 4) continue;
    Check reversed;
    reversed.append(check_of(middle, 4));
    expect_error([&] { reversed.append(check_of(0, middle)); }, ErrorKind::check,
                 "sort: record 0: found a key that precedes the previous one");
  }
  Check incomplete;
  incomplete.append(check_of(0, 3));
  EXPECT_THROW(incomplete.finish(read, 4), Error);
}

}  // namespace
}  // namespace sortie::test
