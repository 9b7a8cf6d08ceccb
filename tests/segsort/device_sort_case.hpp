// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "papers/ics17/sort_ics17.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"
#include "tests/reference/segmented_sort.hpp"
#include "tests/segsort/key_patterns.hpp"
#include "tests/segsort/segment_shapes.hpp"

/// One input for the device entry points, compared with the reference whatever way it is sorted.

namespace sortie::test {

/// Owns a stream; the legacy default stream cannot be captured.
class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreate(&stream_)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

inline constexpr unsigned char poison_byte = 0xee;

/// What stands where nobody has written.
template <class Word>
[[nodiscard]] constexpr Word poison() {
  return static_cast<Word>(0xeeeeeeeeeeeeeeeeULL);
}

template <class T>
[[nodiscard]] std::vector<T> download(const DeviceBuffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  buffer.copy_to(host);
  check_cuda(cudaStreamSynchronize(buffer.stream()));
  return host;
}

/// A device array with poison before and behind it, so that a write outside of it shows.
template <class T>
class GuardedArray {
 public:
  static constexpr std::size_t guard = 64;

  /// \param lead  items of poison in front: `guard` leaves the array aligned as cudaMalloc does, 1
  ///              no better than its type asks for
  GuardedArray(std::size_t size, cudaStream_t stream, std::size_t lead = guard)
      : buffer_(lead + size + guard, stream), lead_(lead), size_(size) {
    poison_all();
  }
  GuardedArray(const std::vector<T>& items, cudaStream_t stream, std::size_t lead = guard)
      : GuardedArray(items.size(), stream, lead) {
    write(items);
  }

  [[nodiscard]] T* data() { return buffer_.data() + lead_; }
  [[nodiscard]] const T* data() const { return buffer_.data() + lead_; }

  void poison_all() {
    check_cuda(cudaMemsetAsync(buffer_.data(), poison_byte, buffer_.bytes(), buffer_.stream()));
  }
  /// In stream order; `items` must last until then.
  void write(const std::vector<T>& items) {
    if (!items.empty())
      check_cuda(cudaMemcpyAsync(data(), items.data(), items.size() * sizeof(T),
                                 cudaMemcpyHostToDevice, buffer_.stream()));
  }

  /// Whether the array holds `items` and its guards are whole.
  [[nodiscard]] testing::AssertionResult holds(const std::vector<T>& items) const {
    const std::vector<T> found = download(buffer_);
    const auto expected = [&](std::size_t i) {
      return i < lead_ || i >= lead_ + size_ ? poison<T>() : items[i - lead_];
    };
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == expected(i)) continue;
      std::ostringstream message;
      message << std::hex << "found 0x" << found[i] << ", expected 0x" << expected(i) << std::dec
              << " as item " << static_cast<std::int64_t>(i - lead_) << " of " << size_;
      return testing::AssertionFailure() << message.str();
    }
    return testing::AssertionSuccess();
  }

  /// The items without the guards.
  [[nodiscard]] std::vector<T> items() const {
    const std::vector<T> all = download(buffer_);
    return {all.begin() + static_cast<std::ptrdiff_t>(lead_),
            all.end() - static_cast<std::ptrdiff_t>(guard)};
  }

 private:
  DeviceBuffer<T> buffer_;
  std::size_t lead_;
  std::size_t size_;
};

/// Exactly the bytes asked for, aligned to 16 bytes and no more, full of garbage and guarded.
class TemporaryStorage {
 public:
  TemporaryStorage(std::size_t bytes, cudaStream_t stream)
      : buffer_(alignment + bytes + guard, stream), bytes_(bytes) {
    check_cuda(cudaMemsetAsync(buffer_.data(), poison_byte, buffer_.bytes(), stream));
  }

  [[nodiscard]] void* data() { return buffer_.data() + alignment; }

  /// Whether nothing was written before or behind.
  [[nodiscard]] bool is_guarded() const {
    std::vector<unsigned char> around(alignment + guard);
    check_cuda(cudaMemcpyAsync(around.data(), buffer_.data(), alignment, cudaMemcpyDeviceToHost,
                               buffer_.stream()));
    check_cuda(cudaMemcpyAsync(around.data() + alignment, buffer_.data() + alignment + bytes_,
                               guard, cudaMemcpyDeviceToHost, buffer_.stream()));
    check_cuda(cudaStreamSynchronize(buffer_.stream()));
    return std::all_of(around.begin(), around.end(),
                       [](unsigned char byte) { return byte == poison_byte; });
  }

