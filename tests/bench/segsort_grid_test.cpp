// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apps/bench/segsort/segsort_grid.hpp"

namespace sortie::bench {
namespace {

GridPoint point(double exponent, std::uint64_t longest, double sortie, double cub) {
  GridPoint result;
  result.exponent = exponent;
  result.longest = longest;
  result.sortie_seconds = sortie;
  result.cub_seconds = cub;
  result.agrees = true;
  return result;
}

TEST(SegsortGrid, PartsMakeTheWhole) {
  const auto whole = grid_places(1, 1);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(grid_points));
  EXPECT_DOUBLE_EQ(whole.front().exponent, 0.1);
  EXPECT_EQ(whole.front().longest, 50u);
  EXPECT_DOUBLE_EQ(whole.back().exponent, 1.6);
  EXPECT_EQ(whole.back().longest, 2000u);
  for (const int parts : {1, 3, 7, grid_points}) {
    std::size_t next = 0;
    for (int part = 1; part <= parts; ++part) {
      for (const GridPoint& place : grid_places(part, parts)) {
        ASSERT_EQ(place.exponent, whole[next].exponent);
        ASSERT_EQ(place.longest, whole[next].longest);
        ++next;
      }
    }
    EXPECT_EQ(next, whole.size()) << parts;
  }
}

TEST(SegsortGrid, SummaryLeavesOutWhatHasNoResult) {
  const std::vector<GridPoint> points = {point(0.1, 50, 1, 4), point(0.1, 100, 2, 2),
                                         point(0.2, 50, 2, 1), point(0.2, 100, 0, 1)};
  EXPECT_EQ(grid_summary(points),
            "3 points: minimum speedup 0.50 (a=0.2, max 50), geometric mean 1.26, 1 points below "
            "1.0");
  const auto json = nlohmann::json::parse(grid_json(points));
  EXPECT_EQ(json["points"].size(), 4u);
  EXPECT_EQ(json["points"][0]["speedup"], 4.0);
  EXPECT_EQ(json["points"][0]["radix_seconds"], 0.0);
  EXPECT_EQ(json["summary"]["minimum_speedup"], 0.5);
  EXPECT_EQ(json["summary"]["minimum_at"]["longest"], 50);
  EXPECT_EQ(json["summary"]["points_below_one"], 1);
  EXPECT_THAT(grid_line(std::span(points).first(2)), testing::HasSubstr("minimum 1.00 (max 100)"));
  EXPECT_EQ(grid_summary({}), "0 points: no result");
}

}  // namespace
}  // namespace sortie::bench
