// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/spgemm_bench.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::test {
namespace {

using bench::Method;
using bench::Row;

Method method(const std::string& name, std::string& log) {
  Method method;
  method.row.case_name = "case";
  method.row.method = name;
  method.prepare = [&log] { log += 'p'; };
  method.run = [&log, name] { log += name; };
  method.check = [&log] {
    log += '?';
    return true;
  };
  return method;
}

TEST(Measure, ChecksOnceThenTakesTurns) {
  std::string log;
  const auto rows = bench::measure({method("a", log), method("b", log)}, 2);
  EXPECT_EQ(log, "pa?pb?papbpapb");
  ASSERT_EQ(rows.size(), 2u);
  for (const Row& row : rows) {
    EXPECT_TRUE(row.agrees);
    EXPECT_EQ(row.seconds.size(), 2u);
    EXPECT_TRUE(row.allocating_seconds.empty());
    EXPECT_EQ(row.median_allocating_seconds(), 0);
  }
}

TEST(Measure, AllocatesAnewAfterAllTheRest) {
  std::string log;
  Method second = method("b", log);
  second.prepare_allocating = [&log] { log += 'A'; };
  const auto rows = bench::measure({method("a", log), second}, 2);
  EXPECT_EQ(log, "pa?pb?papbpapbAbAb");
  EXPECT_TRUE(rows[0].allocating_seconds.empty());
  EXPECT_EQ(rows[1].seconds.size(), 2u);
  EXPECT_EQ(rows[1].allocating_seconds.size(), 2u);
  EXPECT_GT(rows[1].median_allocating_seconds(), 0);
}

TEST(Measure, ComparesTheBitsOfAllRuns) {
  std::string log;
  Method same = method("a", log);
  Method other = method("b", log);
  same.digest = [] { return std::uint64_t{7}; };
  other.digest = [calls = std::uint64_t{0}]() mutable { return ++calls / 3; };
  const auto rows = bench::measure({same, other}, 3);
  EXPECT_EQ(log, "pa?pb?papbpapbpa");
  EXPECT_TRUE(rows[0].agrees);
  EXPECT_FALSE(rows[1].agrees);
  EXPECT_EQ(rows[1].fault, "repetition 2: other bits than in the first run");
}

TEST(Measure, FindsPhasesWhenAllTimesAreTaken) {
  std::string log;
  Method second = method("b", log);
  double seconds = 4;
  second.run_phases = [&] {
    log += 'P';
    return bench::PhaseSeconds{{"sort", --seconds}, {"rest", 0.5}};
  };
  const auto rows = bench::measure({method("a", log), second}, 3);
  EXPECT_EQ(log, "pa?pb?papbpapbpapbpPpPpP");
  EXPECT_TRUE(rows[0].phases.empty());
  EXPECT_EQ(rows[1].phases, (bench::PhaseSeconds{{"sort", 2}, {"rest", 0.5}}));
}

TEST(Measure, LeavesOutWhatFails) {
  std::string log;
  Method failing = method("f", log);
  failing.run = [&log, runs = 0]() mutable {
    log += 'f';
    if (++runs == 2) throw Error(ErrorKind::out_of_memory, "no memory");
  };
  failing.prepare_allocating = [&log] { log += 'A'; };
  const auto rows = bench::measure({failing, method("a", log)}, 3);
  EXPECT_EQ(log, "pf?pa?pfpapapa");
  EXPECT_EQ(rows[0].failure, "no memory");
  EXPECT_FALSE(rows[0].agrees);
  EXPECT_FALSE(rows[0].is_wrong());
  EXPECT_EQ(rows[1].seconds.size(), 3u);
}

Row product_row() {
  Row row;
  row.case_name = "gen:er:1M:4";
  row.method = "essc";
  row.backend = "cuda";
  row.items = 32'000'000;
  row.seconds = {0.004, 0.002, 0.003};
  row.allocating_seconds = {0.005};
  row.unit = "GFLOP/s";
  row.agrees = true;
  row.product = bench::ProductFigures{16'000'000, 15'999'000, 3 << 20, {}};
  return row;
}

TEST(SpgemmTable, HasALineARow) {
  const std::string text = bench::spgemm_table(std::vector<Row>{product_row(), {}}, true);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, testing::HasSubstr("median ms"));
  for (const char* part : {"gen:er:1M:4", " 3.000 ", " 5.000 ", " 10.67 ", " 16000000 ",
                           " 15999000 ", " 3.00 MiB ", " yes\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
}

TEST(SpgemmTable, ShowsPhasesWhereAsked) {
  Row row = product_row();
  row.phases = {{"counting", 0.001}, {"making", 0.0025}};
  const std::vector<Row> rows{row, product_row()};
  const std::string plain = bench::spgemm_table(rows, false);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), '\n'), 2);
  const std::string text = bench::spgemm_phase_table(rows, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, testing::HasSubstr("\n    counting 1.000 ms making 2.500 ms\n"));
}