 private:
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t guard = 1024;
  DeviceBuffer<unsigned char> buffer_;
  std::size_t bytes_;
};

/// The most temporary storage that DeviceSegmentedSort promises to ask for.
[[nodiscard]] inline std::uint64_t most_temporary_bytes(std::uint64_t items, std::uint64_t segments,
                                                        std::uint64_t bytes_per_item) {
  constexpr std::uint64_t constant = std::uint64_t{36} << 20;
  const std::uint64_t lists = items / (bytes_per_item == 0 ? 3 : 20);
  return items * bytes_per_item + lists + 16 * segments + constant;
}

/// The two ways to pass arrays.
enum class Storage { arrays, double_buffers };

/// Keys with the pattern anew in each segment, so that every segment is sorted, an organ pipe etc.
template <class Key>
[[nodiscard]] std::vector<Key> keys_of(const SegmentShape& shape, KeyPattern pattern,
                                       KeyPlacement placement = KeyPlacement::whole) {
  std::vector<Key> keys = make_keys<Key>(KeyPattern::random_bits, shape.num_items);  // for the gaps
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    const auto segment =
        placed(make_keys<Key>(pattern, shape.ends[s] - shape.begins[s], s), placement);
    std::copy(segment.begin(), segment.end(),
              keys.begin() + static_cast<std::ptrdiff_t>(shape.begins[s]));
  }
  return keys;
}

/// Keys and segments, and what the reference makes of them. Values tell which item they came with.
///
/// Every check is for the stable result, since the tuned policy gives no other; only unstable sorts
/// under papers::ics17 may leave the values of equal keys in any order.
template <SegmentKey Key>
class DeviceSortCase {
 public:
  using Word = Bits<Key>;

  /// What is out of the ordinary about the arrays.
  struct Layout {
    std::size_t lead = GuardedArray<Word>::guard;  ///< see GuardedArray
    /// Only so many segments count, and only the device is told; the others are not to be touched.
    std::optional<std::size_t> segments_on_device = {};
  };

  DeviceSortCase(SegmentShape shape, std::vector<Key> keys) : DeviceSortCase(shape, keys, {}) {}
  DeviceSortCase(SegmentShape shape, std::vector<Key> keys, Layout layout)
      : shape_(std::move(shape)), keys_(std::move(keys)), layout_(layout) {}

  /// Sorts keys alone, keys with values of 4 bytes and keys with values of 8 bytes.
  void check(const DeviceSortOptions& options, Storage storage = Storage::arrays) {
    expect_result_of(options);
    const auto failed = [] { return testing::Test::HasFatalFailure(); };
    run<void, std::uint32_t>(options, storage);
    if (!failed()) run<std::uint32_t, std::int64_t>(options, storage);
    if (!failed()) run<std::uint64_t, std::uint32_t>(options, storage);
  }

