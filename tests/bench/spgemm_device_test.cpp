// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/spgemm_bench.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/pool_bytes.hpp"

namespace sortie::test {
namespace {

using bench::Row;

TEST(SpgemmBenchOnTheDevice, HasARowAMethodAndItsFigures) {
  bench::SpgemmOptions options;
  options.sources = {"gen:powerlaw:20000:1.5:300"};
  options.repetitions = 2;
  const std::vector<Row> rows = bench::spgemm(context(), options, {});
  std::set<std::string> methods;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.method);
    EXPECT_TRUE(methods.insert(row.method).second);
    EXPECT_EQ(row.case_name, "gen:powerlaw:20000:1.5:300 on the device");
    if (!row.failure.empty()) continue;  // cuSPARSE may refuse; Sortie's own are looked at below
    EXPECT_TRUE(row.agrees) << row.fault;
    EXPECT_EQ(row.seconds.size(), 2u);
    EXPECT_EQ(row.allocating_seconds.size(), 2u);
    ASSERT_TRUE(row.product);
    EXPECT_GT(row.product->nnz_c, 0);
    EXPECT_GE(row.product->products, row.product->nnz_c);
    EXPECT_TRUE(row.product->peak_work_space);
  }
  for (const char* own : {"essc", "esc"}) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& candidate) { return candidate.method == own; });
    ASSERT_NE(row, rows.end()) << own;
    EXPECT_EQ(row->failure, "");
    // A key and a product of each at least, beside C.
    EXPECT_GE(row->product->peak_work_space.value_or(0),
              12 * static_cast<std::uint64_t>(row->product->products));
  }
  EXPECT_EQ(methods.count("cusparse-reuse"), 1u);
  EXPECT_EQ(methods.count("cusparse-reuse values"), 1u);
  EXPECT_EQ(methods.count("fused values"), 1u);
}

/// The row of a method, whose result must be right.
const Row& row_of(const std::vector<Row>& rows, std::string_view method) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& candidate) { return candidate.method == method; });
  if (row == rows.end()) throw std::runtime_error("no row of " + std::string(method));
  EXPECT_TRUE(row->agrees) << row->fault << row->failure;
  return *row;
}

std::vector<std::string> phase_names(const Row& row) {
  std::vector<std::string> names;
  for (const auto& [name, seconds] : row.phases) names.push_back(name);
  return names;
}

// By events, in runs beside those that are timed; together they are what a run takes.
TEST(SpgemmBenchOnTheDevice, PhasesShareTheTimeOfAProduct) {
  bench::SpgemmOptions options;
  options.sources = {"gen:er:60000:30"};
  options.repetitions = 5;
  options.checked_by = spgemm::Algorithm::row_wise;
  options.algorithms = {spgemm::Algorithm::essc, spgemm::Algorithm::fused};
  const std::vector<Row> rows = bench::spgemm(context(), options, {});
  ASSERT_EQ(rows.size(), 3u);
  const Row& essc = row_of(rows, "essc");
  const Row& fused = row_of(rows, "fused");
  EXPECT_THAT(phase_names(essc),
              testing::ElementsAre("analysis", "expansion", "sort", "compression", "rest"));
  EXPECT_THAT(phase_names(fused), testing::ElementsAre("analysis", "counting", "making", "rest"));
  EXPECT_TRUE(row_of(rows, "fused values").phases.empty());
  for (const Row* row : {&essc, &fused}) {
    double sum = 0;
    for (const auto& [name, seconds] : row->phases) {
      EXPECT_GE(seconds, 0) << name;
      sum += seconds;
    }
    // Measured in runs of their own: other programs on the same GPU make either several times as
    // long. A wrong unit makes a factor of 1000.
    EXPECT_LT(sum, 30 * row->max_seconds());
    EXPECT_GT(sum, row->min_seconds() / 30);
  }
}

TEST(SpgemmBenchOnTheDevice, MultipliesComplexMatrices) {
  bench::SpgemmOptions options;
  options.sources = {SORTIE_TEST_DATA "/matrices/valid/young1c.mtx"};
  options.repetitions = 1;
  const std::vector<Row> rows = bench::spgemm(context(), options, {});
  for (const char* method : {"essc", "fused", "fused values", "esc", "cusparse"}) {
    SCOPED_TRACE(method);
    EXPECT_GT(row_of(rows, method).median_seconds(), 0);
  }
}

TEST(SpgemmBenchOnTheDevice, MultipliesByTheTransposeWithoutEntries) {
  bench::SpgemmOptions options;
  options.sources = {SORTIE_TEST_DATA "/matrices/valid/3by0.mtx",
                     SORTIE_TEST_DATA "/matrices/valid/5_by_3_no_entries.mtx"};
  options.repetitions = 1;
  options.transpose_b = true;
  for (const Row& row : bench::spgemm(context(), options, {}))
    EXPECT_TRUE(row.agrees) << row.case_name << ' ' << row.method << row.fault << row.failure;
}

TEST(SpgemmBenchOnTheDevice, HostMemoryToHostMemoryWhereAsked) {
  bench::SpgemmOptions options;
  options.sources = {"gen:er:2000:4"};
  options.repetitions = 1;
  options.algorithms = {spgemm::Algorithm::essc};
  options.transfers = true;
  const std::vector<Row> rows = bench::spgemm(context(), options, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].case_name, "gen:er:2000:4 on the device");
  EXPECT_EQ(rows[1].case_name, "gen:er:2000:4");
  EXPECT_TRUE(rows[1].allocating_seconds.empty());
}

TEST(DevicePool, TellsWhatIsInUseAndGivesTheRestBack) {
  const DeviceCall on_device(context());
  check_cuda(cudaStreamSynchronize(on_device.stream));
  const std::uint64_t before = device_memory_in_use();
  constexpr std::size_t bytes = std::size_t{64} << 20;
  {
    const DeviceBuffer<char> buffer(bytes, on_device.stream);
    EXPECT_GE(device_memory_in_use(), before + bytes);
  }
  check_cuda(cudaStreamSynchronize(on_device.stream));
  EXPECT_EQ(device_memory_in_use(), before);
  const std::uint64_t held = pool_bytes();
  EXPECT_GE(held, before + bytes);
  release_unused_device_memory();
  EXPECT_LE(pool_bytes() + bytes, held);
}

}  // namespace
}  // namespace sortie::test
