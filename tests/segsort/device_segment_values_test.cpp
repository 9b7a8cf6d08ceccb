// SPDX-License-Identifier: Apache-2.0

// Segments whose values are not words of 4 or 8 bytes: positions, values of any size, several arrays.
// Keys and bits as CUB's segmented sorts take them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/device_radix_sort.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

template <int Bytes>
struct Value {
  std::array<unsigned char, Bytes> bytes{};

  Value() = default;
  explicit Value(std::uint64_t seed) {
    bytes.fill(poison_byte);
    if (seed == poison<std::uint64_t>()) return;
    Random random(seed);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.next());
  }
  friend bool operator==(const Value&, const Value&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Value& value) {
    return out << int{value.bytes[0]} << "...";
  }
};

template <class Key>
using WordOf = std::conditional_t<
    sizeof(Key) == 1, std::uint8_t,
    std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

/// Short, long and empty segments with gaps, the sorted order of their items, and arrays that hold
/// poison where no segment is.
template <class Key>
class Segments {
 public:
  using Word = WordOf<Key>;
  static constexpr std::uint32_t no_item = ~std::uint32_t{0};

  Segments(Order order, int begin_bit, int end_bit) {
    std::int64_t place = 3;
    for (const std::int64_t length : {5, 0, 1, 300, 9'000, 31, 64, 2}) {
      begins.push_back(place);
      ends.push_back(place + length);
      place += length + length % 3;
    }
    Random random(static_cast<std::uint64_t>(place));
    keys.resize(static_cast<std::size_t>(place) + 2);
    for (Word& key : keys) key = static_cast<Word>(random.next() % 300 * 0x9e3779b97f4a7c15u);
    const KeyCodec<Word> codec(segsort::device_key_kind<Key>(), order);
    const auto compared = [&](std::uint32_t i) {
      const auto word = std::uint64_t{codec.encoded(keys[i])} >> begin_bit;
      const int compared_bits = end_bit - begin_bit;
      return compared_bits == 64 ? word : word & ((std::uint64_t{1} << compared_bits) - 1);
    };
    origins.assign(keys.size(), no_item);
    for (std::size_t s = 0; s < begins.size(); ++s) {
      const auto begin = origins.begin() + begins[s];
      const auto end = origins.begin() + ends[s];
      std::iota(begin, end, static_cast<std::uint32_t>(begins[s]));
      std::stable_sort(begin, end,
                       [&](std::uint32_t a, std::uint32_t b) { return compared(a) < compared(b); });
    }
  }

  /// What a sort makes of an array.
  template <class T>
  [[nodiscard]] std::vector<T> sorted(const std::vector<T>& items) const {
    std::vector<T> result(items.size(), poison<T>());
    for (std::size_t i = 0; i < items.size(); ++i)
      if (origins[i] != no_item) result[i] = items[origins[i]];
    return result;
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(keys.size()); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(begins.size()); }

  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  std::vector<Word> keys;
  std::vector<std::uint32_t> origins;  ///< of each sorted item
};

template <class Key>
class DeviceSegmentValues : public testing::Test {
 protected:
  using Word = WordOf<Key>;

  [[nodiscard]] Key* keys() { return reinterpret_cast<Key*>(keys_.data()); }
  [[nodiscard]] static Key* keys(GuardedArray<Word>& words) {
    return reinterpret_cast<Key*>(words.data());
  }
  /// Input arrays as const pointers, as most callers have them.
  [[nodiscard]] const Key* keys_in() { return keys(); }

