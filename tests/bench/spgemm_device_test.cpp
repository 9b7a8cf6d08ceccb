#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sortie/apps/bench/spgemm_bench.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/cuda/device_pool.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/devices.hpp"
#include "support/backend.hpp"

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
  const Context on_device = context();
  const DeviceScope scope(on_device);
  check_cuda(cudaStreamSynchronize(on_device.stream));
  const std::uint64_t before = device_memory_in_use();
  constexpr std::size_t bytes = std::size_t{64} << 20;
  {
    const DeviceBuffer<char> buffer(bytes, on_device.stream);
    EXPECT_GE(device_memory_in_use(), before + bytes);
  }
  check_cuda(cudaStreamSynchronize(on_device.stream));
  EXPECT_EQ(device_memory_in_use(), before);
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free_before, &total));
  release_unused_device_memory();
  check_cuda(cudaMemGetInfo(&free_after, &total));
  EXPECT_GE(free_after, free_before + bytes);
}

}  // namespace
}  // namespace sortie::test
