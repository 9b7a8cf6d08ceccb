// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "apps/bench/cuda/segsort_data.hpp"
#include "baselines/segsort/cub.hpp"
#include "core/cuda/check.hpp"
#include "tests/bench/device_arrays.hpp"
#include "tests/support/backend.hpp"

namespace sortie::bench {
namespace {

using test::on_host;

constexpr std::uint64_t seed = 3;

TEST(SegsortData, SegmentsAreThoseOfTheHost) {
  std::vector<std::string> names = segment_case_names();
  names.insert(names.end(), {"length 3", "length 1000", "power law a=0 max 1",
                             "power law a=0.7 max 3333", "power law a=9 max 2000"});
  for (const std::string& name : names) {
    for (const std::uint64_t items : {1u, 2u, 1000u, 100003u, 1u << 20}) {
      const SegmentShape shape = parse_segment_case(name);
      const SegmentCase expected = make_segment_case(name, shape, items, seed);
      const DeviceSegments found = make_device_segments(shape, items, seed, nullptr);
      ASSERT_EQ(found.offset_bytes, 4);
      ASSERT_EQ(static_cast<std::uint64_t>(found.count), expected.segments()) << name << items;
      const auto offsets = on_host<std::uint32_t>(found.offsets.data(), expected.offsets.size());
      ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), expected.offsets.begin()))
          << name << ' ' << items;
    }
  }
}

TEST(SegsortData, KeysAndValuesAreThoseOfTheHost) {
  constexpr std::uint64_t items = 100003;
  for (const KeyType type :
       {KeyType::u32, KeyType::i32, KeyType::f32, KeyType::u64, KeyType::i64, KeyType::f64}) {
    const std::vector<std::byte> expected = random_keys(type, items, seed);
    DeviceBuffer<std::byte> keys(expected.size(), nullptr);
    fill_random_keys(type, keys.data(), items, seed, nullptr);
    EXPECT_EQ(on_host<std::byte>(keys.data(), keys.size()), expected) << static_cast<int>(type);
  }
  for (const int bytes : {4, 8}) {
    const std::vector<std::byte> expected = index_values(bytes, items);
    DeviceBuffer<std::byte> values(expected.size(), nullptr);
    fill_index_values(bytes, values.data(), items, nullptr);
    EXPECT_EQ(on_host<std::byte>(values.data(), values.size()), expected) << bytes;
  }
}

// A right result on the device, of which single items can be changed.
template <class Key, class Value>
class Checked {
 public:
  Checked(KeyType type, const std::string& name, std::uint64_t items)
      : segments_(make_segment_case(name, items, seed)), result_(type, segments_, seed) {
    const auto shape = parse_segment_case(name);
    const DeviceSegments segments = make_device_segments(shape, items, seed, nullptr);
    keys_in_ = DeviceBuffer<Key>(items, nullptr);
    ids_ = DeviceBuffer<std::uint32_t>(items, nullptr);
    fill_random_keys(type, keys_in_.data(), items, seed, nullptr);
    std::size_t bytes = 0;
    const auto number = [&](void* temporary) {
      check_cuda(baselines::number_segments(temporary, bytes, segments.offsets.data(),
                                            segments.offset_bytes, segments.count, ids_.data(),
                                            items, nullptr));
    };
    number(nullptr);
    DeviceBuffer<std::byte> temporary(bytes, nullptr);
    number(temporary.data());
    check_.key_type = type;
    check_.items = items;
    check_.seed = seed;
    check_.keys_in = keys_in_.data();
    check_.ids = ids_.data();
  }

  [[nodiscard]] std::vector<Key>& keys() { return result_.keys; }
  [[nodiscard]] std::vector<Value>& values() { return result_.values; }
  [[nodiscard]] const SegmentCase& segments() const { return segments_; }

  // Overwrites one key of the input on the device.
  void spoil_input(std::uint64_t place) {
    check_cuda(cudaMemset(keys_in_.data() + place, 0x55, sizeof(Key)));
  }

  [[nodiscard]] ResultFaults faults(int value_bytes) {
    const DeviceBuffer<Key> keys(std::span<const Key>(result_.keys), nullptr);
    const DeviceBuffer<Value> values(std::span<const Value>(result_.values), nullptr);
    check_.value_bytes = value_bytes;
    check_.keys_out = keys.data();
    check_.values_out = values.data();
    return check_result(check_, nullptr);
  }

