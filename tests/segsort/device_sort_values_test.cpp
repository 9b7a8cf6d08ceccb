// SPDX-License-Identifier: Apache-2.0

// DeviceSort of values other than one array of 4 or 8 bytes.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "segsort/cuda/array_presets.hpp"
#include "tests/segsort/array_sort_case.hpp"

namespace sortie::test {
namespace {

TYPED_TEST(DeviceArraySort, ValuesOfAnySize) {
  for (const std::size_t n : {5'000, 20'001}) {
    ArrayCase<TypeParam> sorted(Keys::few, n);
    for (const Storage storage : {Storage::arrays, Storage::double_buffers}) {
      sorted.template check_pairs<Record<1>>(storage);
      sorted.template check_pairs<Record<2>>(storage);
      sorted.template check_pairs<Record<3>>(storage);
      sorted.template check_pairs<Record<9>>(storage);
      sorted.template check_pairs<Record<16>>(storage);
      sorted.template check_pairs<Record<24>>(storage);
      sorted.template check_pairs<Record<70>>(storage);
    }
    sorted.template check_positions<std::int64_t>();
  }
}

// Keys whose passes end in either buffer, and which a pass, or none, orders.
TYPED_TEST(DeviceArraySort, CarriedValues) {
  constexpr int bits = sizeof(TypeParam) * 8;
  const auto check = [](ArrayCase<TypeParam> sorted) {
    for (const Storage storage : {Storage::arrays, Storage::double_buffers}) {
      sorted.template check_pairs<Record<1>>(storage);
      sorted.template check_pairs<Record<2>>(storage);
      sorted.template check_pairs<Record<16>>(storage);
    }
  };
  for (const std::size_t n : {1'500, 60'001}) {
    check(ArrayCase<TypeParam>(Keys::uniform, n));
    check(ArrayCase<TypeParam>(Keys::uniform, n, Order::descending, 1, bits - 2));
    check(ArrayCase<TypeParam>(Keys::uniform, n, Order::ascending, 0, 3));
  }
  for (const Keys keys : {Keys::sorted, Keys::equal, Keys::zipf})
    check(ArrayCase<TypeParam>(keys, 20'000));
}

// Few sorts, quick enough for racecheck.
TYPED_TEST(DeviceArraySort, CarriedValuesForTools) {
  ArrayCase<TypeParam> sorted(Keys::uniform, 20'001);
  sorted.template check_pairs<Record<1>>(Storage::double_buffers);
  sorted.template check_pairs<Record<2>>();
  sorted.template check_pairs<Record<16>>();
}

TYPED_TEST(DeviceArraySort, SeveralArraysOfValues) {
  for (const std::size_t n : {0, 1, 20'001}) {
    ArrayCase<TypeParam> sorted(Keys::few, n);
    sorted.template check_several<std::uint32_t>();
    sorted.template check_several<std::uint8_t, std::uint16_t>();
    sorted.template check_several<std::uint32_t, std::uint32_t>();
    sorted.template check_several<std::uint16_t, std::uint32_t, std::uint8_t>();
    sorted.template check_several<std::uint64_t, std::uint8_t, std::uint32_t>();
  }
}

class DeviceArraySortInGroups : public testing::Test {
 protected:
  DeviceArraySortInGroups() { segsort::preset_least_grouped(1); }
  ~DeviceArraySortInGroups() override { segsort::preset_least_grouped(std::nullopt); }
};

// Groups of two arrays, and of one that is packed or sorted as it is.
TEST_F(DeviceArraySortInGroups, SeveralArrays) {
  for (const std::size_t n : {1000, 20'001}) {
    ArrayCase<std::uint32_t> sorted(Keys::few, n);
    sorted.check_several<std::uint32_t, std::uint64_t, std::uint16_t>();
    sorted.check_several<std::uint32_t, std::uint32_t, std::uint32_t>();
    sorted.check_several<std::uint64_t, std::uint8_t, std::uint16_t>();
  }
}

}  // namespace
}  // namespace sortie::test
