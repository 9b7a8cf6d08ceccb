// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_sort.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "segsort/cuda/array_presets.hpp"
#include "segsort/cuda/device_request.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

using Bytes = std::vector<unsigned char>;

enum class Keys {
  uniform,
  sorted,
  reverse,
  nearly,
  few,
  equal,
  high_bits,
  narrow,
  zipf,
  magnitudes,
  octaves,
  hidden,
  few_and_hidden
};
constexpr Keys all_keys[] = {Keys::uniform, Keys::sorted, Keys::reverse,   Keys::nearly, Keys::few,
                             Keys::equal,   Keys::zipf,   Keys::high_bits, Keys::narrow};

/// Words that ascend in the order of the keys that they are decoded to.
template <class Word>
std::vector<Word> draw(Keys keys, std::size_t n) {
  Random random(n + 1);
  std::vector<Word> words(n);
  for (Word& word : words) {
    const std::uint64_t bits = random.next();
    switch (keys) {
      case Keys::few:
      case Keys::few_and_hidden:
        word = static_cast<Word>(Random(bits % 100).next());
        break;
      case Keys::equal:
        word = static_cast<Word>(0x5a5a5a5a5a5a5a5aULL);
        break;
      case Keys::high_bits:
        word = static_cast<Word>(bits & 0xf000f000f000f000ULL);
        break;
      case Keys::narrow:
        word = static_cast<Word>(0x7fffffffffffff80ULL + bits % 300);
        break;
      case Keys::zipf:
        word = static_cast<Word>(bits >> (bits % 64));
        break;
      case Keys::octaves: {  // a density of 1/x
        constexpr unsigned int bits_of_word = 8 * sizeof(Word);
        word = static_cast<Word>((bits >> (64 - bits_of_word) | 1ULL << (bits_of_word - 1)) >>
                                 random.next() % bits_of_word);
        break;
      }
      case Keys::magnitudes:
        word = static_cast<Word>(bits) >> (bits % 3 * (sizeof(Word) * 8 / 3));
        break;
      default:
        word = static_cast<Word>(bits);
    }
  }
  if (keys == Keys::sorted || keys == Keys::nearly) std::sort(words.begin(), words.end());
  if (keys == Keys::reverse) std::sort(words.begin(), words.end(), std::greater<>());
  if (keys == Keys::nearly && n > 1) std::swap(words[n / 3], words[n / 3 + 1]);
  if (keys == Keys::hidden || keys == Keys::few_and_hidden) {
    // One bucket by the highest 16 bits exceeds a tile, but none of its keys is in the sample of
    // 1024 keys and their successors.
    constexpr int low_bits = sizeof(Word) > 2 ? static_cast<int>(sizeof(Word)) * 8 - 16 : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = i % ((n - 1) / 1024);
      if (j < 2 || j >= 22) continue;
      if (keys == Keys::few_and_hidden) words[i] = static_cast<Word>(random.next());
      words[i] = static_cast<Word>(std::uint64_t{0xabcd} << low_bits |
                                   (words[i] & ((std::uint64_t{1} << low_bits) - 1)));
    }
  }
  return words;
}

template <class Key>
constexpr KeyKind kind_of_key() {
  if constexpr (SortKey<Key>) return kind_of(key_type_of<Key>());
  return std::is_same_v<Key, bool> ? KeyKind::unsigned_integer : KeyKind::floating_point;
}

template <std::size_t Size>
struct Record {
  std::array<unsigned char, Size> bytes;
};

template <std::size_t Size>
using WordOf = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t,
                       std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
Bytes bytes_of(const std::vector<T>& items) {
  Bytes bytes(items.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), items.data(), bytes.size());
  return bytes;
}

/// An input, and its order by the reference.
template <class Key>
class ArrayCase {
 public:
  using Word = WordOf<sizeof(Key)>;

