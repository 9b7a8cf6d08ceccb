// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/bench/segsort/paper_figures.hpp"
#include "apps/bench/segsort/tune.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CandidateTime time_of(const TileShape& shape, std::uint64_t length, double seconds) {
  CandidateTime time;
  time.shape = shape;
  time.length = length;
  time.seconds = seconds;
  time.agrees = seconds > 0;
  return time;
}

// Tiles of 256, 512 and (twice) 1024, at lengths from 64 to 1024.
constexpr TileShape small{1, 8, 24};
constexpr TileShape middle{2, 8, 24};
constexpr TileShape large{4, 8, 20};
constexpr TileShape dense{2, 16, 20};

Tuning example() {
  Tuning tuning;
  tuning.items = 1000000000;
  tuning.times = {time_of({}, 1, 1),        time_of({}, 64, 2),     time_of(small, 64, 9),
                  time_of({}, 256, 5),      time_of(small, 256, 3), time_of(middle, 256, 4),
                  time_of(large, 256, 6),   time_of(dense, 256, 7), time_of(middle, 512, 3),
                  time_of(large, 512, 4.5), time_of(dense, 512, 4), time_of(large, 1024, 3),
                  time_of(dense, 1024, 3.5)};
  tuning.present = {256, {middle, large}, 0};
  tuning.present.seconds = summed_seconds(tuning.times, tuning.present);
  tuning.chosen = choose_table(tuning.times);
  return tuning;
}

TEST(Tune, LengthsAreCapacitiesAndThreeQuartersOfThem) {
  const std::vector<TileShape> shapes = {small, middle, large, dense};
  EXPECT_THAT(tuning_lengths(shapes), ElementsAre(96, 128, 192, 256, 384, 512, 768, 1024));
}

TEST(Tune, ATileThatIsMostlyEmptyTakesAsLongAsAFullOne) {
  const Tuning tuning = example();
  EXPECT_EQ(seconds_of(tuning.times, large, 512), 4.5);
  EXPECT_EQ(seconds_of(tuning.times, large, 64), 24);  // 4 times the tiles of length 256
  EXPECT_TRUE(std::isinf(seconds_of(tuning.times, middle, 1024)));
  EXPECT_TRUE(std::isinf(seconds_of(tuning.times, {16, 16}, 64)));
}

TEST(Tune, ALengthIsServedByTheSmallestBlockThatHoldsIt) {
  const Tuning tuning = example();
  EXPECT_EQ(summed_seconds(tuning.times, {256, {middle, large}, 0}), 2 + 5 + 3 + 3);
  EXPECT_EQ(summed_seconds(tuning.times, {64, {small, dense}, 0}), 2 + 3 + 4 + 3.5);
  EXPECT_EQ(summed_seconds(tuning.times, {64, {large}, 0}), 2 + 6 + 4.5 + 3);
  EXPECT_TRUE(std::isinf(summed_seconds(tuning.times, {256, {middle}, 0})));
}

TEST(Tune, ChoosesWhatTakesLeastInAll) {
  const BlockTable table = example().chosen;
  EXPECT_EQ(table.longest_in_warp, 64u);
  EXPECT_THAT(table.shapes, ElementsAre(small, middle, large));
  EXPECT_EQ(table.seconds, 2 + 3 + 3 + 3);
}

TEST(Tune, LeavesOutWhatIsWrong) {
  Tuning tuning = example();
  for (CandidateTime& time : tuning.times) {
    if (time.shape == large && time.length == 1024) time.agrees = false;
  }
  EXPECT_THAT(choose_table(tuning.times).shapes, ElementsAre(small, middle, dense));
  EXPECT_EQ(tuning.best(1024)->shape, dense);
  for (CandidateTime& time : tuning.times) time.agrees = false;
  tuning.chosen = choose_table(tuning.times);
  EXPECT_TRUE(tuning.chosen.shapes.empty());
  EXPECT_EQ(tuning.best(64), nullptr);
  EXPECT_THROW(static_cast<void>(tuning_header(tuning, "")), Error);
}

TEST(Tune, ChoosesNoMoreClassesThanThereIsRoomFor) {
  std::vector<CandidateTime> times = {time_of({}, 16, 1)};
  for (int warps = 1; warps <= 12; ++warps) {
    for (int longer = warps; longer <= 12; ++longer)
      times.push_back(time_of({longer, 8}, TileShape{warps, 8}.capacity(), 1.0 * longer / warps));
  }
  const BlockTable table = choose_table(times);
  EXPECT_EQ(table.shapes.size(), most_block_classes);
  EXPECT_EQ(table.shapes.back(), (TileShape{12, 8}));
}

