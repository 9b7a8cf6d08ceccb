// SPDX-License-Identifier: Apache-2.0

// DeviceTopK, compared with a partial sort on the host.

#include "sortie/device_top_k.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/reference/top_k.hpp"
#include "tests/segsort/device_sort_case.hpp"
#include "tests/segsort/narrow_keys.hpp"

namespace sortie::test {
namespace {

/// What is written beside the keys.
enum class Beside { nothing, values, positions, positions_alone };

struct TopKCall {
  std::int64_t k = 1;
  DeviceTopKOptions options = {};
  Beside beside = Beside::positions;
  /// Segment i takes this number of results, at most k, without gaps; empty: k, at i * k.
  std::vector<std::uint64_t> own_k = {};
  bool one_array = false;  ///< without segments
  bool rows = false;       ///< segments without offsets
  bool in_place = false;   ///< results begin where their segments do, by the same offsets
};

/// One array and its segments; `Position` is also the type of values and offsets.
template <class Key, class Position = std::uint32_t>
class TopKCase {
 public:
  using Word = Bits<Key>;

  TopKCase(SegmentShape shape, std::vector<Key> keys)
      : shape_(std::move(shape)),
        keys_(std::move(keys)),
        values_(keys_.size()),
        keys_in_(bits_of(keys_), stream_, 1),
        values_in_(keys_.size(), stream_, 1),
        begins_(narrow(shape_.begins), stream_),
        ends_(narrow(shape_.ends), stream_) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<Position>(7 * i + 3);
    values_in_.write(values_);
    check_cuda(cudaStreamSynchronize(stream_));
  }