  ArrayCase(Keys keys, std::size_t n, Order order = Order::ascending, int begin_bit = 0,
            int end_bit = sizeof(Key) * 8)
      : order_(order), begin_bit_(begin_bit), end_bit_(end_bit), order_of_(n) {
    const KeyCodec<Word> ascending(kind_of_key<Key>(), Order::ascending);
    const KeyCodec<Word> codec(kind_of_key<Key>(), order);
    keys_ = draw<Word>(keys, n);
    if constexpr (std::is_same_v<Key, bool>)
      for (Word& key : keys_) key %= 2;
    for (Word& key : keys_) key = ascending.decoded(key);
    const int bits = end_bit - begin_bit;
    const auto compared = [&](std::uint32_t i) {
      const auto word = static_cast<std::uint64_t>(codec.encoded(keys_[i])) >> begin_bit;
      return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
    };
    std::iota(order_of_.begin(), order_of_.end(), 0u);
    if (bits != 0 && (begin_bit < 64))
      std::stable_sort(order_of_.begin(), order_of_.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return compared(a) < compared(b); });
    for (const std::uint32_t i : order_of_) sorted_.push_back(keys_[i]);
    trace_ = (std::ostringstream()
              << "pattern " << static_cast<int>(keys) << ", " << n << " keys of " << sizeof(Key)
              << " bytes, kind " << static_cast<int>(kind_of_key<Key>()) << ", order "
              << static_cast<int>(order) << ", bits " << begin_bit << " to " << end_bit)
                 .str();
  }

  void check_keys(Storage storage = Storage::arrays) {
    SCOPED_TRACE(trace_ + ", keys alone");
    GuardedArray<Word> in(keys_, stream_, lead_);
    GuardedArray<Word> out(keys_.size(), stream_, lead_);
    DoubleBuffer<Key> buffers(key(in.data()), key(out.data()));
    run([&](void* temporary, std::size_t& bytes) {
      if (storage == Storage::double_buffers)
        return order_ == Order::ascending
                   ? DeviceSort::SortKeys(temporary, bytes, buffers, size(), begin_bit_, end_bit_,
                                          stream_)
                   : DeviceSort::SortKeysDescending(temporary, bytes, buffers, size(), begin_bit_,
                                                    end_bit_, stream_);
      return order_ == Order::ascending
                 ? DeviceSort::SortKeys(temporary, bytes, key(in.data()), key(out.data()), size(),
                                        begin_bit_, end_bit_, stream_)
                 : DeviceSort::SortKeysDescending(temporary, bytes, key(in.data()), key(out.data()),
                                                  size(), begin_bit_, end_bit_, stream_);
    });
    if (storage == Storage::arrays) {
      EXPECT_TRUE(in.holds(keys_));
      EXPECT_TRUE(out.holds(sorted_));
    } else {
      EXPECT_TRUE((buffers.Current() == key(out.data()) ? out : in).holds(sorted_));
    }
  }

  template <class Value>
  void check_pairs(Storage storage = Storage::arrays) {
    SCOPED_TRACE(trace_ + ", values of " + std::to_string(sizeof(Value)) + " bytes");
    std::vector<Value> values(keys_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t b = 0; b < sizeof(Value); ++b)
        reinterpret_cast<unsigned char*>(&values[i])[b] =
            static_cast<unsigned char>((i * 0x9e3779b97f4a7c15ULL >> (b % 8 * 8)) + b / 8);
    std::vector<Value> expected;
    for (const std::uint32_t i : order_of_) expected.push_back(values[i]);
    GuardedArray<Word> keys_in(keys_, stream_, lead_);
    GuardedArray<Word> keys_out(keys_.size(), stream_, lead_);
    GuardedArray<unsigned char> values_in(bytes_of(values), stream_, value_lead_);
    GuardedArray<unsigned char> values_out(values.size() * sizeof(Value), stream_, value_lead_);
    DoubleBuffer<Key> keys(key(keys_in.data()), key(keys_out.data()));
    DoubleBuffer<Value> both(reinterpret_cast<Value*>(values_in.data()),
                             reinterpret_cast<Value*>(values_out.data()));
    run([&](void* temporary, std::size_t& bytes) {
      if (storage == Storage::double_buffers && has_narrow_count_ && order_ == Order::ascending)
        return DeviceSort::SortPairs(temporary, bytes, keys, both, static_cast<int>(size()),
                                     begin_bit_, end_bit_, stream_);
      if (storage == Storage::double_buffers)
        return order_ == Order::ascending
                   ? DeviceSort::SortPairs(temporary, bytes, keys, both, size(), begin_bit_,
                                           end_bit_, stream_)
                   : DeviceSort::SortPairsDescending(temporary, bytes, keys, both, size(),
                                                     begin_bit_, end_bit_, stream_);
      const Value* const from = both.Current();
      return order_ == Order::ascending
                 ? DeviceSort::SortPairs(temporary, bytes, key(keys_in.data()),
                                         key(keys_out.data()), from, both.Alternate(), size(),
                                         begin_bit_, end_bit_, stream_)
                 : DeviceSort::SortPairsDescending(temporary, bytes, key(keys_in.data()),
                                                   key(keys_out.data()), from, both.Alternate(),
                                                   size(), begin_bit_, end_bit_, stream_);
    });
    EXPECT_TRUE(
        (keys.selector == 1 || storage == Storage::arrays ? keys_out : keys_in).holds(sorted_));
    EXPECT_TRUE((both.selector == 1 || storage == Storage::arrays ? values_out : values_in)
                    .holds(bytes_of(expected)));
    if (storage == Storage::arrays) {
      EXPECT_TRUE(keys_in.holds(keys_));
      EXPECT_TRUE(values_in.holds(bytes_of(values)));
    }
  }

  /// With values of 8 bytes.
  void check_in_place() {
    SCOPED_TRACE(trace_ + ", in place");
    std::vector<std::uint64_t> values(keys_.size());
    std::iota(values.begin(), values.end(), std::uint64_t{0});
    GuardedArray<Word> keys(keys_, stream_, lead_);
    GuardedArray<std::uint64_t> both(values, stream_);
    run([&](void* temporary, std::size_t& bytes) {
      Key* const items = key(keys.data());
      std::uint64_t* const moved = both.data();
      return order_ == Order::ascending
                 ? DeviceSort::SortPairs(temporary, bytes, items, items, moved, moved, size(),
                                         begin_bit_, end_bit_, stream_)
                 : DeviceSort::SortPairsDescending(temporary, bytes, items, items, moved, moved,
                                                   size(), begin_bit_, end_bit_, stream_);
    });
    EXPECT_TRUE(keys.holds(sorted_));
    EXPECT_TRUE(both.holds(std::vector<std::uint64_t>(order_of_.begin(), order_of_.end())));
  }

  template <class Position>
  void check_positions() {
    SCOPED_TRACE(trace_ + ", positions of " + std::to_string(sizeof(Position)) + " bytes");
    GuardedArray<Word> in(keys_, stream_, lead_);
    GuardedArray<Position> out(keys_.size(), stream_);
    run([&](void* temporary, std::size_t& bytes) {
      const Key* const keys = key(in.data());
      return order_ == Order::ascending
                 ? DeviceSort::SortPositions(temporary, bytes, keys, out.data(), size(), begin_bit_,
                                             end_bit_, stream_)
                 : DeviceSort::SortPositionsDescending(temporary, bytes, keys, out.data(), size(),
                                                       begin_bit_, end_bit_, stream_);
    });
    EXPECT_TRUE(in.holds(keys_));
    EXPECT_TRUE(out.holds(std::vector<Position>(order_of_.begin(), order_of_.end())));
  }

  /// Several arrays of values at once.
  template <class... Values>
  void check_several() {
    SCOPED_TRACE(trace_ + ", arrays of values: " + std::to_string(sizeof...(Values)));
    const std::tuple<std::vector<Values>...> values{values_of<Values>()...};
    std::apply(
        [&](const std::vector<Values>&... all) {
          GuardedArray<Word> in(keys_, stream_, lead_);
          GuardedArray<Word> out(keys_.size(), stream_, lead_);
          std::tuple<GuardedArray<Values>...> from{GuardedArray<Values>(all, stream_)...};
          std::tuple<GuardedArray<Values>...> to{GuardedArray<Values>(all.size(), stream_)...};
          const auto arrays = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::array{DeviceValues(std::get<I>(from).data(), std::get<I>(to).data())...};
          }
          (std::index_sequence_for<Values...>{});
          run([&](void* temporary, std::size_t& bytes) {
            const Key* keys = key(in.data());
            return order_ == Order::ascending
                       ? DeviceSort::SortPairs(temporary, bytes, keys, key(out.data()), arrays,
                                               size(), begin_bit_, end_bit_, stream_)
                       : DeviceSort::SortPairsDescending(temporary, bytes, keys, key(out.data()),
                                                         arrays, size(), begin_bit_, end_bit_,
                                                         stream_);
          });
          EXPECT_TRUE(out.holds(sorted_));
          [&]<std::size_t... I>(std::index_sequence<I...>) {
            const auto check = [](const auto& found, const auto& expected) {
              EXPECT_TRUE(found.holds(expected));
            };
            (check(std::get<I>(to), in_order(all)), ...);
          }
          (std::index_sequence_for<Values...>{});
        },
        values);
  }

  void check_all() {
    check_keys();
    check_pairs<std::uint32_t>();
    check_pairs<double>();
    check_positions<std::uint32_t>();
  }

  /// Items of poison before the arrays of keys: 1 leaves them aligned for their type only.
  void set_lead(std::size_t lead) { lead_ = lead; }
  /// Bytes of poison before the arrays of values.
  void set_value_lead(std::size_t lead) { value_lead_ = lead; }
  /// Ascending pairs in DoubleBuffers: passes the number of items as an integer of 32 bits.
  void set_narrow_count() { has_narrow_count_ = true; }

 private:
  static Key* key(Word* words) { return reinterpret_cast<Key*>(words); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(keys_.size()); }

  template <class Value>
  [[nodiscard]] std::vector<Value> values_of() const {
    std::vector<Value> values(keys_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Value>(i * 0x9e3779b97f4a7c15ULL >> (64 - 8 * sizeof(Value)));
    return values;
  }
  template <class Value>
  [[nodiscard]] std::vector<Value> in_order(const std::vector<Value>& values) const {
    std::vector<Value> ordered;
    for (const std::uint32_t i : order_of_) ordered.push_back(values[i]);
    return ordered;
  }

  template <class Sort>
  void run(const Sort& sort) {
    std::size_t bytes = 0;
    ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
    ASSERT_GT(bytes, 0u);
    TemporaryStorage temporary(bytes, stream_);
    std::size_t too_few = bytes - 1;
    if (size() != 0) {
      EXPECT_EQ(sort(temporary.data(), too_few), cudaErrorInvalidValue);
    }
    ASSERT_EQ(sort(temporary.data(), bytes), cudaSuccess);
    check_cuda(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(temporary.is_guarded());
  }

  Order order_;
  int begin_bit_;
  int end_bit_;
  std::vector<std::uint32_t> order_of_;
  std::vector<Word> keys_;
  std::vector<Word> sorted_;
  std::size_t lead_ = GuardedArray<Word>::guard;
  std::size_t value_lead_ = GuardedArray<unsigned char>::guard;
  bool has_narrow_count_ = false;
  std::string trace_;
  Stream stream_;
};

template <class Key>
class DeviceArraySort : public testing::Test {};
using KeysOfDeviceSort = testing::Types<bool, std::uint8_t, std::int8_t, std::uint16_t,
                                        std::int16_t, __half, __nv_bfloat16, std::uint32_t,
                                        std::int32_t, float, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(DeviceArraySort, KeysOfDeviceSort);

TYPED_TEST(DeviceArraySort, EveryDistribution) {
  for (const Keys keys : all_keys) ArrayCase<TypeParam>(keys, 100'003).check_all();
}

TYPED_TEST(DeviceArraySort, EverySize) {
  for (const std::size_t n : {0,    1,    2,    31,   32,   127,  129,   1024,  1025,  2047,
                              2048, 2049, 4096, 4097, 8192, 8193, 32768, 32769, 65536, 65537})
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

// The shortest arrays that are examined are sorted by CUB, whose passes encode their keys.
template <class Key>
class DeviceArraySortOfShortPairs : public testing::Test {};
using KeysOfShortPairs = testing::Types<std::uint32_t, std::int32_t, float>;
TYPED_TEST_SUITE(DeviceArraySortOfShortPairs, KeysOfShortPairs);

TYPED_TEST(DeviceArraySortOfShortPairs, EitherOrder) {
  constexpr std::size_t n = (1 << 21) + 777;
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const Storage storage : {Storage::arrays, Storage::double_buffers}) {
      ArrayCase<TypeParam>(Keys::uniform, n, order).template check_pairs<std::uint32_t>(storage);
      ArrayCase<TypeParam>(Keys::uniform, n, order, 3, 30).template check_pairs<float>(storage);
    }
    ArrayCase<TypeParam>(Keys::few, n, order).template check_pairs<std::uint32_t>();
  }
}

template <class Key>
class DeviceArraySortOfLongBuffers : public testing::Test {};
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

template <class Key>
class DeviceArraySortOfOrdered : public testing::Test {};
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

TYPED_TEST(DeviceArraySortOfOrdered, InPlace) {
  for (const std::size_t n : {1, 1000, 8192, 8193, 70'000, 700'000})
    for (const Keys keys : {Keys::uniform, Keys::few, Keys::zipf, Keys::equal})
      ArrayCase<TypeParam>(keys, n).check_in_place();
}

template <class Key>
class DeviceArraySortByDigits : public testing::Test {
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
  constexpr std::size_t n = (1 << 21) + 1;
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
