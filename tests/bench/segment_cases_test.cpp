// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/bench/segsort/segment_cases.hpp"
#include "core/random.hpp"

namespace sortie::bench {
namespace {

TEST(SegmentCases, TileTheItemsAndKeepToTheLongest) {
  for (const std::string& name : segment_case_names()) {
    for (const std::uint64_t items : {1u, 2u, 63u, 64u, 65u, 100000u}) {
      const SegmentCase segments = make_segment_case(name, items, 1);
      EXPECT_EQ(segments.offsets.front(), 0u) << name;
      EXPECT_EQ(segments.items(), items) << name;
      const std::uint64_t longest = parse_segment_case(name).longest_of(items);
      for (std::uint64_t i = 0; i < segments.segments(); ++i) {
        ASSERT_LE(segments.offsets[i + 1] - segments.offsets[i], longest) << name << ' ' << items;
      }
    }
  }
}

TEST(SegmentCases, NamesMayHoldOtherNumbers) {
  EXPECT_EQ(parse_segment_case("length 7").length, 7u);
  const SegmentShape law = parse_segment_case("power law a=0.35 max 777");
  EXPECT_EQ(law.kind, SegmentShape::Kind::power_law);
  EXPECT_DOUBLE_EQ(law.exponent, 0.35);
  EXPECT_EQ(law.longest, 777u);
}

TEST(SegmentCases, DiscardingIsDrawing) {
  Random drawn(5);
  for (int i = 0; i < 3; ++i) static_cast<void>(drawn.next());
  Random discarded(5);
  discarded.discard(3);
  EXPECT_EQ(drawn.next(), discarded.next());
}

}  // namespace
}  // namespace sortie::bench
