// SPDX-License-Identifier: Apache-2.0

// The device entry points over every kind of segment lengths, for every type of key and size of
// value, with the tiles that the GPU has shared memory for, and with those of the small GPUs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "segsort/cuda/device_request.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

/// Key, on a GPU that is made to look as if it had 48 KiB of shared memory for a block.
template <class Key>
struct InSmallTiles {};

template <class Type>
struct CaseOf {
  using Key = Type;
  static constexpr int shared_bytes = 0;  // no limit
};
template <class Type>
struct CaseOf<InSmallTiles<Type>> {
  using Key = Type;
  static constexpr int shared_bytes = 48 * 1024;
};

template <class Type>
class DeviceShapeTest : public testing::Test {
 public:
  using Key = typename CaseOf<Type>::Key;

 protected:
  void SetUp() override { segsort::limit_shared_bytes(CaseOf<Type>::shared_bytes); }
  void TearDown() override { segsort::limit_shared_bytes(0); }

  /// Sorts arrays of keys of which half are equal to what a sort may take for padding, and
  /// DoubleBuffers of keys of a hundred values the other way round.
  static void check(const SegmentShape& shape) {
    SCOPED_TRACE(shape.name);
    DeviceSortCase<Key>(shape, make_keys<Key>(KeyPattern::last_or_random, shape.num_items))
        .check({Order::ascending, false});
    if (HasFatalFailure()) return;
    DeviceSortCase<Key>(shape, make_keys<Key>(KeyPattern::hundred_distinct, shape.num_items))
        .check({Order::descending, true}, Storage::double_buffers);
  }
};
using ShapeTypes =
    testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double,
                   InSmallTiles<std::uint32_t>, InSmallTiles<std::int32_t>, InSmallTiles<float>,
                   InSmallTiles<std::uint64_t>, InSmallTiles<std::int64_t>, InSmallTiles<double>>;
TYPED_TEST_SUITE(DeviceShapeTest, ShapeTypes);