  /// Calls sort(storage, bytes) for the size and for the sort; one byte less is refused.
  template <class Sort>
  void run(const Sort& sort) {
    std::size_t bytes = 0;
    ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
    TemporaryStorage temporary(bytes, stream_);
    std::size_t too_few = bytes - 1;
    EXPECT_EQ(sort(temporary.data(), too_few), cudaErrorInvalidValue);
    ASSERT_EQ(sort(temporary.data(), bytes), cudaSuccess);
    check_cuda(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(temporary.is_guarded());
  }
  template <class T>
  [[nodiscard]] static std::vector<T> values(std::size_t n) {
    std::vector<T> result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(T(i));
    return result;
  }

  template <class T>
  void sorts_values() {
    SCOPED_TRACE(testing::Message() << "values of " << sizeof(T) << " bytes");
    const std::vector<T> values = this->template values<T>(segments_.keys.size());
    GuardedArray<Word> keys_out(segments_.keys.size(), stream_);
    const DeviceBuffer<T> values_in(std::span<const T>(values), stream_);
    GuardedArray<T> values_out(values.size(), stream_);
    run([&](void* temporary, std::size_t& bytes) {
      return DeviceSegmentedSort::StableSortPairs(
          temporary, bytes, keys_in(), keys(keys_out), values_in.data(), values_out.data(),
          segments_.size(), segments_.count(), begins_.data(), ends_.data(), stream_);
    });
    EXPECT_TRUE(keys_out.holds(segments_.sorted(segments_.keys)));
    EXPECT_TRUE(values_out.holds(segments_.sorted(values)));
  }
  template <class Position>
  void sorts_positions() {
    GuardedArray<Position> out(segments_.keys.size(), stream_);
    run([&](void* temporary, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPositions(temporary, bytes, keys_in(), out.data(),
                                                segments_.size(), segments_.count(), begins_.data(),
                                                ends_.data(), stream_);
    });
    std::vector<Position> positions(segments_.keys.size());
    std::iota(positions.begin(), positions.end(), Position{0});
    EXPECT_TRUE(out.holds(segments_.sorted(positions)));
  }

  Stream stream_;
  Segments<Key> segments_{Order::ascending, 0, 8 * sizeof(Key)};
  DeviceBuffer<Word> keys_{std::span<const Word>(segments_.keys), stream_};
  DeviceBuffer<std::int64_t> begins_{std::span<const std::int64_t>(segments_.begins), stream_};
  DeviceBuffer<std::int64_t> ends_{std::span<const std::int64_t>(segments_.ends), stream_};
};

using Keys = testing::Types<char, std::uint16_t, float, unsigned long long>;
TYPED_TEST_SUITE(DeviceSegmentValues, Keys);

TYPED_TEST(DeviceSegmentValues, AnySize) {
  this->template sorts_values<Value<1>>();
  this->template sorts_values<Value<3>>();
  this->template sorts_values<Value<16>>();
  this->template sorts_values<Value<100>>();
}

TYPED_TEST(DeviceSegmentValues, Positions) {
  this->template sorts_positions<std::int32_t>();
  this->template sorts_positions<std::uint64_t>();
}

TYPED_TEST(DeviceSegmentValues, SeveralArrays) {
  const std::size_t n = this->segments_.keys.size();
  const auto first = this->template values<Value<2>>(n);
  const auto second = this->template values<Value<12>>(n);
  GuardedArray<WordOf<TypeParam>> keys_out(n, this->stream_);
  const DeviceBuffer<Value<2>> first_in(std::span<const Value<2>>(first), this->stream_);
  const DeviceBuffer<Value<12>> second_in(std::span<const Value<12>>(second), this->stream_);
  GuardedArray<Value<2>> first_out(n, this->stream_);
  GuardedArray<Value<12>> second_out(n, this->stream_);
  const std::array arrays{DeviceValues(first_in.data(), first_out.data()),
                          DeviceValues(second_in.data(), second_out.data())};
  this->run([&](void* temporary, std::size_t& bytes) {
    return DeviceSegmentedSort::SortPairs(temporary, bytes, this->keys(), this->keys(keys_out),
                                          arrays, this->segments_.size(), this->segments_.count(),
                                          this->begins_.data(), this->ends_.data(), this->stream_);
  });
  EXPECT_TRUE(keys_out.holds(this->segments_.sorted(this->segments_.keys)));
  EXPECT_TRUE(first_out.holds(this->segments_.sorted(first)));
  EXPECT_TRUE(second_out.holds(this->segments_.sorted(second)));
}

TYPED_TEST(DeviceSegmentValues, Buffers) {
  const std::size_t n = this->segments_.keys.size();
  const auto values = this->template values<Value<3>>(n);
  GuardedArray<WordOf<TypeParam>> keys_out(n, this->stream_);
  DeviceBuffer<Value<3>> values_in(std::span<const Value<3>>(values), this->stream_);
  GuardedArray<Value<3>> values_out(n, this->stream_);
  DoubleBuffer<TypeParam> keys(this->keys(), this->keys(keys_out));
  DoubleBuffer<Value<3>> pairs(values_in.data(), values_out.data());
  this->run([&](void* temporary, std::size_t& bytes) {
    return DeviceSegmentedSort::SortPairs(temporary, bytes, keys, pairs, this->segments_.size(),
                                          this->segments_.count(), this->begins_.data(),
                                          this->ends_.data(), this->stream_);
  });
  EXPECT_EQ(keys.selector, 1);
  EXPECT_EQ(pairs.selector, 1);
  EXPECT_TRUE(keys_out.holds(this->segments_.sorted(this->segments_.keys)));
  EXPECT_TRUE(values_out.holds(this->segments_.sorted(values)));
}

template <class Key>
class DeviceSegmentBits : public testing::Test {};
using KeysOfBits = testing::Types<signed char, std::int16_t, int, float, long long, double>;
TYPED_TEST_SUITE(DeviceSegmentBits, KeysOfBits);

TYPED_TEST(DeviceSegmentBits, OfSignedAndFloatingPointKeys) {
  using Key = TypeParam;
  using Word = WordOf<Key>;
  const Stream stream;
  constexpr int bits = 8 * sizeof(Key);
  for (const auto& [begin, end] : {std::pair(0, bits), std::pair(2, bits - 1), std::pair(0, 5),
                                   std::pair(3, 3), std::pair(bits - 4, bits)}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(testing::Message() << "bits " << begin << " to " << end);
      const Segments<Key> segments(order, begin, end);
      std::vector<std::uint32_t> values(segments.keys.size());
      std::iota(values.begin(), values.end(), 0u);
      const DeviceBuffer<Word> keys(std::span<const Word>(segments.keys), stream);
      const DeviceBuffer<std::uint32_t> values_in(std::span<const std::uint32_t>(values), stream);
      const DeviceBuffer<std::int64_t> begins(std::span<const std::int64_t>(segments.begins),
                                              stream);
      const DeviceBuffer<std::int64_t> ends(std::span<const std::int64_t>(segments.ends), stream);
      GuardedArray<Word> keys_out(values.size(), stream);
      GuardedArray<std::uint32_t> values_out(values.size(), stream);
      const auto sort = [&](void* temporary, std::size_t& bytes) {
        const auto call = [&](auto function) {
          return function(temporary, bytes, reinterpret_cast<const Key*>(keys.data()),
                          reinterpret_cast<Key*>(keys_out.data()), values_in.data(),
                          values_out.data(), segments.size(), segments.count(), begins.data(),
                          ends.data(), begin, end, stream);
        };
        return order == Order::ascending
                   ? call([](auto&&... a) { return DeviceSegmentedRadixSort::SortPairs(a...); })
                   : call([](auto&&... a) {
                       return DeviceSegmentedRadixSort::SortPairsDescending(a...);
                     });
      };
      std::size_t bytes = 0;
      ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
      TemporaryStorage temporary(bytes, stream);
      ASSERT_EQ(sort(temporary.data(), bytes), cudaSuccess);
      check_cuda(cudaStreamSynchronize(stream));
      EXPECT_TRUE(keys_out.holds(segments.sorted(segments.keys)));
      EXPECT_TRUE(values_out.holds(segments.sorted(values)));
    }
  }
}

TEST(DeviceSegmentCalls, RefuseWhatCubRefuses) {
  std::size_t bytes = 0;
  const int* keys = nullptr;
  int* out = nullptr;
  const int* offsets = nullptr;
  const auto radix = [&](int begin, int end) {
    return DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, keys, out, 10, 1, offsets, offsets,
                                              begin, end);
  };
  EXPECT_EQ(radix(0, 32), cudaSuccess);
  EXPECT_EQ(radix(0, -1), cudaErrorInvalidValue);
  EXPECT_EQ(radix(0, 33), cudaErrorInvalidValue);
  EXPECT_EQ(radix(5, 4), cudaErrorInvalidValue);
  std::uint32_t* positions = nullptr;
  const auto sort_positions = [&](std::int64_t items) {
    return DeviceSegmentedSort::SortPositions(nullptr, bytes, keys, positions, items, 1, offsets,
                                              offsets);
  };
  EXPECT_EQ(sort_positions(10), cudaSuccess);
  EXPECT_EQ(sort_positions(-1), cudaErrorInvalidValue);
  EXPECT_EQ(sort_positions(std::int64_t{1} << 32), cudaErrorInvalidValue);
}

/// Storage that is not aligned is refused by the host, before a kernel uses it.
TEST(DeviceSegmentCalls, RefuseMisalignedStorage) {
  const Stream stream;
  DeviceBuffer<int> keys(100, stream);
  DeviceBuffer<std::int64_t> offsets(2, stream);
  DeviceBuffer<char> storage(1 << 16, stream);
  const int* in = keys.data();
  std::size_t bytes = 1 << 15;
  EXPECT_EQ(DeviceSegmentedSort::SortKeys(storage.data() + 8, bytes, in, keys.data(), 50, 1,
                                          offsets.data(), offsets.data(), stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(
      DeviceRadixSort::SortKeys(storage.data() + 4, bytes, in, keys.data() + 50, 50, 0, 32, stream),
      cudaErrorInvalidValue);
}

}  // namespace
}  // namespace sortie::test