  /// Sorts keys with values of type Value (void: keys alone), and compares all that may be written.
  template <class Value, class Offset>
  void run(const DeviceSortOptions& asked, Storage storage) {
    SCOPED_TRACE((describe<Value, Offset>(asked, storage)));
    constexpr bool has_values = !std::is_void_v<Value>;
    using ValueWord = std::conditional_t<has_values, Value, std::uint32_t>;
    expect_result_of(asked);

    const std::vector<Word> key_words = bits_of(keys_);
    const std::vector<ValueWord> value_words =
        has_values ? values_of<ValueWord>(origins()) : std::vector<ValueWord>{};
    GuardedArray<Word> keys_in(key_words, stream_, layout_.lead);
    GuardedArray<Word> keys_out(key_words.size(), stream_, layout_.lead);
    GuardedArray<ValueWord> values_in(value_words, stream_, layout_.lead);
    GuardedArray<ValueWord> values_out(value_words.size(), stream_, layout_.lead);
    const DeviceOffsets<Offset> offsets(shape_, stream_);
    const std::vector<std::int64_t> host_count{static_cast<std::int64_t>(counted())};
    const DeviceBuffer<std::int64_t> count(host_count, stream_);

    DeviceSortOptions options = asked;
    if (layout_.segments_on_device) options.d_num_segments = count.data();
    DoubleBuffer<Key> key_buffers(reinterpret_cast<Key*>(keys_in.data()),
                                  reinterpret_cast<Key*>(keys_out.data()));
    DoubleBuffer<ValueWord> value_buffers(values_in.data(), values_out.data());
    const auto items = static_cast<std::int64_t>(keys_.size());
    const auto segments = static_cast<std::int64_t>(shape_.begins.size());
    const auto sort = [&](void* temporary, std::size_t& bytes) {
      const bool arrays = storage == Storage::arrays;
      if constexpr (has_values) {
        return arrays ? DeviceSegmentedSort::SortPairs(
                            temporary, bytes, std::as_const(key_buffers).Current(),
                            key_buffers.Alternate(), value_buffers.Current(),
                            value_buffers.Alternate(), items, segments, offsets.begins(),
                            offsets.ends(), options, stream_)
                      : DeviceSegmentedSort::SortPairs(temporary, bytes, key_buffers, value_buffers,
                                                       items, segments, offsets.begins(),
                                                       offsets.ends(), options, stream_);
      } else {
        return arrays ? DeviceSegmentedSort::SortKeys(
                            temporary, bytes, key_buffers.Current(), key_buffers.Alternate(), items,
                            segments, offsets.begins(), offsets.ends(), options, stream_)
                      : DeviceSegmentedSort::SortKeys(temporary, bytes, key_buffers, items,
                                                      segments, offsets.begins(), offsets.ends(),
                                                      options, stream_);
      }
    };

    std::size_t bytes = 0;
    ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
    ASSERT_EQ(key_buffers.selector, 0) << "asking for the size must not flip";
    const std::uint64_t copied =
        storage == Storage::arrays ? sizeof(Word) + (has_values ? sizeof(ValueWord) : 0) : 0;
    ASSERT_LE(bytes, most_temporary_bytes(keys_.size(), shape_.begins.size(), copied));
    TemporaryStorage temporary(bytes, stream_);
    ASSERT_EQ(sort(temporary.data(), bytes), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);

    const int selector = storage == Storage::double_buffers ? 1 : 0;
    ASSERT_EQ(key_buffers.selector, selector);
    if (has_values) {
      ASSERT_EQ(value_buffers.selector, selector);
    }
    ASSERT_TRUE(keys_out.holds(expected_keys_)) << "sorted keys";
    if constexpr (has_values) {
      const std::vector<Value> expected = values_of<Value>(expected_origins_);
      if (asked.policy == papers::ics17 && !asked.stable) {
        ASSERT_EQ(without_order_of_equals(values_out.items()), without_order_of_equals(expected));
      } else {
        ASSERT_TRUE(values_out.holds(expected)) << "sorted values";
      }
    }
    if (storage == Storage::arrays) {
      ASSERT_TRUE(keys_in.holds(key_words)) << "keys of the input";
      ASSERT_TRUE(values_in.holds(value_words)) << "values of the input";
    }
    ASSERT_TRUE(temporary.is_guarded()) << "something was written outside of temporary storage";
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  /// Offsets on the device: one array of them where each segment ends at the next one's begin.
  template <class Offset>
  class DeviceOffsets {
   public:
    DeviceOffsets(const SegmentShape& shape, cudaStream_t stream) : segments_(shape.begins.size()) {
      std::vector<Offset> offsets(shape.begins.begin(), shape.begins.end());
      one_array_ = segments_ > 0 &&
                   std::equal(shape.begins.begin() + 1, shape.begins.end(), shape.ends.begin());
      if (one_array_) {
        offsets.push_back(static_cast<Offset>(shape.ends.back()));
      } else {
        offsets.insert(offsets.end(), shape.ends.begin(), shape.ends.end());
      }
      buffer_ = DeviceBuffer<Offset>(offsets, stream);
      check_cuda(cudaStreamSynchronize(stream));  // `offsets` ends here
    }
    [[nodiscard]] const Offset* begins() const { return buffer_.data(); }
    [[nodiscard]] const Offset* ends() const {
      return buffer_.data() + (one_array_ ? 1 : segments_);
    }

   private:
    std::size_t segments_;
    bool one_array_;
    DeviceBuffer<Offset> buffer_;
  };

  [[nodiscard]] std::size_t counted() const {
    return layout_.segments_on_device.value_or(shape_.begins.size());
  }

  [[nodiscard]] std::vector<std::uint32_t> origins() const {
    std::vector<std::uint32_t> origins(keys_.size());
    std::iota(origins.begin(), origins.end(), 0U);
    return origins;
  }

  /// The values that came with the items `origins`; those of 8 bytes differ in both halves.
  template <class Value>
  static std::vector<Value> values_of(const std::vector<std::uint32_t>& origins) {
    std::vector<Value> values(origins.size());
    std::transform(origins.begin(), origins.end(), values.begin(), [](std::uint32_t origin) {
      if (origin == nobody) return poison<Value>();
      return sizeof(Value) == 4 ? static_cast<Value>(origin)
                                : static_cast<Value>(origin * 0x9e3779b97f4a7c15ULL);
    });
    return values;
  }

  /// Sorts by the reference, once for options that ask for the same order.
  void expect_result_of(const DeviceSortOptions& options) {
    const SegmentedSortOptions wanted{options.order, true, options.begin_bit, options.end_bit};
    if (expected_for_ && expected_for_->order == wanted.order &&
        expected_for_->begin_bit == wanted.begin_bit && expected_for_->end_bit == wanted.end_bit)
      return;
    expected_for_ = wanted;
    std::vector<Key> sorted = keys_;
    std::vector<std::uint32_t> sorted_origins = origins();
    segsort::reference::segmented_sort(
        std::span<Key>(sorted), std::span<std::uint32_t>(sorted_origins),
        std::span<const std::uint64_t>(shape_.begins.data(), counted()),
        std::span<const std::uint64_t>(shape_.ends.data(), counted()), wanted);
    expected_keys_.assign(keys_.size(), poison<Word>());
    expected_origins_.assign(keys_.size(), nobody);
    for (std::size_t s = 0; s < counted(); ++s) {
      for (std::uint64_t i = shape_.begins[s]; i < shape_.ends[s]; ++i) {
        expected_keys_[i] = std::bit_cast<Word>(sorted[i]);
        expected_origins_[i] = sorted_origins[i];
      }
    }
  }

  /// The values with those of equal keys in ascending order. For sorts by whole keys only.
  template <class Value>
  [[nodiscard]] std::vector<Value> without_order_of_equals(std::vector<Value> values) const {
    for (std::size_t s = 0; s < counted(); ++s) {
      std::uint64_t first = shape_.begins[s];
      for (std::uint64_t i = first; i < shape_.ends[s]; ++i) {
        const bool last = i + 1 == shape_.ends[s] || expected_keys_[i + 1] != expected_keys_[i];
        if (!last) continue;
        std::sort(values.begin() + static_cast<std::ptrdiff_t>(first),
                  values.begin() + static_cast<std::ptrdiff_t>(i + 1));
        first = i + 1;
      }
    }
    return values;
  }

  template <class Value, class Offset>
  [[nodiscard]] std::string describe(const DeviceSortOptions& options, Storage storage) const {
    std::ostringstream text;
    int value_bytes = 0;
    if constexpr (!std::is_void_v<Value>) value_bytes = static_cast<int>(sizeof(Value));
    text << shape_.name << ": keys of " << sizeof(Key) << " bytes, values of " << value_bytes
         << ", offsets of " << sizeof(Offset)
         << (storage == Storage::arrays ? ", arrays" : ", double buffers")
         << (options.order == Order::ascending ? ", ascending" : ", descending")
         << (options.stable ? ", stable" : "") << ", bits " << options.begin_bit << " to "
         << options.end_bit;
    return text.str();
  }

  SegmentShape shape_;
  std::vector<Key> keys_;
  Layout layout_;
  Stream stream_;
  std::optional<SegmentedSortOptions> expected_for_;
  std::vector<Word> expected_keys_;
  std::vector<std::uint32_t> expected_origins_;
};

using AllKeys =
    testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double>;
using UnsignedKeys = testing::Types<std::uint32_t, std::uint64_t>;

}  // namespace sortie::test
