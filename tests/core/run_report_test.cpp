// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/phase_timer.hpp"
#include "sortie/run_report.hpp"
#include "sortie/version.hpp"

namespace {

using Json = nlohmann::json;

sortie::Context host_context() {
  sortie::Context context;
  context.backend = sortie::Backend::host;
  context.threads = 3;
  return context;
}

TEST(RunReport, PhasesKeepTheirOrderAndAddUp) {
  sortie::RunReport report;
  report.add_phase("read", 0.5, 100);
  report.add_phase("sort", 1);
  report.add_phase("read", 0.25, 11);
  ASSERT_EQ(report.phases().size(), 2U);
  EXPECT_EQ(report.phases()[0].name, "read");
  EXPECT_DOUBLE_EQ(report.phases()[0].seconds, 0.75);
  EXPECT_EQ(report.phases()[0].bytes, 111U);
  EXPECT_EQ(report.phases()[1].name, "sort");
}

TEST(RunReport, PhasesThatBeginInAnotherOneAreItsParts) {
  sortie::RunReport report;
  const std::size_t write = report.open_phase("write");
  report.add_phase("format", 0.5);
  report.add_pending_phase("copy", [] { return 0.25; });
  report.close_phase(write, 1, 10);
  report.add_phase("format", 2);
  // Phases need not be closed in the reverse order.
  const std::size_t first = report.open_phase("first");
  const std::size_t second = report.open_phase("second");
  report.close_phase(first, 1);
  report.add_phase("in second", 1);
  report.close_phase(second, 1);
  report.add_phase("last", 1);
  std::vector<std::string> found;
  for (const sortie::RunReport::Phase& phase : report.phases())
    found.push_back(phase.within + "/" + phase.name);
  EXPECT_EQ(found,
            (std::vector<std::string>{"/write", "write/format", "write/copy", "/format", "/first",
                                      "first/second", "first/second/in second", "/last"}));
  const Json json = Json::parse(report.to_json({}, host_context()))["phases"];
  EXPECT_EQ(json[1], Json::parse(R"({"name":"format","seconds":0.5,"bytes":0,"within":"write"})"));
  EXPECT_FALSE(json[3].contains("within"));
}

TEST(RunReport, APhaseMayContainOneOfItsName) {
  sortie::RunReport report;
  const std::size_t outer = report.open_phase("sort");
  const std::size_t inner = report.open_phase("sort");
  report.add_phase("scatter", 1);
  report.close_phase(inner, 2);
  report.close_phase(outer, 3);
  ASSERT_EQ(report.phases().size(), 3U);
  EXPECT_EQ(report.phases()[0].path(), "sort");
  EXPECT_DOUBLE_EQ(report.phases()[0].seconds, 3);
  EXPECT_EQ(report.phases()[1].path(), "sort/sort");
  EXPECT_EQ(report.phases()[2].path(), "sort/sort/scatter");
}

TEST(RunReport, PendingPhasesAreAskedOnceWhenLookedAt) {
  sortie::RunReport report;
  int asked = 0;
  report.add_pending_phase("sort", [&asked] { return ++asked, 0.5; });
  report.add_phase("write", 2);
  report.add_pending_phase("sort", [&asked] { return ++asked, 0.25; });
  report.add_pending_phase("write", [&asked] { return ++asked, 1.0; });
  EXPECT_EQ(asked, 0);
  ASSERT_EQ(report.phases().size(), 2U);
  EXPECT_EQ(report.phases()[0].name, "sort");
  EXPECT_DOUBLE_EQ(report.phases()[0].seconds, 0.75);
  EXPECT_DOUBLE_EQ(report.phases()[1].seconds, 3);
  EXPECT_EQ(asked, 3);
  report.add_pending_phase("sort", [] { return 0.25; });
  EXPECT_DOUBLE_EQ(Json::parse(report.to_json({}, host_context()))["phases"][0]["seconds"], 1);
}

TEST(RunReport, PendingPhasesDoNotPileUp) {
  sortie::RunReport report;
  int asked = 0;
  for (int i = 0; i < 100'000; ++i)
    report.add_pending_phase("step", [&asked] { return ++asked, 0.5; });
  EXPECT_GT(asked, 90'000);
  EXPECT_DOUBLE_EQ(report.phases().at(0).seconds, 50'000);
}

TEST(RunReport, LaterFiguresReplaceEarlierOnes) {
  sortie::RunReport report;
  report.set("rounds", std::int64_t{3});
  report.set("ratio", 0.5);
  report.set("rounds", std::int64_t{4});
  ASSERT_EQ(report.figures().size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(report.figures()[0].second), 4);
}

TEST(RunReport, JsonTellsWhatRanWhereAndForHowLong) {
  sortie::RunReport report;
  report.add_phase("read", 0.5, 100);
  report.set("nnz_c", std::uint64_t{~0ULL});
  report.set("verified", true);
  report.set("checksum", std::string("0123"));
  const Json json = Json::parse(report.to_json({"sortie", "spgemm", "a b.mtx"}, host_context()));

  EXPECT_EQ(json.at("version"), sortie::version());
  EXPECT_EQ(json.at("commit"), sortie::commit());
  EXPECT_EQ(json.at("command"), Json({"sortie", "spgemm", "a b.mtx"}));
  EXPECT_EQ(json.at("backend"), "host");
  EXPECT_EQ(json.at("threads"), 3);
  EXPECT_TRUE(json.at("gpu").is_null());
  EXPECT_EQ(json.at("phases"), Json::parse(R"([{"name":"read","seconds":0.5,"bytes":100}])"));
  EXPECT_EQ(json.at("figures"), Json({{"nnz_c", ~0ULL}, {"verified", true}, {"checksum", "0123"}}));
  EXPECT_GT(json.at("peak_host_bytes").get<std::uint64_t>(), 0U);
  EXPECT_EQ(json.at("peak_device_bytes"), 0);
  EXPECT_GE(json.at("wall_seconds").get<double>(), 0);
  EXPECT_GT(json.at("cpu_seconds").get<double>(), 0);
  EXPECT_FALSE(json.at("machine").at("hostname").get<std::string>().empty());
  EXPECT_FALSE(json.at("machine").at("cpu").get<std::string>().empty());
  EXPECT_GT(json.at("machine").at("cores").get<int>(), 0);
}

TEST(RunReport, AFileNameThatIsNotUtf8DoesNotSpoilIt) {
  const Json json =
      Json::parse(sortie::RunReport().to_json({"sortie", "\xff.mtx"}, host_context()));
  EXPECT_EQ(json.at("command")[1], "\xef\xbf\xbd.mtx");
}

TEST(PhaseTimer, AddsItsScopeOnce) {
  sortie::RunReport report;
  sortie::Context context;
  context.report = &report;
  {
    sortie::PhaseTimer timer(context, "wait", 5);
    ::usleep(2000);
    timer.set_bytes(7);
    EXPECT_GE(timer.stop(), 0.002);
  }
  ASSERT_EQ(report.phases().size(), 1U);
  EXPECT_EQ(report.phases()[0].bytes, 7U);
  EXPECT_GE(report.phases()[0].seconds, 0.002);
}

TEST(PhaseTimer, WorksWithoutAReport) {
  sortie::PhaseTimer timer({}, "nothing");
  EXPECT_GE(timer.stop(), 0);
}

}  // namespace