TEST(Tune, WritesJsonTableAndHeader) {
  const Tuning tuning = example();
  const auto json = nlohmann::json::parse(tuning_json(tuning));
  EXPECT_EQ(json["times"].size(), 13u);
  EXPECT_EQ(json["times"][0]["kernel"], "batch");
  EXPECT_EQ(json["times"][2]["kernel"], "block");
  EXPECT_EQ(json["times"][2]["capacity"], 256);
  EXPECT_EQ(json["best"].size(), 5u);
  EXPECT_EQ(json["best"][1]["kernel"], "batch");
  EXPECT_EQ(json["best"][2]["warps"], 1);
  EXPECT_EQ(json["present"]["summed_seconds"], 13.0);
  EXPECT_EQ(json["chosen"]["classes"][2]["items"], 8);

  EXPECT_THAT(tuning_table(tuning),
              HasSubstr("chosen:  batches to 64, 1x8/24 to 256, "
                        "2x8/24 to 512, 4x8/20 to 1024: 11000.000 ms in total\n"));
  const std::string header = tuning_header(tuning, "a test");
  EXPECT_THAT(header, HasSubstr("a test.\n"));
  EXPECT_THAT(header, HasSubstr("inline constexpr int longest_in_warp = 64;\n"
                                "inline constexpr int block_classes = 3;\n"
                                "static_assert(block_classes % 2 == 0, "));
  EXPECT_THAT(header, HasSubstr("  int warps[block_classes] = {1, 2, 4};\n"
                                "  int items[block_classes] = {8, 8, 8};\n"
                                "  int of_block[block_classes] = {24, 24, 20};\n"));
}

TEST(Tune, WritesThePapersFigures) {
  PaperFigures figures;
  figures.items = 1000000000;
  PaperTime time;
  time.binding = {PaperBinding::Kernel::reg_sort, 2, 4, true};
  time.block_threads = 64;
  time.length = 8;
  time.seconds = 0.5;
  time.agrees = true;
  figures.reg_sort.push_back(time);
  const auto json = nlohmann::json::parse(paper_json(figures));
  EXPECT_EQ(json["reg_sort"][0]["write"], "striped");
  EXPECT_EQ(json["reg_sort"][0]["rate"], 2.0);
  EXPECT_TRUE(json["smem_merge"].empty());
  EXPECT_THAT(paper_table(figures), HasSubstr("strd 64\n     8      2:4     2.00\n"));
}

TEST(Tune, ChoosesTheFastestBinsOfThePaper) {
  PaperFigures figures;
  figures.items = 1000000000;
  const auto add = [&](PaperBinding binding, int block_threads, double seconds,
                       bool agrees = true) {
    PaperTime time;
    time.binding = binding;
    time.block_threads = block_threads;
    time.length = binding.length();
    time.seconds = seconds;
    time.agrees = agrees;
    (binding.kernel == PaperBinding::Kernel::reg_sort ? figures.reg_sort : figures.smem_merge)
        .push_back(time);
  };
  using Kernel = PaperBinding::Kernel;
  add({Kernel::reg_sort, 1, 1, false}, 128, 0.1);  // segments of one item need no bin
  add({Kernel::reg_sort, 16, 16, true}, 128, 0.5);
  add({Kernel::reg_sort, 32, 8, false}, 128, 0.4);
  add({Kernel::reg_sort, 32, 8, true}, 512, 0.1);          // not the block size of the bins
  add({Kernel::smem_merge, 64, 4, true}, 64, 0.2, false);  // wrong
  add({Kernel::smem_merge, 256, 8, true}, 256, 2);
  add({Kernel::smem_merge, 512, 4, true}, 512, 1);
  add({Kernel::smem_merge, 512, 8, true}, 512, 1);  // longer than the last bin
  const std::vector<PaperTime> bins = figures.bins();
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].length, 256u);
  EXPECT_EQ(bins[0].binding.threads, 32);
  EXPECT_EQ(bins[1].length, 2048u);
  EXPECT_EQ(bins[1].binding.threads, 512);
  EXPECT_THAT(
      paper_table(figures),
      HasSubstr("    Bin{Bin::Kind::registers, 256, 32, 8, false},  // 2.5 Gpairs/s\n"
                "    Bin{Bin::Kind::shared_memory, 2048, 512, 4, true},  // 1.0 Gpairs/s\n};\n"));
}

TEST(Tune, NeedsCuda) {
  Context context;
  context.backend = Backend::host;
  EXPECT_THROW(static_cast<void>(tune(context, {})), Error);
  EXPECT_THROW(static_cast<void>(paper_figures(context, {})), Error);
}

}  // namespace
}  // namespace sortie::bench
