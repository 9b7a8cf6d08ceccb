// SPDX-License-Identifier: Apache-2.0

// Top k through the public API, on the backend of this run, against the reference.

#include "sortie/top_k.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/host_memory.hpp"
#include "tests/reference/top_k.hpp"
#include "tests/segsort/key_patterns.hpp"
#include "tests/segsort/narrow_keys.hpp"
#include "tests/segsort/segment_shapes.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

constexpr std::uint64_t untouched = 0xeeeeeeeeeeeeeeee;

template <class Key>
void check_top_k(const SegmentShape& shape, const std::vector<Key>& keys, std::uint64_t k,
                 const TopKOptions& options) {
  SCOPED_TRACE(testing::Message() << shape.name << ", k " << k
                                  << (options.order == Order::ascending ? ", ascending" : "")
                                  << (options.sorted ? "" : ", not sorted"));
  const std::size_t segments = shape.begins.size();
  std::vector<std::uint64_t> found(segments * k, untouched);
  top_k(context(), std::span<const Key>(keys), std::span<const std::uint64_t>(shape.begins),
        std::span<const std::uint64_t>(shape.ends), k, found, options);
  std::vector<std::uint64_t> expected(segments * k, untouched);
  for (std::size_t s = 0; s < segments; ++s) {
    auto top = segsort::reference::top_k(keys, shape.begins[s], shape.ends[s], k, options.order);
    const auto first = found.begin() + static_cast<std::ptrdiff_t>(s * k);
    if (!options.sorted) {
      std::sort(top.begin(), top.end());
      std::sort(first, first + std::ssize(top));
    }
    std::copy(top.begin(), top.end(), expected.begin() + static_cast<std::ptrdiff_t>(s * k));
  }
  ASSERT_EQ(found, expected);
}

template <class Key>
class TopKTest : public testing::Test {};
using AllKeys =
    testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(TopKTest, AllKeys);

TYPED_TEST(TopKTest, EveryPattern) {
  const SegmentShape shape = mixed_shape();
  for (const auto& [pattern, name] : key_patterns) {
    SCOPED_TRACE(name);
    const auto keys = make_keys<TypeParam>(pattern, shape.num_items);
    check_top_k(shape, keys, 1, {Order::ascending});
    check_top_k(shape, keys, 20, {Order::descending});
    check_top_k(shape, keys, 300, {Order::ascending, false});
    if (this->HasFatalFailure()) return;
  }
}

template <class Key>
class TopKNarrowTest : public testing::Test {};
using NarrowKeys =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, Float16, BFloat16>;
TYPED_TEST_SUITE(TopKNarrowTest, NarrowKeys);

TYPED_TEST(TopKNarrowTest, EveryPattern) {
  const SegmentShape shape = mixed_shape();
  for (const NarrowPattern pattern : narrow_patterns) {
    SCOPED_TRACE(static_cast<int>(pattern));
    const auto keys = narrow_keys<TypeParam>(pattern, shape.num_items);
    check_top_k(shape, keys, 1, {Order::ascending});
    check_top_k(shape, keys, 20, {Order::descending});
    check_top_k(shape, keys, 300, {Order::ascending, false});
    check_top_k(shape, keys, 3000, {Order::descending});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(TopKTest, LongSegments) {
  // Beyond 2^18 items a segment is divided among the threads.
  const SegmentShape shape = in_a_row("long", {100, 300'000, 5, 265'000});
  for (const KeyPattern pattern : {KeyPattern::random_bits, KeyPattern::equal,
                                   KeyPattern::reversed_index, KeyPattern::few_distinct}) {
    const auto keys = make_keys<TypeParam>(pattern, shape.num_items);
    check_top_k(shape, keys, 1000, {Order::ascending});
    if (this->HasFatalFailure()) return;
  }
}

TEST(TopK, EveryShape) {
  for (const SegmentShape& shape : segment_shapes()) {
    const auto keys = make_keys<float>(KeyPattern::random_bits, shape.num_items);
    for (const std::uint64_t k : {0, 3}) check_top_k(shape, keys, k, {});
  }
}

TEST(TopK, OneArray) {
  const auto keys = make_keys<double>(KeyPattern::special, 5000);
  for (const std::uint64_t k : {1, 50, 6000}) {
    std::vector<std::uint64_t> found(k, untouched);
    top_k(context(), std::span<const double>(keys), k, found);
    const auto top = segsort::reference::top_k(keys, 0, keys.size(), k, Order::descending);
    std::vector<std::uint64_t> expected(k, untouched);
    std::copy(top.begin(), top.end(), expected.begin());
    EXPECT_EQ(found, expected) << "k " << k;
  }
}

Context on_host() {
  Context context = test::context();
  context.backend = Backend::host;
  return context;
}

TEST(TopKMemory, IsWithinTheBudget) {
  const auto keys = make_keys<std::uint32_t>(KeyPattern::random_bits, 1000);
  std::vector<std::uint64_t> positions(10);
  Context small = on_host();
  small.memory_budget = 100;
  expect_error([&] { top_k(small, std::span<const std::uint32_t>(keys), 10, positions); },
               ErrorKind::out_of_memory, testing::HasSubstr("a selection"));
}

/// The least time of a few calls.
template <class Call>
std::chrono::steady_clock::duration least_time(const Call& call) {
  auto least = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    least = std::min(least, std::chrono::steady_clock::now() - start);
  }
  return least;
}

TEST(TopKMemory, OfFewItemsIsNotAskedFor) {
  // That question takes longer than the selection.
  const auto keys = make_keys<std::uint32_t>(KeyPattern::random_bits, 100);
  std::vector<std::uint64_t> positions(10);
  const Context context = on_host();
  std::uint64_t available = 0;
  const auto question = least_time([&] { available += host_memory_available(); });
  EXPECT_NE(available, 0);
  const auto selection =
      least_time([&] { top_k(context, std::span<const std::uint32_t>(keys), 10, positions); });
  EXPECT_LT(selection, question);
}

TEST(TopK, RefusesWrongSizesAndOffsets) {
  const std::vector<std::uint32_t> keys(10);
  std::vector<std::uint64_t> positions(6);
  const auto call = [&](const std::vector<std::int32_t>& begins,
                        const std::vector<std::int32_t>& ends, std::uint64_t k) {
    top_k(context(), std::span<const std::uint32_t>(keys), std::span<const std::int32_t>(begins),
          std::span<const std::int32_t>(ends), k, positions);
  };
  using testing::HasSubstr;
  expect_error(
      [&] {
        call({0, 5}, {5}, 3);
      },
      ErrorKind::usage, HasSubstr("found 2 begin offsets and 1 end offsets"));
  expect_error(
      [&] {
        call({0, 5}, {5, 10}, 4);
      },
      ErrorKind::usage, HasSubstr("found 6 places for 2 segments, expected 4 for each"));
  expect_error(
      [&] {
        call({0, 5}, {5, 10}, std::uint64_t{1} << 63);
      },
      ErrorKind::usage, HasSubstr("found 6 places for 2 segments"));
  expect_error(
      [&] {
        call({0, 5}, {5, 11}, 3);
      },
      ErrorKind::input, HasSubstr("top_k: segment 1: found offsets [5, 11)"));
}

}  // namespace
}  // namespace sortie::test