TYPED_TEST(DeviceShapeTest, ShapesOfTheHostsTests) {
  for (const SegmentShape& shape : segment_shapes()) {
    this->check(shape);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceShapeTest, EachLengthFrom0To600InOneCall) {
  this->check(in_a_row("lengths 0 to 600", lengths_below(601)));
}

TYPED_TEST(DeviceShapeTest, LengthsAboutEveryPowerOfTwo) {
  this->check(in_a_row("about powers of two", lengths_about_powers_of_two(1U << 17)));
}

/// Lengths at which one way of sorting may end and another begin: powers of two, and what a warp or
/// a block holds with 3 or 6 items a thread.
std::vector<std::uint64_t> telling_lengths() {
  std::vector<std::uint64_t> lengths = lengths_below(41);
  for (const std::uint64_t border : {64, 128, 256, 512, 1024, 2048, 4096, 8192, 65'536})
    for (std::uint64_t length = border - 1; length <= border + 2; ++length)
      lengths.push_back(length);
  for (const std::uint64_t length : {170, 171, 384, 768}) lengths.push_back(length);
  return lengths;
}

TYPED_TEST(DeviceShapeTest, ManySegmentsOfEqualLength) {
  constexpr std::uint64_t items = 100'000;
  for (const std::uint64_t length : telling_lengths()) {
    const std::uint64_t count =
        std::max<std::uint64_t>(3, items / std::max<std::uint64_t>(length, 1));
    this->check(in_a_row("segments of " + std::to_string(length),
                         std::vector<std::uint64_t>(count, length)));
    if (this->HasFatalFailure()) return;
  }
}

/// Lengths beyond `shortest` up to `longest`, of `items` items or a little more.
std::vector<std::uint64_t> lengths_between(std::uint64_t shortest, std::uint64_t longest,
                                           std::uint64_t items) {
  std::mt19937_64 random(longest);
  std::uniform_int_distribution<std::uint64_t> length(shortest + 1, longest);
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t sum = 0; sum < items; sum += lengths.back()) lengths.push_back(length(random));
  return lengths;
}

/// Teams of one size at a time: racecheck follows their barriers only then (see
/// tests/gpu/check.py).
template <class Key>
class DeviceTeamsTest : public DeviceShapeTest<Key> {};
using TeamsKeys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceTeamsTest, TeamsKeys);

TYPED_TEST(DeviceTeamsTest, EverySizeByItself) {
  // Of an H200: the 24 warps of a block on each multiprocessor, 512 items for each.
  constexpr std::uint64_t all_teams_are_busy = 132 * 24 * 512;
  std::uint64_t shortest = 128;
  for (const std::uint64_t longest : {256, 512, 1024, 1536, 2048, 2560, 4096, 5120, 6144, 8192}) {
    this->check(in_a_row("up to " + std::to_string(longest),
                         lengths_between(shortest, longest, all_teams_are_busy)));
    if (this->HasFatalFailure()) return;
    shortest = longest;
  }
}

// As few items as take the tiles of teams and partitions: racecheck slows these down some thousand
// times, so that each is a test.
TYPED_TEST(DeviceTeamsTest, FewItemsInTiles) {
  this->check(in_a_row("tiles of eight warps", std::vector<std::uint64_t>(9, 4096)));
}
TYPED_TEST(DeviceTeamsTest, FewItemsInLargeTiles) {
  this->check(in_a_row("tiles of sixteen warps", std::vector<std::uint64_t>(5, 8192)));
}
TYPED_TEST(DeviceTeamsTest, FewItemsInOneLaunch) {
  this->check(in_a_row("tiles of the kernel for few items", std::vector<std::uint64_t>(3, 4096)));
}
TYPED_TEST(DeviceTeamsTest, FewItemsForOneBlock) {
  this->check(in_a_row("partitions by one block", std::vector<std::uint64_t>(3, 16384)));
}
TYPED_TEST(DeviceTeamsTest, FewItemsForTheGrid) {
  this->check(in_a_row("partition by the whole grid", {70'000}));
}

TYPED_TEST(DeviceShapeTest, OneSegmentOfAMillionAndOneItems) {
  this->check(in_a_row("2^20 + 1", {(std::uint64_t{1} << 20) + 1}));
}

TYPED_TEST(DeviceShapeTest, PowerLaws) {
  this->check(in_a_row("gentle power law", power_law_lengths(25, 0.7, 60'000, 21)));
  this->check(in_a_row("power law", power_law_lengths(500, 1.2, 50'000, 22)));
  this->check(in_a_row("steep power law", power_law_lengths(50'000, 2.0, 50'000, 23)));
}

// A warp's chunk is sorted in another way when longer segments leave gaps among its short ones.
TYPED_TEST(DeviceShapeTest, FewMiddlingSegmentsAmongDwarfs) {
  for (const std::size_t every : {7U, 100U, 700U}) {
    std::vector<std::uint64_t> lengths = lengths_between(0, 20, 60'000);
    for (std::size_t i = every; i < lengths.size(); i += every) lengths[i] = 65 + i % 80;
    this->check(in_a_row("one of " + std::to_string(every) + " beyond 64", lengths));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceShapeTest, AGiantAmongAMillionDwarfs) {
  const SegmentShape shape =
      in_a_row("giant among dwarfs", giant_among_dwarfs(3'000'000, 1'000'000, 4));
  DeviceSortCase<typename TestFixture::Key>(
      shape, make_keys<typename TestFixture::Key>(KeyPattern::random_bits, shape.num_items))
      .check({Order::ascending, false});
}

TYPED_TEST(DeviceShapeTest, ScatteredSegmentsLeaveTheRestUntouched) {
  std::vector<std::uint64_t> lengths = border_lengths();
  const auto add = [&](std::uint64_t count, std::uint64_t length) {
    lengths.insert(lengths.end(), count, length);
  };
  add(3'000, 0);  // more empty segments in a run than a block has threads, then again
  add(700, 33);
  add(1, 20'000);
  add(5'000, 0);
  add(500, 1);
  add(1, 70'000);
  const SegmentShape shape = in_a_row("lengths of all sizes, runs of empty segments", lengths);
  this->check(shape);
  this->check(scattered(shape, 1, 31));
  this->check(scattered(shape, 40, 32));
  this->check(in_a_row("a gap of one everywhere, runs of empty segments", lengths, 1));
}

TYPED_TEST(DeviceShapeTest, ArraysMayBeginWhereverTheirTypeMay) {
  const SegmentShape shape = scattered(in_a_row("most lengths", border_lengths()), 2, 33);
  for (const std::size_t lead : {1, 2, 3}) {
    SCOPED_TRACE(lead);
    DeviceSortCase<typename TestFixture::Key> sort_case(
        shape, make_keys<typename TestFixture::Key>(KeyPattern::last_or_random, shape.num_items),
        {lead, std::nullopt});
    sort_case.check({});
    sort_case.check({}, Storage::double_buffers);
    if (this->HasFatalFailure()) return;
  }
}

// Garbage offsets would make an array index of any kernel that reads them.
TYPED_TEST(DeviceShapeTest, NumberOfSegmentsThatOnlyTheDeviceKnows) {
  const std::vector<std::uint64_t> lengths = giants_among_dwarfs();
  for (const std::size_t counted :
       {std::size_t{0}, std::size_t{1}, std::size_t{2'000}, lengths.size() - 1, lengths.size()}) {
    SCOPED_TRACE(counted);
    SegmentShape real = in_a_row("sound offsets behind the number", lengths);
    SegmentShape garbage = scattered(real, 2, 34);
    garbage.name = "garbage offsets behind the number";
    std::fill(garbage.begins.begin() + static_cast<std::ptrdiff_t>(counted), garbage.begins.end(),
              std::uint64_t{0x7ffffff0});
    std::fill(garbage.ends.begin() + static_cast<std::ptrdiff_t>(counted), garbage.ends.end(),
              std::uint64_t{0x7ffffff7});
    for (const SegmentShape& shape : {real, garbage}) {
      DeviceSortCase<typename TestFixture::Key> sort_case(
          shape, make_keys<typename TestFixture::Key>(KeyPattern::last_or_random, shape.num_items),
          {GuardedArray<std::uint32_t>::guard, counted});
      sort_case.check({Order::ascending, false});
      sort_case.check({Order::descending, true}, Storage::double_buffers);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sortie::test