 private:
  SegmentCase segments_;
  test::SortedOnHost<Key, Value> result_;
  DeviceBuffer<Key> keys_in_;
  DeviceBuffer<std::uint32_t> ids_;
  ResultToCheck check_;
};

template <class Key>
void expect_right(KeyType type) {
  for (const std::string& name : segment_case_names()) {
    Checked<Key, std::uint32_t> narrow(type, name, 100003);
    EXPECT_TRUE(narrow.faults(4).none()) << name;
    EXPECT_TRUE(narrow.faults(0).none()) << name;
    Checked<Key, std::uint64_t> wide(type, name, 100003);
    EXPECT_TRUE(wide.faults(8).none()) << name;
  }
}

TEST(SegsortData, RightResultsPass) {
  expect_right<std::uint32_t>(KeyType::u32);
  expect_right<std::int32_t>(KeyType::i32);
  expect_right<float>(KeyType::f32);
  expect_right<std::uint64_t>(KeyType::u64);
  expect_right<std::int64_t>(KeyType::i64);
  expect_right<double>(KeyType::f64);
}

// Segments of 100 items: place 250 is in the middle of the third.
constexpr std::uint64_t place = 250;
using Pairs = Checked<std::uint32_t, std::uint32_t>;

ResultFaults faults_after(int value_bytes, const std::function<void(Pairs&)>& spoil) {
  Pairs pairs(KeyType::u32, "length 100", 10001);
  spoil(pairs);
  return pairs.faults(value_bytes);
}

TEST(SegsortData, KeysOutOfOrderAreFound) {
  const auto swap_pairs = [](Pairs& pairs) {
    std::swap(pairs.keys()[place], pairs.keys()[place + 1]);
    std::swap(pairs.values()[place], pairs.values()[place + 1]);
  };
  const ResultFaults faults = faults_after(4, swap_pairs);
  EXPECT_EQ(faults.unsorted, 1u);
  EXPECT_EQ(faults.first, place + 1);
  EXPECT_EQ(faults.foreign + faults.mismatched + faults.repeated + faults.overwritten, 0u);
  EXPECT_EQ(faults_after(0, swap_pairs).unsorted, 1u);
}

TEST(SegsortData, ValuesWithOtherKeysAreFound) {
  const ResultFaults faults = faults_after(
      4, [](Pairs& pairs) { std::swap(pairs.values()[place], pairs.values()[place + 1]); });
  EXPECT_EQ(faults.mismatched, 2u);
  EXPECT_EQ(faults.first, place);
}

TEST(SegsortData, ValuesFromElsewhereAreFound) {
  for (const std::uint32_t value : {199u, 300u, 10001u, 0xeeeeeeeeu, 0xffffffffu}) {
    const ResultFaults faults =
        faults_after(4, [&](Pairs& pairs) { pairs.values()[place] = value; });
    EXPECT_EQ(faults.foreign, 1u) << value;
  }
}

TEST(SegsortData, RepeatedPairsAreFound) {
  const ResultFaults faults = faults_after(4, [](Pairs& pairs) {
    pairs.keys()[place + 1] = pairs.keys()[place];
    pairs.values()[place + 1] = pairs.values()[place];
  });
  EXPECT_EQ(faults.repeated, 1u);
  EXPECT_EQ(faults.unsorted + faults.foreign + faults.mismatched, 0u);
}

TEST(SegsortData, OtherKeysAreFoundWithoutValues) {
  EXPECT_TRUE(faults_after(0, [](Pairs& pairs) {
                pairs.keys()[place + 1] = pairs.keys()[place];
              }).other_keys());
  // The same keys in all, but two of them in each other's segment.
  EXPECT_TRUE(faults_after(0, [](Pairs& pairs) {
                std::swap(pairs.keys()[0], pairs.keys()[100]);
              }).other_keys());
}

TEST(SegsortData, AnOverwrittenInputIsFound) {
  EXPECT_EQ(faults_after(4, [](Pairs& pairs) { pairs.spoil_input(place); }).overwritten, 1u);
}

}  // namespace
}  // namespace sortie::bench
