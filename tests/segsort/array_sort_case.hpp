// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/device_sort.hpp"
#include "tests/segsort/device_sort_case.hpp"

/// One array for DeviceSort, compared with the reference whatever way it is sorted.
namespace sortie::test {

/// What the keys of an array are like.
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
inline constexpr Keys all_keys[] = {Keys::uniform, Keys::sorted,    Keys::reverse,
                                    Keys::nearly,  Keys::few,       Keys::equal,
                                    Keys::zipf,    Keys::high_bits, Keys::narrow};

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

/// A value of any size.
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
std::vector<unsigned char> bytes_of(const std::vector<T>& items) {
  std::vector<unsigned char> bytes(items.size() * sizeof(T));
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
      if (has_narrow_count_ && order_ == Order::ascending)
        return DeviceSort::SortPairs(temporary, bytes, key(keys_in.data()), key(keys_out.data()),
                                     from, both.Alternate(), static_cast<int>(size()), begin_bit_,
                                     end_bit_, stream_);
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
  /// Ascending pairs: passes the number of items as an integer of 32 bits.
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

/// Tests of all types of keys, which are in several files.
template <class Key>
class DeviceArraySort : public testing::Test {};
using KeysOfDeviceSort = testing::Types<bool, std::uint8_t, std::int8_t, std::uint16_t,
                                        std::int16_t, __half, __nv_bfloat16, std::uint32_t,
                                        std::int32_t, float, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(DeviceArraySort, KeysOfDeviceSort);

}  // namespace sortie::test