TEST(Relate, ComparesEndToEndTimesWithTheBaselinePlusCopies) {
  Row resident;
  resident.method = "cub";
  resident.items = 1'000'000'000;
  resident.baseline = true;
  resident.agrees = true;
  resident.timed = "resident";
  resident.seconds = {1, 2, 3};
  Row copies = resident;
  copies.method = "copies";
  copies.baseline = false;
  copies.limit = true;
  copies.timed = "end to end";
  copies.seconds = {4, 4, 5};
  Row sort = copies;
  sort.method = "sort";
  sort.limit = false;
  sort.seconds = {3, 3};
  std::vector<Row> rows{resident, copies, sort, bench::with_copies(resident, copies)};
  EXPECT_EQ(rows[3].seconds, (std::vector<double>{5, 6, 8}));
  EXPECT_TRUE(rows[3].agrees);
  bench::relate(rows);
  EXPECT_TRUE(rows[0].ratios.empty());
  EXPECT_EQ(rows[0].percent_of_copy, 0);
  ASSERT_EQ(rows[2].ratios.size(), 1u);
  EXPECT_EQ(rows[2].ratios[0].first, "cub + copies");
  EXPECT_DOUBLE_EQ(rows[2].ratios[0].second, 2);
  EXPECT_EQ(nlohmann::json::parse(bench::json(rows))[2]["timed"], "end to end");

  copies.seconds.clear();
  copies.failure = "out of memory";
  const Row without = bench::with_copies(resident, copies);
  EXPECT_TRUE(without.seconds.empty());
  EXPECT_EQ(without.failure, "out of memory");
}

TEST(PhaseSeconds, LeaveARest) {
  RunReport report;
  report.add_phase("analysis", 1);
  report.add_phase("making", 2);
  EXPECT_EQ(bench::phase_seconds(report, 3.5),
            (bench::PhaseSeconds{{"analysis", 1}, {"making", 2}, {"rest", 0.5}}));
  EXPECT_EQ(bench::phase_seconds(report, 2.9).back(), std::pair(std::string("rest"), 0.0));
}

TEST(RowsAsJson, HaveFiguresOfProductsOnlyWhereThereAreSome) {
  Row on_host = product_row();
  on_host.allocating_seconds.clear();
  on_host.product->peak_work_space.reset();
  on_host.product->rows_by_products = {3, 0, 7};
  const auto rows =
      nlohmann::json::parse(bench::json(std::vector<Row>{product_row(), on_host, Row{}}));
  EXPECT_EQ(rows[0]["products"], 16'000'000);
  EXPECT_EQ(rows[0]["nnz_c"], 15'999'000);
  EXPECT_EQ(rows[0]["peak_work_space"], 3 << 20);
  EXPECT_EQ(rows[0]["allocating_seconds"], nlohmann::json::array({0.005}));
  EXPECT_EQ(rows[0]["median_allocating_seconds"], 0.005);
  EXPECT_TRUE(rows[1]["peak_work_space"].is_null());
  EXPECT_FALSE(rows[0].contains("rows_by_products"));
  EXPECT_EQ(rows[1]["rows_by_products"], nlohmann::json({{"1-1", 3}, {"4-7", 7}}));
  EXPECT_FALSE(rows[1].contains("allocating_seconds"));
  EXPECT_FALSE(rows[2].contains("products"));
  EXPECT_TRUE(rows[2].contains("median_seconds"));
}

}  // namespace
}  // namespace sortie::test