  void check(const TopKCall& call) {
    SCOPED_TRACE(testing::Message()
                 << shape_.name << ", k " << call.k << ", keys of " << sizeof(Key)
                 << " bytes, positions of " << sizeof(Position) << ", beside "
                 << static_cast<int>(call.beside) << (call.own_k.empty() ? "" : ", own k")
                 << (call.options.order == Order::ascending ? ", ascending" : ", descending")
                 << (call.options.sorted ? "" : ", not sorted"));
    const std::size_t segments = call.one_array ? 1 : shape_.begins.size();
    std::vector<std::uint64_t> outputs(segments + 1);
    if (call.in_place) {
      outputs = shape_.begins;
      outputs.push_back(shape_.num_items);
    }
    for (std::size_t i = 0; i < segments && !call.in_place; ++i)
      outputs[i + 1] =
          outputs[i] + (call.own_k.empty() ? static_cast<std::uint64_t>(call.k) : call.own_k[i]);
    GuardedArray<Position> output_offsets(narrow(outputs), stream_);
    GuardedArray<Word> keys_out(outputs.back(), stream_, 1);
    GuardedArray<Position> beside_out(outputs.back(), stream_, 1);
    std::optional<TemporaryStorage> temporary;
    std::size_t bytes = 0;
    const auto run = [&](void* storage) {
      return call.one_array ? run_array(storage, bytes, call, keys_out, beside_out)
                            : run_segments(storage, bytes, call, keys_out, beside_out,
                                           output_offsets, outputs.back());
    };
    ASSERT_EQ(run(nullptr), cudaSuccess);
    temporary.emplace(bytes, stream_);
    ASSERT_EQ(run(temporary->data()), cudaSuccess);
    check_cuda(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(temporary->is_guarded());
    compare(call, outputs, keys_out, beside_out);
    EXPECT_TRUE(keys_in_.holds(bits_of(keys_)));
    --bytes;
    EXPECT_EQ(run(temporary->data()), cudaErrorInvalidValue);
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const SegmentShape& shape() const { return shape_; }

 private:
  static std::vector<Position> narrow(const std::vector<std::uint64_t>& offsets) {
    return {offsets.begin(), offsets.end()};
  }
  [[nodiscard]] const Key* keys_in() const { return reinterpret_cast<const Key*>(keys_in_.data()); }

  template <class... Segments>
  cudaError_t dispatch(void* storage, std::size_t& bytes, const TopKCall& call,
                       GuardedArray<Word>& keys_out, GuardedArray<Position>& beside_out,
                       const Segments&... segments) {
    auto* const out = reinterpret_cast<Key*>(keys_out.data());
    const auto items = static_cast<std::int64_t>(keys_.size());
    switch (call.beside) {
      case Beside::nothing:
        return DeviceTopK::Keys(storage, bytes, keys_in(), out, items, call.k, segments...,
                                call.options, stream_);
      case Beside::values:
        return DeviceTopK::Pairs(storage, bytes, keys_in(), out,
                                 static_cast<const Position*>(values_in_.data()), beside_out.data(),
                                 items, call.k, segments..., call.options, stream_);
      case Beside::positions:
        return DeviceTopK::Positions(storage, bytes, keys_in(), out, beside_out.data(), items,
                                     call.k, segments..., call.options, stream_);
      case Beside::positions_alone:
        break;
    }
    return DeviceTopK::Positions(storage, bytes, keys_in(), static_cast<Key*>(nullptr),
                                 beside_out.data(), items, call.k, segments..., call.options,
                                 stream_);
  }
  cudaError_t run_array(void* storage, std::size_t& bytes, const TopKCall& call,
                        GuardedArray<Word>& keys_out, GuardedArray<Position>& beside_out) {
    return dispatch(storage, bytes, call, keys_out, beside_out);
  }
  cudaError_t run_segments(void* storage, std::size_t& bytes, const TopKCall& call,
                           GuardedArray<Word>& keys_out, GuardedArray<Position>& beside_out,
                           const GuardedArray<Position>& output_offsets, std::uint64_t outputs) {
    DeviceTopKSegments<Position> segments{static_cast<std::int64_t>(shape_.begins.size()),
                                          begins_.data(), ends_.data()};
    if (call.rows) segments.d_begin_offsets = segments.d_end_offsets = nullptr;
    if (call.in_place) {
      segments.d_begin_offsets = output_offsets.data();
      segments.d_end_offsets = output_offsets.data() + 1;
    }
    if (call.in_place || !call.own_k.empty()) {
      segments.d_output_offsets = output_offsets.data();
      segments.num_outputs = static_cast<std::int64_t>(outputs);
    }
    return dispatch(storage, bytes, call, keys_out, beside_out, segments);
  }

  void compare(const TopKCall& call, const std::vector<std::uint64_t>& outputs,
               const GuardedArray<Word>& keys_out, const GuardedArray<Position>& beside_out) const {
    std::vector<Word> expected_keys(outputs.back(), poison<Word>());
    std::vector<Position> expected_beside(outputs.back(), poison<Position>());
    std::vector<Word> found_keys = keys_out.items();
    std::vector<Position> found_beside = beside_out.items();
    for (std::size_t s = 0; s + 1 < outputs.size(); ++s) {
      const std::uint64_t begin = call.one_array ? 0 : shape_.begins[s];
      const std::uint64_t end = call.one_array ? keys_.size() : shape_.ends[s];
      const std::uint64_t k =
          std::min(static_cast<std::uint64_t>(call.k), outputs[s + 1] - outputs[s]);
      const auto top = segsort::reference::top_k(keys_, begin, end, k, call.options.order);
      for (std::size_t i = 0; i < top.size(); ++i) {
        expected_keys[outputs[s] + i] = std::bit_cast<Word>(keys_[top[i]]);
        expected_beside[outputs[s] + i] =
            call.beside == Beside::values ? values_[top[i]] : static_cast<Position>(top[i]);
      }
      if (call.in_place) {  // what is beyond the results is unspecified
        for (std::uint64_t i = outputs[s] + top.size(); i < outputs[s + 1]; ++i) {
          found_keys[i] = poison<Word>();
          found_beside[i] = poison<Position>();
        }
      }
      if (call.options.sorted) continue;
      const auto sort_results = [&](auto& items) {
        const auto first = items.begin() + static_cast<std::ptrdiff_t>(outputs[s]);
        std::sort(first, first + static_cast<std::ptrdiff_t>(top.size()));
      };
      sort_results(expected_keys);
      sort_results(found_keys);
      sort_results(expected_beside);
      sort_results(found_beside);
    }
    if (call.beside == Beside::nothing)
      std::fill(expected_beside.begin(), expected_beside.end(), poison<Position>());
    if (call.beside == Beside::positions_alone)
      std::fill(expected_keys.begin(), expected_keys.end(), poison<Word>());
    const auto first_difference = [](const auto& found, const auto& expected) {
      return std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin();
    };
    ASSERT_EQ(first_difference(found_keys, expected_keys), std::ssize(expected_keys));
    ASSERT_EQ(first_difference(found_beside, expected_beside), std::ssize(expected_beside));
  }

  SegmentShape shape_;
  std::vector<Key> keys_;
  std::vector<Position> values_;
  Stream stream_;
  GuardedArray<Word> keys_in_;
  GuardedArray<Position> values_in_;
  GuardedArray<Position> begins_;
  GuardedArray<Position> ends_;
};

/// Lengths of every way of selecting, in an order that mixes them.
SegmentShape shape_of_all_ways(std::uint64_t gap = 0) {
  std::vector<std::uint64_t> lengths = border_lengths();
  for (std::uint64_t length = 0; length <= 40; ++length) lengths.insert(lengths.end(), 12, length);
  for (const std::uint64_t length : {2047, 2049, 5000, 65'536, 65'537, 100'000})
    lengths.push_back(length);
  return in_a_row("all ways", lengths, gap);
}

template <class Key>
class DeviceTopKTest : public testing::Test {};
TYPED_TEST_SUITE(DeviceTopKTest, AllKeys);

TYPED_TEST(DeviceTopKTest, EveryPattern) {
  const SegmentShape shape = shape_of_all_ways();
  for (const auto& [pattern, name] : key_patterns) {
    SCOPED_TRACE(name);
    TopKCase<TypeParam> top(shape, make_keys<TypeParam>(pattern, shape.num_items));
    top.check({1, {Order::ascending}});
    top.check({8, {Order::descending}});
    top.check({20, {Order::ascending}});
    top.check({33, {Order::descending}});
    top.check({200, {Order::ascending}});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceTopKTest, EveryK) {
  const SegmentShape shape = shuffled(shape_of_all_ways(3), 5);
  TopKCase<TypeParam, std::uint64_t> top(shape,
                                         make_keys<TypeParam>(KeyPattern::zipf, shape.num_items));
  for (const std::int64_t k :
       {0, 2, 3, 5, 16, 17, 31, 32, 64, 128, 129, 256, 257, 1000, 2048, 2049}) {
    top.check({k, {Order::descending}, Beside::values});
    if (k <= 300) top.check({k, {Order::ascending, false}, Beside::positions_alone});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceTopKTest, OneArray) {
  for (const std::uint64_t items : {0, 1, 31, 1000, 5000, 70'000, 1'000'001, 18'000'000}) {
    const SegmentShape shape = in_a_row("one", {items});
    for (const KeyPattern pattern : {KeyPattern::random_bits, KeyPattern::equal}) {
      TopKCase<TypeParam> top(shape, make_keys<TypeParam>(pattern, shape.num_items));
      for (const std::int64_t k : {1, 100, 1000, 4000}) {
        top.check({.k = k, .one_array = true});
        if (this->HasFatalFailure() || items > 2'000'000) return;
      }
    }
  }
}

template <class Key>
class DeviceTopKNarrowTest : public testing::Test {};
using NarrowKeys =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, Float16, BFloat16>;
TYPED_TEST_SUITE(DeviceTopKNarrowTest, NarrowKeys);

TYPED_TEST(DeviceTopKNarrowTest, EveryPattern) {
  const SegmentShape shape = shape_of_all_ways();
  const SegmentShape apart = shuffled(shape_of_all_ways(3), 5);
  std::vector<std::uint64_t> own_k(shape.begins.size());
  for (std::size_t i = 0; i < own_k.size(); ++i) own_k[i] = i * 13 % 50;
  for (const NarrowPattern pattern : narrow_patterns) {
    SCOPED_TRACE(static_cast<int>(pattern));
    TopKCase<TypeParam> top(shape, narrow_keys<TypeParam>(pattern, shape.num_items));
    top.check({1, {Order::ascending}});
    top.check({8, {Order::descending}, Beside::values});
    top.check({33, {Order::descending}});
    top.check({200, {Order::ascending}, Beside::nothing});
    top.check({2049, {Order::descending}});
    top.check({40, {Order::ascending}, Beside::positions, own_k});
    TopKCase<TypeParam, std::uint64_t> of_apart(apart,
                                                narrow_keys<TypeParam>(pattern, apart.num_items));
    of_apart.check({20, {Order::ascending}, Beside::values});
    of_apart.check({300, {Order::descending, false}, Beside::positions_alone});
    if (this->HasFatalFailure()) return;
  }
}

// Also long enough to be sampled and streamed; ascending keys are not: the greatest are at the end.
TYPED_TEST(DeviceTopKNarrowTest, OneArray) {
  for (const std::uint64_t items : {31, 5000, 70'000, 4'300'001}) {
    const SegmentShape shape = in_a_row("one", {items});
    for (const NarrowPattern pattern : {NarrowPattern::random_bits, NarrowPattern::equal,
                                        NarrowPattern::special, NarrowPattern::ascending}) {
      TopKCase<TypeParam> top(shape, narrow_keys<TypeParam>(pattern, shape.num_items));
      for (const std::int64_t k : {1, 33, 1000}) top.check({.k = k, .one_array = true});
      if (this->HasFatalFailure()) return;
    }
  }
}

// The key types of CUB that are no key types of the host: the same results as those with equal bits.
TEST(DeviceTopKTypes, OfCub) {
  const auto bits = narrow_keys<std::uint16_t>(NarrowPattern::special, 1000);
  Stream stream;
  GuardedArray<std::uint16_t> keys(bits, stream);
  GuardedArray<std::uint32_t> found(50, stream);
  GuardedArray<std::uint32_t> expected(50, stream);
  const auto select = [&]<class Key>(const Key*, GuardedArray<std::uint32_t>& positions) {
    std::size_t bytes = 0;
    const auto run = [&](void* storage) {
      return DeviceTopK::Positions(storage, bytes, reinterpret_cast<const Key*>(keys.data()),
                                   static_cast<Key*>(nullptr), positions.data(), 500, 50, {},
                                   stream);
    };
    ASSERT_EQ(run(nullptr), cudaSuccess);
    TemporaryStorage temporary(bytes, stream);
    ASSERT_EQ(run(temporary.data()), cudaSuccess);
    check_cuda(cudaStreamSynchronize(stream));
  };
  select(static_cast<const __half*>(nullptr), found);
  select(static_cast<const Float16*>(nullptr), expected);
  EXPECT_EQ(found.items(), expected.items());
  select(static_cast<const __nv_bfloat16*>(nullptr), found);
  select(static_cast<const BFloat16*>(nullptr), expected);
  EXPECT_EQ(found.items(), expected.items());
  select(static_cast<const char16_t*>(nullptr), found);
  select(static_cast<const std::uint16_t*>(nullptr), expected);
  EXPECT_EQ(found.items(), expected.items());
  select(static_cast<const bool*>(nullptr), found);
  select(static_cast<const std::uint8_t*>(nullptr), expected);
  EXPECT_EQ(found.items(), expected.items());
}

TEST(DeviceTopKSegmentsTest, OwnKOfEachSegment) {
  const SegmentShape shape = shape_of_all_ways();
  TopKCase<float> top(shape, make_keys<float>(KeyPattern::special, shape.num_items));
  std::vector<std::uint64_t> own_k(shape.begins.size());
  for (std::size_t i = 0; i < own_k.size(); ++i) own_k[i] = i * 13 % 50;
  for (const std::int64_t k : {20, 50, 3000}) {
    top.check({k, {}, Beside::positions, own_k});
    top.check({k, {.sorted = false}, Beside::nothing, own_k});
  }
}

TEST(DeviceTopKSegmentsTest, EveryShape) {
  for (const SegmentShape& shape : segment_shapes()) {
    TopKCase<std::uint32_t> top(shape,
                                make_keys<std::uint32_t>(KeyPattern::random_bits, shape.num_items));
    for (const std::int64_t k : {1, 4, 40})
      if (shape.begins.size() < 100'000) top.check({k, {}});
  }
}

/// Many short segments, which tiles take, and some for each other kernel.
SegmentShape shape_of_tiles(std::uint64_t gap = 0) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 20'000; ++i) lengths.push_back(i * 7 % 41);
  for (const std::uint64_t length : {128, 129, 511, 512, 513, 1024, 1025, 3000, 8192, 8193, 70'000})
    lengths[length % 19'997] = length;
  return in_a_row("tiles", lengths, gap);
}

template <class Key, class Position>
void check_tiles(const SegmentShape& shape, bool are_adjacent) {
  std::vector<std::uint64_t> own_k(shape.begins.size());
  for (std::size_t i = 0; i < own_k.size(); ++i) own_k[i] = i * 13 % 50;
  for (const KeyPattern pattern :
       {KeyPattern::random_bits, KeyPattern::few_distinct, KeyPattern::equal}) {
    TopKCase<Key, Position> top(shape, make_keys<Key>(pattern, shape.num_items));
    for (const std::int64_t k : {1, 2, 8, 32, 33, 200}) {
      top.check({k, {Order::ascending}, Beside::values});
      if (are_adjacent) top.check({.k = k, .beside = Beside::positions, .in_place = true});
    }
    top.check({40, {Order::descending}, Beside::positions, own_k});
    top.check({300, {Order::descending, false}, Beside::positions_alone});
  }
}
TEST(DeviceTopKSegmentsTest, SegmentsInTiles) {
  check_tiles<std::uint32_t, std::uint32_t>(shape_of_tiles(), true);
  check_tiles<double, std::uint64_t>(shape_of_tiles(), true);
  check_tiles<double, std::uint64_t>(shuffled(shape_of_tiles(1), 3), false);
}

/// Results where their segments are, of enough items to be sorted whole if few segments are long.
TEST(DeviceTopKSegmentsTest, SortedInPlace) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 430'000; ++i) lengths.push_back(i * 7 % 21);
  lengths[100'001] = 3'000;
  const SegmentShape few_long = in_a_row("few long", lengths);
  lengths[200'001] = 5'000'000;
  for (const SegmentShape& shape : {few_long, in_a_row("half in one", lengths)}) {
    TopKCase<std::uint32_t> top(
        shape, make_keys<std::uint32_t>(KeyPattern::few_distinct, shape.num_items));
    for (const std::int64_t k : {30, 300})
      top.check({.k = k, .beside = Beside::values, .in_place = true});
    TopKCase<std::uint8_t, std::uint64_t> bytes(
        shape, narrow_keys<std::uint8_t>(NarrowPattern::random_bits, shape.num_items));
    bytes.check(
        {.k = 40, .options = {Order::ascending}, .beside = Beside::nothing, .in_place = true});
  }
}

/// Small inputs for the tools of tests/gpu/check.py that reach the kernels of tiles, of teams, and of
/// streamed segments.
TEST(DeviceTopKForTools, Tiles) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 600; ++i) lengths.push_back(i * 7 % 41);
  for (const std::uint64_t length : {129, 512, 513, 1025, 3000}) lengths[length % 599] = length;
  const SegmentShape shape = in_a_row("tiles", lengths);
  TopKCase<std::uint32_t> top(shape,
                              make_keys<std::uint32_t>(KeyPattern::few_distinct, shape.num_items));
  for (const std::int64_t k : {1, 8, 33, 400}) top.check({k, {}, Beside::values});
  top.check({.k = 8, .in_place = true});
}
TEST(DeviceTopKForTools, NarrowKeys) {
  std::vector<std::uint64_t> lengths{40, 2100, 9000};
  for (std::uint64_t i = 0; i < 200; ++i) lengths.push_back(i * 7 % 41);
  const SegmentShape shape = in_a_row("narrow", lengths);
  TopKCase<Float16> halves(shape, narrow_keys<Float16>(NarrowPattern::special, shape.num_items));
  for (const std::int64_t k : {1, 8, 33}) halves.check({k, {}, Beside::values});
  TopKCase<std::uint8_t> bytes(
      shape, narrow_keys<std::uint8_t>(NarrowPattern::random_bits, shape.num_items));
  bytes.check({.k = 8, .options = {.sorted = false}});
  bytes.check({.k = 400});
}
TEST(DeviceTopKForTools, Streamed) {
  constexpr std::uint64_t items = 4'200'000;
  TopKCase<std::uint32_t> top(in_a_row("streamed array", {items}),
                              make_keys<std::uint32_t>(KeyPattern::random_bits, items));
  top.check({.k = 100});
}

/// Enough segments for warps that read them in chunks, and for lanes that find the least.
TEST(DeviceTopKSegmentsTest, StreamedSegments) {
  std::vector<std::uint64_t> lengths(20'000, 70);
  for (std::size_t i = 0; i < lengths.size(); i += 40) lengths[i] = 1000 + i % 7300;
  const SegmentShape shape = in_a_row("streamed", lengths);
  for (const KeyPattern pattern :
       {KeyPattern::random_bits, KeyPattern::equal, KeyPattern::sorted}) {
    TopKCase<std::int32_t> top(shape, make_keys<std::int32_t>(pattern, shape.num_items));
    for (const std::int64_t k : {1, 7, 32}) top.check({k, {Order::ascending}});
  }
}

/// Long enough to be sampled.
TEST(DeviceTopKSegmentsTest, SampledSegments) {
  const SegmentShape shape = in_a_row("sampled", {9'000'000, 17, 5'000'000, 70'000});
  for (const KeyPattern pattern :
       {KeyPattern::random_bits, KeyPattern::equal, KeyPattern::sorted}) {
    TopKCase<std::uint32_t> top(shape, make_keys<std::uint32_t>(pattern, shape.num_items));
    for (const std::int64_t k : {33, 2048}) top.check({k, {Order::ascending}});
  }
}

/// One segment that is streamed, or is left to other kernels: keys are equal, or too short a part of the
/// array is in the segment.
TEST(DeviceTopKSegmentsTest, StreamedArrays) {
  constexpr std::uint64_t items = 4'300'001;
  for (const KeyPattern pattern : {KeyPattern::random_bits, KeyPattern::equal, KeyPattern::reverse,
                                   KeyPattern::few_distinct}) {
    TopKCase<std::uint32_t> top(in_a_row("streamed array", {items}),
                                make_keys<std::uint32_t>(pattern, items));
    top.check({.k = 32, .options = {Order::ascending}, .one_array = true});
    top.check({.k = 2048, .beside = Beside::values});
    top.check({.k = 33, .options = {.sorted = false}, .beside = Beside::positions_alone});
  }
  TopKCase<double, std::uint64_t> of_doubles(in_a_row("streamed array", {items}),
                                             make_keys<double>(KeyPattern::random_bits, items));
  of_doubles.check({.k = 1000});
  for (const std::uint64_t begin : {1'999, 1'000'000}) {
    SegmentShape part = in_a_row("part of an array", {4'500'000});
    part.begins[0] = begin;
    TopKCase<std::int32_t> of_part(part,
                                   make_keys<std::int32_t>(KeyPattern::random_bits, 4'500'000));
    of_part.check({.k = 1000});
  }
}

/// Segments of teams of one warp, beside those of tiles, and, for some k, of warps.
TEST(DeviceTopKSegmentsTest, ShortTeams) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t length = 0; length < 530; ++length) {
    lengths.push_back(length * 37 % 530);
    lengths.push_back(length % 60);
  }
  const SegmentShape shape = in_a_row("teams", lengths);
  for (const KeyPattern pattern :
       {KeyPattern::random_bits, KeyPattern::few_distinct, KeyPattern::reverse}) {
    TopKCase<std::uint32_t> top(shape, make_keys<std::uint32_t>(pattern, shape.num_items));
    for (const std::int64_t k : {32, 33, 60, 600})
      top.check({.k = k, .options = {Order::ascending}, .beside = Beside::values});
    TopKCase<double, std::uint64_t> of_doubles(shape, make_keys<double>(pattern, shape.num_items));
    for (const std::int64_t k : {32, 50}) of_doubles.check({.k = k});
  }
}

/// Mean lengths at which threads take narrow keys, and tiles take segments beside longer ones that
/// warps take (k < 32).
TEST(DeviceTopKMeans, OfThreadsAndTiles) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 3'000; ++i) lengths.push_back(i * 7 % 33);
  lengths[1'234] = 5'000;
  const SegmentShape short_ones = in_a_row("mean of 17", lengths);
  lengths[1'234] = 16;
  const SegmentShape shorter_ones = in_a_row("mean of 15", lengths);
  for (const SegmentShape& shape : {short_ones, shorter_ones}) {
    TopKCase<std::uint8_t> bytes(
        shape, narrow_keys<std::uint8_t>(NarrowPattern::random_bits, shape.num_items));
    for (const std::int64_t k : {1, 8})
      bytes.check({.k = k, .options = {Order::ascending}, .beside = Beside::values});
    TopKCase<Float16, std::uint64_t> halves(
        shape, narrow_keys<Float16>(NarrowPattern::special, shape.num_items));
    for (const std::int64_t k : {1, 20}) halves.check({.k = k});
  }
  for (std::uint64_t& length : lengths) length = length * 5;
  const SegmentShape longer_ones = in_a_row("mean of 79", lengths);
  TopKCase<std::uint32_t> top(
      longer_ones, make_keys<std::uint32_t>(KeyPattern::few_distinct, longer_ones.num_items));
  for (const std::int64_t k : {2, 8, 31})
    top.check({.k = k, .options = {Order::ascending}, .beside = Beside::values});
}

/// More results than the kernels of the selection order, of segments longer than teams take: at most
/// a tile of a warp has, and more.
TEST(DeviceTopKMeans, OfSortedResults) {
  std::vector<std::uint64_t> lengths(100, 40);
  for (const std::uint64_t length : {9'000, 20'000, 70'000}) lengths[length / 1'000] = length;
  const SegmentShape shape = in_a_row("long", lengths);
  TopKCase<std::uint8_t> bytes(
      shape, narrow_keys<std::uint8_t>(NarrowPattern::random_bits, shape.num_items));
  TopKCase<std::uint16_t> shorts(
      shape, narrow_keys<std::uint16_t>(NarrowPattern::random_bits, shape.num_items));
  TopKCase<std::uint32_t> words(shape,
                                make_keys<std::uint32_t>(KeyPattern::random_bits, shape.num_items));
  for (const std::int64_t k : {100, 300, 512, 513, 1'000, 2'048}) {
    bytes.check({.k = k, .beside = Beside::values});
    shorts.check({.k = k, .options = {Order::ascending}, .beside = Beside::nothing});
    words.check({.k = k});
  }
}

TEST(DeviceTopKSegmentsTest, RowsWithoutOffsets) {
  for (const std::uint64_t length : {3, 100, 5000}) {
    const SegmentShape shape = in_a_row("rows", std::vector<std::uint64_t>(30, length));
    TopKCase<std::int64_t> top(shape,
                               make_keys<std::int64_t>(KeyPattern::few_distinct, shape.num_items));
    for (const std::int64_t k : {2, 40, 2500}) top.check({.k = k, .rows = true});
  }
}

TEST(DeviceTopKGraph, ReplaysOnNewDataAndNumberOfSegments) {
  const SegmentShape shape = in_a_row("graph", {10, 3000, 200'000, 0, 100});
  const auto items = static_cast<std::int64_t>(shape.num_items);
  constexpr std::int64_t k = 40;
  const std::size_t segments = shape.begins.size();
  Stream stream;
  GuardedArray<std::uint32_t> keys(shape.num_items, stream);
  GuardedArray<std::uint32_t> keys_out(segments * k, stream);
  GuardedArray<std::uint64_t> positions(segments * k, stream);
  GuardedArray<std::uint64_t> begins(shape.begins, stream);
  GuardedArray<std::uint64_t> ends(shape.ends, stream);
  GuardedArray<std::int64_t> count(1, stream);
  std::size_t bytes = 0;
  const auto run = [&](void* storage) {
    return DeviceTopK::Positions(
        storage, bytes, static_cast<const std::uint32_t*>(keys.data()), keys_out.data(),
        positions.data(), items, k,
        DeviceTopKSegments<std::uint64_t>{static_cast<std::int64_t>(segments), begins.data(),
                                          ends.data()},
        {.d_num_segments = count.data()}, stream);
  };
  ASSERT_EQ(run(nullptr), cudaSuccess);
  TemporaryStorage temporary(bytes, stream);
  check_cuda(cudaStreamSynchronize(stream));
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_EQ(run(temporary.data()), cudaSuccess);
  check_cuda(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t replay = nullptr;
  check_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (const std::int64_t used : {5, 3, 0}) {
    const auto host = make_keys<std::uint32_t>(KeyPattern::random_bits, shape.num_items,
                                               static_cast<std::uint64_t>(used));
    const std::vector<std::int64_t> host_count{used};
    keys.write(host);
    count.write(host_count);
    positions.poison_all();
    check_cuda(cudaGraphLaunch(replay, stream));
    check_cuda(cudaStreamSynchronize(stream));
    std::vector<std::uint64_t> expected(segments * k, poison<std::uint64_t>());
    for (std::size_t s = 0; s < static_cast<std::size_t>(used); ++s) {
      const auto top =
          segsort::reference::top_k(host, shape.begins[s], shape.ends[s], k, Order::descending);
      std::copy(top.begin(), top.end(), expected.begin() + static_cast<std::ptrdiff_t>(s * k));
    }
    EXPECT_TRUE(positions.holds(expected)) << used << " segments";
  }
  check_cuda(cudaGraphExecDestroy(replay));
  check_cuda(cudaGraphDestroy(graph));
}

TEST(DeviceTopKErrors, WrongNumbers) {
  std::size_t bytes = 0;
  const std::uint32_t* const keys = nullptr;
  std::uint32_t* const out = nullptr;
  EXPECT_EQ(DeviceTopK::Keys(nullptr, bytes, keys, out, -1, 3), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceTopK::Keys(nullptr, bytes, keys, out, 10, -3), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceTopK::Keys(nullptr, bytes, keys, out, 10, 3,
                             DeviceTopKSegments<std::int32_t>{.num_segments = -2}),
            cudaErrorInvalidValue);
  EXPECT_EQ(DeviceTopK::Keys(nullptr, bytes, keys, out, 10, 3,
                             DeviceTopKSegments<std::int32_t>{.num_segments = 3}),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace sortie::test
