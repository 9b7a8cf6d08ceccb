// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "segsort/cuda/array_presets.hpp"
#include "segsort/cuda/device_request.hpp"
#include "tests/segsort/array_sort_case.hpp"

namespace sortie::test {
namespace {

TYPED_TEST(DeviceArraySort, EveryDistribution) {
  for (const Keys keys : all_keys) ArrayCase<TypeParam>(keys, 100'003).check_all();
}

TYPED_TEST(DeviceArraySort, EverySize) {
  for (const std::size_t n : {0,    1,    2,    31,   32,   127,  129,  1024,  1025,  2047,  2048,
                              2049, 4096, 4097, 4864, 4865, 8192, 8193, 32768, 32769, 65536, 65537})
    ArrayCase<TypeParam>(Keys::uniform, n).check_all();
  // Keys that differ in low bits alone.
  for (const std::size_t n : {2000, 4000, 8000}) ArrayCase<TypeParam>(Keys::narrow, n).check_all();
}

TYPED_TEST(DeviceArraySort, Descending) {
  for (const Keys keys : {Keys::uniform, Keys::few, Keys::sorted})
    ArrayCase<TypeParam>(keys, 70'001, Order::descending).check_all();
}

TYPED_TEST(DeviceArraySort, BitRanges) {
  constexpr int bits = sizeof(TypeParam) * 8;
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(2, bits), std::pair(bits / 2, bits),
                                   std::pair(bits, bits), std::pair(1, bits - 2)})
    for (const Order order : {Order::ascending, Order::descending})
      for (const std::size_t n : {3'001, 30'000})
        ArrayCase<TypeParam>(Keys::uniform, n, order, begin, end).check_all();
}

TYPED_TEST(DeviceArraySort, DoubleBuffers) {
  for (const std::size_t n : {1000, 100'000}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      ArrayCase<TypeParam> sorted(Keys::uniform, n, order);
      sorted.check_keys(Storage::double_buffers);
      sorted.template check_pairs<std::uint32_t>(Storage::double_buffers);
      sorted.template check_pairs<Record<12>>(Storage::double_buffers);
    }
  }
  // In order, and with digits in which all keys agree.
  for (const Keys keys : {Keys::sorted, Keys::nearly, Keys::few, Keys::narrow, Keys::equal}) {
    ArrayCase<TypeParam> sorted(keys, 70'001);
    sorted.check_keys(Storage::double_buffers);
    sorted.template check_pairs<double>(Storage::double_buffers);
    sorted.set_narrow_count();
    sorted.template check_pairs<std::uint32_t>(Storage::double_buffers);
  }
  constexpr int bits = sizeof(TypeParam) * 8;
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(bits / 2, bits),
                                   std::pair(bits, bits), std::pair(1, bits - 2)}) {
    ArrayCase<TypeParam> sorted(Keys::uniform, 30'000, Order::descending, begin, end);
    sorted.check_keys(Storage::double_buffers);
    sorted.template check_pairs<std::uint32_t>(Storage::double_buffers);
  }
}

/// Arrays of keys of 4 bytes are examined from 2^21 items on, which takes less time than with
/// longer ones.
template <class Key>
class DeviceArraySortExamined : public testing::Test {
 protected:
  DeviceArraySortExamined() { segsort::preset_least_examined(1 << 21); }
  ~DeviceArraySortExamined() override { segsort::preset_least_examined(std::nullopt); }
};

// One kernel takes all digits of arrays that are not examined, for numbers of items of 32 bits in
// large tiles.
template <class Key>
class DeviceArraySortOfLongPairs : public testing::Test {};
using KeysOfLongPairs = testing::Types<std::uint32_t, std::int32_t, float>;
TYPED_TEST_SUITE(DeviceArraySortOfLongPairs, KeysOfLongPairs);

TYPED_TEST(DeviceArraySortOfLongPairs, InOneKernel) {
  constexpr std::size_t n = (1 << 21) + 777;
  for (const Storage storage : {Storage::arrays, Storage::double_buffers}) {
    ArrayCase<TypeParam> sorted(Keys::uniform, n);
    sorted.template check_pairs<std::uint32_t>(storage);
    sorted.set_narrow_count();
    sorted.template check_pairs<std::uint32_t>(storage);
    ArrayCase<TypeParam> by_some(Keys::uniform, n, Order::descending, 3, 30);
    by_some.template check_pairs<float>(storage);
  }
}
// In large tiles, with one and with two blocks of a multiprocessor.
TEST(DeviceArraySortLimits, InOneKernelEveryDistribution) {
  for (const Keys keys : all_keys) {
    for (const std::size_t n : {100'003, 1'300'003}) {
      ArrayCase<std::uint32_t> sorted(keys, n);
      sorted.set_narrow_count();
      sorted.check_pairs<std::uint32_t>(Storage::double_buffers);
      sorted.check_pairs<Record<2>>();
    }
  }
}
// The longest arrays that are not examined, and the shortest that are.
TEST(DeviceArraySortLimits, OnBothSides) {
  for (const std::size_t n : {1 << 22, (1 << 22) + 1}) {
    ArrayCase<float> pairs(Keys::uniform, n);
    pairs.set_narrow_count();
    pairs.check_pairs<std::uint32_t>();
    pairs.check_pairs<double>(Storage::double_buffers);
    pairs.check_pairs<Record<2>>();
  }
  for (const std::size_t n : {3 << 21, (3 << 21) + 1})
    ArrayCase<std::uint32_t>(Keys::uniform, n).check_keys();
}

// Examined arrays are sorted by CUB if some of the bits are compared; its passes encode their keys.
template <class Key>
class DeviceArraySortByCub : public DeviceArraySortExamined<Key> {};
TYPED_TEST_SUITE(DeviceArraySortByCub, KeysOfLongPairs);

TYPED_TEST(DeviceArraySortByCub, SomeBitsInEitherOrder) {
  for (const Order order : {Order::ascending, Order::descending}) {
    ArrayCase<TypeParam> sorted(Keys::uniform, (1 << 21) + 777, order, 3, 30);
    for (const Storage storage : {Storage::arrays, Storage::double_buffers})
      sorted.template check_pairs<float>(storage);
  }
}

template <class Key>
class DeviceArraySortOfLongBuffers : public DeviceArraySortExamined<Key> {};
using KeysOfLongBuffers = testing::Types<std::uint8_t, __half, std::uint32_t, double>;
TYPED_TEST_SUITE(DeviceArraySortOfLongBuffers, KeysOfLongBuffers);

TYPED_TEST(DeviceArraySortOfLongBuffers, EitherHasTheResult) {
  constexpr std::size_t n = (1 << 21) + 777;
  ArrayCase<TypeParam> sorted(Keys::uniform, n);
  sorted.check_keys(Storage::double_buffers);
  sorted.template check_pairs<std::uint32_t>(Storage::double_buffers);
  for (const Keys keys : {Keys::few, Keys::few_and_hidden}) {
    ArrayCase<TypeParam> counted(keys, n, Order::descending);
    counted.template check_pairs<std::uint32_t>(Storage::double_buffers);
    counted.template check_pairs<double>(Storage::double_buffers);
  }
  sorted.template check_pairs<Record<1>>(Storage::double_buffers);
  sorted.template check_pairs<Record<2>>();
  sorted.template check_pairs<Record<16>>(Storage::double_buffers);
  constexpr int bits = sizeof(TypeParam) * 8;
  ArrayCase<TypeParam> by_some(Keys::uniform, n, Order::ascending, 1, bits - 2);
  by_some.template check_pairs<std::uint32_t>();
  by_some.template check_pairs<std::uint32_t>(Storage::double_buffers);
  by_some.template check_pairs<Record<1>>();
  by_some.template check_pairs<Record<2>>(Storage::double_buffers);
  // One pass: positions of large values end in the other buffer.
  ArrayCase<TypeParam> by_one(Keys::uniform, n, Order::ascending, 0, 8);
  by_one.template check_pairs<Record<12>>(Storage::double_buffers);
  by_one.template check_pairs<Record<16>>(Storage::double_buffers);
}

TYPED_TEST(DeviceArraySort, ArraysWithoutAlignment) {
  ArrayCase<TypeParam> sorted(Keys::uniform, 50'000, Order::descending);
  sorted.set_lead(1);
  sorted.check_all();
  sorted.set_value_lead(1);
  sorted.template check_pairs<Record<2>>();
  sorted.template check_pairs<Record<12>>();
  sorted.template check_pairs<Record<16>>(Storage::double_buffers);
}

template <class Key>
class DeviceArraySortOfOrdered : public DeviceArraySortExamined<Key> {};
TYPED_TEST_SUITE(DeviceArraySortOfOrdered, UnsignedKeys);

// Beyond the size from which arrays are examined.
TYPED_TEST(DeviceArraySortOfOrdered, IsCopiedOrSorted) {
  for (const std::size_t n : {std::size_t{1} << 21, (std::size_t{1} << 21) + 12345}) {
    for (const Keys keys : {Keys::sorted, Keys::reverse, Keys::nearly, Keys::few}) {
      ArrayCase<TypeParam> sorted(keys, n,
                                  keys == Keys::few ? Order::descending : Order::ascending);
      sorted.check_keys();
      sorted.check_in_place();
      sorted.template check_pairs<std::uint32_t>();
      sorted.set_lead(1);
      sorted.check_keys();
    }
  }
  // Few keys in the sample, but not in the array.
  ArrayCase<TypeParam> many(Keys::few_and_hidden, std::size_t{1} << 21);
  many.check_keys();
  many.template check_pairs<std::uint32_t>();
  // Positions, and two arrays of values.
  ArrayCase<TypeParam> skewed(Keys::zipf, std::size_t{1} << 21);
  skewed.template check_positions<std::uint32_t>();
  skewed.template check_several<std::uint32_t, std::uint32_t>();
  // Keys that descend in all bits, but are equal in those compared.
  ArrayCase<TypeParam>(Keys::reverse, std::size_t{1} << 21, Order::ascending, 24, 32).check_keys();
}

// Several partitions by the grid, the later ones with few rows.
TYPED_TEST(DeviceArraySortOfOrdered, SkewedBelowTheSizeThatIsExamined) {
  for (const std::size_t n : {70'000, 300'000, (1 << 21) - 1})
    for (const Keys keys : {Keys::zipf, Keys::high_bits})
      ArrayCase<TypeParam>(keys, n).template check_pairs<std::uint32_t>();
}

// Keys of many magnitudes.
template <class Key>
class DeviceArraySortOfMagnitudes : public testing::Test {};
using KeysOfMagnitudes = testing::Types<std::uint64_t, double>;
TYPED_TEST_SUITE(DeviceArraySortOfMagnitudes, KeysOfMagnitudes);

TYPED_TEST(DeviceArraySortOfMagnitudes, SkewedKeys) {
  for (const Keys keys : {Keys::zipf, Keys::magnitudes}) {
    ArrayCase<TypeParam> sorted(keys, (1 << 21) + 12345,
                                keys == Keys::zipf ? Order::descending : Order::ascending);
    sorted.check_keys();
    sorted.template check_pairs<std::uint32_t>();
    sorted.template check_pairs<double>();
  }
}

// Short arrays of long keys: what the sample says does not hold.
TYPED_TEST(DeviceArraySortOfMagnitudes, ShortArrays) {
  for (const Keys keys : {Keys::hidden, Keys::few_and_hidden, Keys::nearly, Keys::magnitudes}) {
    ArrayCase<TypeParam> sorted(keys, (1 << 19) + 777);
    sorted.check_keys();
    sorted.template check_pairs<std::uint32_t>();
    sorted.check_in_place();
  }
  ArrayCase<TypeParam>(Keys::zipf, 1 << 16).check_keys(Storage::double_buffers);
  ArrayCase<TypeParam>(Keys::few, 70'001)
      .template check_pairs<std::uint32_t>(Storage::double_buffers);
}

TYPED_TEST(DeviceArraySortOfOrdered, InPlace) {
  for (const std::size_t n : {1, 1000, 8192, 8193, 70'000, 700'000})
    for (const Keys keys : {Keys::uniform, Keys::few, Keys::zipf, Keys::equal})
      ArrayCase<TypeParam>(keys, n).check_in_place();
}

template <class Key>
class DeviceArraySortByDigits : public DeviceArraySortExamined<Key> {
 protected:
  ~DeviceArraySortByDigits() override { segsort::preset_use_of_digits(std::nullopt); }
};
using KeysByDigits = testing::Types<std::uint32_t, double>;
TYPED_TEST_SUITE(DeviceArraySortByDigits, KeysByDigits);

TYPED_TEST(DeviceArraySortByDigits, EveryDistribution) {
  constexpr std::size_t n = (1 << 21) + 12345;
  for (const segsort::DigitUse use : {segsort::DigitUse::always, segsort::DigitUse::buckets}) {
    segsort::preset_use_of_digits(use);
    for (const Keys keys : {Keys::uniform, Keys::zipf, Keys::high_bits, Keys::nearly}) {
      ArrayCase<TypeParam> sorted(keys, n,
                                  keys == Keys::zipf ? Order::descending : Order::ascending);
      sorted.check_keys();
      sorted.template check_pairs<std::uint32_t>();
      sorted.set_lead(1);
      sorted.template check_pairs<double>();
    }
    ArrayCase<TypeParam>(Keys::uniform, n, Order::descending, 3, 22).check_keys();
  }
}

TYPED_TEST(DeviceArraySortByDigits, BucketsByMagnitudes) {
  for (const std::size_t n : {(1 << 22) + 12345, 1 << 17}) {
    ArrayCase<TypeParam> sorted(Keys::octaves, n);
    sorted.check_keys();
    sorted.template check_pairs<std::uint32_t>();
    sorted.template check_pairs<double>();
    sorted.check_keys(Storage::double_buffers);
    sorted.template check_pairs<std::uint32_t>(Storage::double_buffers);
  }
}
TYPED_TEST(DeviceArraySortByDigits, BucketsOfWhichOneExceedsATile) {
  segsort::preset_use_of_digits(segsort::DigitUse::buckets);
  ArrayCase<TypeParam>(Keys::hidden, (1 << 21) + 777).template check_pairs<std::uint32_t>();
  ArrayCase<TypeParam>(Keys::hidden, (1 << 21) + 777)
      .template check_pairs<std::uint32_t>(Storage::double_buffers);
}
TYPED_TEST(DeviceArraySortByDigits, BucketsOfPairs) {
  segsort::preset_use_of_digits(segsort::DigitUse::buckets);
  ArrayCase<TypeParam>(Keys::uniform, 1 << 21).template check_pairs<std::uint32_t>();
}

// Short ones, which the tools for races and memory errors can run.
TYPED_TEST(DeviceArraySortByDigits, DigitsOfPairs) {
  segsort::preset_use_of_digits(segsort::DigitUse::always);
  ArrayCase<TypeParam>(Keys::zipf, 1 << 21).template check_pairs<std::uint32_t>();
}
TYPED_TEST(DeviceArraySortByDigits, RanksOfFewPairs) {
  segsort::preset_use_of_digits(segsort::DigitUse::buckets);
  ArrayCase<TypeParam>(Keys::few, 1 << 21).template check_pairs<std::uint32_t>();
}

TEST(DeviceArraySortCall, RefusesWhatItCannotSort) {
  std::size_t bytes = 0;
  const std::uint32_t* keys = nullptr;
  std::uint32_t* out = nullptr;
  EXPECT_EQ(DeviceSort::SortKeys(nullptr, bytes, keys, out, -1), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceSort::SortKeys(nullptr, bytes, keys, out, 5, 0, 33), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceSort::SortKeys(nullptr, bytes, keys, out, 5, 4, 3), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceSort::SortKeys(nullptr, bytes, keys, out, 5, -1, 3), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceSort::SortPositions(nullptr, bytes, keys, out, std::int64_t{1} << 32),
            cudaErrorInvalidValue);
  // In one block, numbers of units of larger values would exceed 32 bits.
  using Largest = Record<1 << 18>;
  using Larger = Record<(1 << 18) + 1>;
  EXPECT_EQ(DeviceSort::SortPairs(nullptr, bytes, keys, out, static_cast<const Largest*>(nullptr),
                                  static_cast<Largest*>(nullptr), 8192),
            cudaSuccess);
  EXPECT_EQ(DeviceSort::SortPairs(nullptr, bytes, keys, out, static_cast<const Larger*>(nullptr),
                                  static_cast<Larger*>(nullptr), 5),
            cudaErrorInvalidValue);
  const std::array several{DeviceValues(keys, out), DeviceValues(static_cast<Larger*>(nullptr),
                                                                 static_cast<Larger*>(nullptr))};
  EXPECT_EQ(DeviceSort::SortPairs(nullptr, bytes, keys, out, several, 5), cudaErrorInvalidValue);
}

TEST(DeviceArraySortCall, TemporaryStorageIsBounded) {
  for (const int log_n : {0, 16, 20, 24, 28, 31}) {
    const std::uint64_t n = std::uint64_t{1} << log_n;
    for (const int key_bytes : {1, 2, 4, 8}) {
      for (const int value_bytes : {0, 4, 8}) {
        for (const bool is_scratch : {false, true}) {
          segsort::ArrayRequest request;
          request.key_bytes = key_bytes;
          request.end_bit = 8 * key_bytes;
          request.value_bytes = static_cast<std::size_t>(value_bytes);
          request.input_is_scratch = is_scratch;
          request.num_items = static_cast<std::int64_t>(n);
          std::size_t bytes = 0;
          check_cuda(segsort::sort_array_on_device(nullptr, bytes, request, nullptr));
          const auto item_bytes = static_cast<std::uint64_t>(key_bytes + value_bytes);
          const bool is_copied = !is_scratch || key_bytes < 4;
          const std::uint64_t most = key_bytes < 4 && value_bytes == 0
                                         ? std::uint64_t{1} << 20
                                         : most_temporary_bytes(n, 1, is_copied ? item_bytes : 0);
          EXPECT_LE(bytes, most) << n << " keys of " << key_bytes << " bytes, values of "
                                 << value_bytes;
        }
      }
    }
  }
}

TEST(DeviceArraySortCall, IsCapturedInAGraph) {
  constexpr std::size_t n = (3 << 21) + 1;
  Stream stream;
  std::vector<std::uint32_t> keys = draw<std::uint32_t>(Keys::uniform, n);
  GuardedArray<std::uint32_t> in(keys, stream);
  GuardedArray<std::uint32_t> out(n, stream);
  const auto sort = [&](void* temporary, std::size_t& bytes) {
    return DeviceSort::SortKeys(temporary, bytes, in.data(), out.data(), std::int64_t{n}, 0, 32,
                                stream);
  };
  std::size_t bytes = 0;
  check_cuda(sort(nullptr, bytes));
  TemporaryStorage temporary(bytes, stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check_cuda(sort(temporary.data(), bytes));
  check_cuda(cudaStreamEndCapture(stream, &graph));
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  for (const Keys pattern : {Keys::uniform, Keys::sorted, Keys::few}) {
    keys = draw<std::uint32_t>(pattern, n);
    in.write(keys);
    check_cuda(cudaGraphLaunch(executable, stream));
    check_cuda(cudaStreamSynchronize(stream));
    std::sort(keys.begin(), keys.end());
    EXPECT_TRUE(out.holds(keys));
  }
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace sortie::test
