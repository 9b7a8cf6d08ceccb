// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apps/bench/segsort/paper_figures.hpp"
#include "apps/bench/segsort/tune.hpp"
#include "tests/support/backend.hpp"

namespace sortie::bench {
namespace {

// Eight of the largest tiles, and a segment that is shorter than the rest for most lengths.
constexpr std::uint64_t few_items = 65000;

TEST(TuneOnDevice, EveryCandidateSortsAndATableIsChosen) {
  const Tuning tuning = tune(test::context(), {few_items, 1, 7});
  const auto json = nlohmann::json::parse(tuning_json(tuning));
  EXPECT_EQ(json["items"], few_items);
  std::set<std::pair<int, int>> shapes;
  std::set<std::uint64_t> batched;
  for (const auto& time : json["times"]) {
    EXPECT_TRUE(time["agrees"]) << time;
    EXPECT_EQ(time["failure"], "") << time;
    EXPECT_GT(time["rate"], 0) << time;
    if (time["kernel"] == "batch") {
      batched.insert(time["length"].get<std::uint64_t>());
    } else {
      EXPECT_LE(time["length"], time["capacity"]);
      shapes.emplace(time["warps"].get<int>(), time["items"].get<int>());
    }
  }
  EXPECT_EQ(shapes.size(), 20u);
  EXPECT_EQ(*batched.begin(), 1u);
  EXPECT_EQ(*batched.rbegin(), 512u);
  EXPECT_EQ(json["best"].back()["length"], 8192);

  const auto& classes = json["chosen"]["classes"];
  ASSERT_FALSE(classes.empty());
  EXPECT_LE(classes.size(), most_block_classes);
  EXPECT_EQ(classes.back()["capacity"], 8192);
  for (std::size_t i = 1; i < classes.size(); ++i)
    EXPECT_LT(classes[i - 1]["capacity"], classes[i]["capacity"]);
  EXPECT_GT(json["chosen"]["summed_seconds"], 0);
}

TEST(TuneOnDevice, EveryBindingOfThePaperSorts) {
  const PaperFigures figures = paper_figures(test::context(), {few_items, 1, 7});
  const auto json = nlohmann::json::parse(paper_json(figures));
  // 30 bindings, 24 of them with two write methods, in blocks of four sizes.
  EXPECT_EQ(json["reg_sort"].size(), 216u);
  EXPECT_EQ(json["smem_merge"].size(), 30u);
  // Two bins, four lengths, two divisions.
  EXPECT_EQ(json["chunks"].size(), 16u);
  EXPECT_EQ(json["bins"].size(), 11u);
  for (const char* const figure : {"reg_sort", "smem_merge", "chunks"}) {
    for (const auto& time : json[figure]) {
      EXPECT_TRUE(time["agrees"]) << time;
      EXPECT_EQ(time["failure"], "") << time;
      EXPECT_GT(time["rate"], 0) << time;
    }
  }
  EXPECT_EQ(json["reg_sort"].front()["length"], 1);
  EXPECT_EQ(json["reg_sort"].back()["length"], 512);
  EXPECT_EQ(json["smem_merge"].back()["length"], 4096);
}

}  // namespace
}  // namespace sortie::bench
