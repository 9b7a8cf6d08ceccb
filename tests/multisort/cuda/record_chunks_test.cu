// SPDX-License-Identifier: Apache-2.0

// Records sorted on GPUs by a comparator of the caller, against std::stable_sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "multisort/cuda/merge/sort_records.cuh"
#include "tests/multisort/cuda/device_chunks.hpp"

namespace sortie::test {
namespace {

/// 16 bytes; ordered by two fields, one of them descending, and not by its number.
struct Event {
  std::uint32_t day;
  float price;
  std::uint64_t number;
};

struct EarlierOrDearer {
  __host__ __device__ bool operator()(const Event& a, const Event& b) const {
    return a.day != b.day ? a.day < b.day : a.price > b.price;
  }
};

/// 12 bytes, in no order of its fields.
struct Point {
  std::int32_t x, y, z;
};

struct CloserToOrigin {
  __host__ __device__ bool operator()(const Point& a, const Point& b) const {
    return norm(a) < norm(b);
  }
  __host__ __device__ static std::int64_t norm(const Point& p) {
    return std::int64_t{p.x} * p.x + std::int64_t{p.y} * p.y + std::int64_t{p.z} * p.z;
  }
};

/// 40 bytes.
struct Line {
  std::uint8_t text[40];
};

struct LineBefore {
  __host__ __device__ bool operator()(const Line& a, const Line& b) const {
    for (int i = 0; i < 40; ++i)
      if (a.text[i] != b.text[i]) return a.text[i] < b.text[i];
    return false;
  }
};

Event draw(Random& random, std::uint64_t number, Event*) {
  return {static_cast<std::uint32_t>(random.below(50)), static_cast<float>(random.below(100)),
          number};
}
Point draw(Random& random, std::uint64_t, Point*) {
  const auto coordinate = [&] { return static_cast<std::int32_t>(random.below(41)) - 20; };
  return {coordinate(), coordinate(), coordinate()};
}
Line draw(Random& random, std::uint64_t, Line*) {
  Line line;
  for (std::uint8_t& letter : line.text) letter = static_cast<std::uint8_t>('a' + random.below(2));
  return line;
}

template <class Record, class Before>
void check(std::uint64_t n, const Cut& cut, Before before, Transport transport) {
  SCOPED_TRACE(std::to_string(n) + " records of " + std::to_string(sizeof(Record)) + " bytes, " +
               cut.name);
  Random random(n + 1);
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < n; ++i)
    records.push_back(draw(random, i, static_cast<Record*>(nullptr)));
  GuardedArray<Record> array(records, cut);
  std::vector<RecordChunk<Record>> chunks;
  for (std::size_t i = 0; i < cut.sizes.size(); ++i)
    chunks.push_back({array.chunk(i).data(), cut.sizes[i], array.chunk(i).device()});
  sort_record_chunks(Context{}, std::span<const RecordChunk<Record>>(chunks), before, transport);
  std::stable_sort(records.begin(), records.end(), before);
  const std::vector<Record> found = array.items();
  ASSERT_EQ(found.size(), records.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(std::memcmp(&found[i], &records[i], sizeof(Record)), 0) << "record " << i;
}

template <class Record, class Before>
void check_all(Before before) {
  for (const std::uint64_t n : {0, 1, 2, 255, 1792, 1793, 3584, 20'001, 200'003}) {
    for (const Cut& cut : cuts_of(n)) {
      check<Record>(n, cut, before, Transport::automatic);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  check<Record>(50'001, cuts_of(50'001)[4], before, Transport::staged);
}

TEST(RecordChunks, SixteenBytesByTwoFields) {
  check_all<Event>(EarlierOrDearer{});
}
TEST(RecordChunks, TwelveBytesByAFunctionOfAll) {
  check_all<Point>(CloserToOrigin{});
}
TEST(RecordChunks, FortyBytesOfText) {
  check_all<Line>(LineBefore{});
}

TEST(RecordChunks, NullPointerIsRefused) {
  const std::vector<RecordChunk<Event>> chunks{{nullptr, 3, 0}};
  EXPECT_THROW(
      sort_record_chunks(Context{}, std::span<const RecordChunk<Event>>(chunks), EarlierOrDearer{}),
      Error);
}

}  // namespace
}  // namespace sortie::test
