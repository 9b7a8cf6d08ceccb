// SPDX-License-Identifier: Apache-2.0

// The benchmark of the classic sorting algorithms: every row agrees with the reference.

#include <gtest/gtest.h>

#include <vector>

#include "apps/bench/sort/classics_bench.hpp"
#include "papers/classics/classics.hpp"

namespace sortie::test {
namespace {

TEST(ClassicsBench, RowsOfAllMethodsAreRight) {
  Context context;
  context.backend = Backend::cuda;
  bench::ClassicsOptions options;
  options.most_items = 1 << 13;
  options.repetitions = 1;
  const std::vector<bench::Row> rows = bench::time_classics(context, options, {});
  EXPECT_EQ(rows.size(), 3 * (1 + papers::classics::all().size() + 2 + 3));  // 2^10, 2^12 and 2^13
  for (const bench::Row& row : rows) {
    EXPECT_TRUE(row.agrees) << row.case_name << ", " << row.method << ": " << row.fault
                            << row.failure;
    if (row.method == "quicksort" || row.method == "sortie bitonic") {
      EXPECT_GE(row.transactions, row.items / 16);
    }
  }
}

TEST(ClassicsBench, RowsOfPairsAreRight) {
  Context context;
  context.backend = Backend::cuda;
  bench::ClassicsOptions options;
  options.most_items = 1 << 12;
  options.least_items = 1 << 12;
  options.are_pairs = true;
  options.repetitions = 1;
  options.cases = {"uniform", "few"};
  const std::vector<bench::Row> rows = bench::time_classics(context, options, {});
  EXPECT_EQ(rows.size(), 2 * (1 + papers::classics::all().size() + 2 + 3));
  EXPECT_EQ(rows.front().case_name, "2^12 pairs");
  EXPECT_EQ(rows.front().unit, "Gpairs/s");
  for (const bench::Row& row : rows)
    EXPECT_TRUE(row.agrees) << row.case_name << ", " << row.method << ": " << row.fault
                            << row.failure;
}

TEST(ClassicsBench, TakesDistributionsAndMethods) {
  Context context;
  context.backend = Backend::cuda;
  bench::ClassicsOptions options;
  options.most_items = 1 << 10;
  options.repetitions = 3;
  options.cases = {"uniform", "normal", "zipf:1", "equal"};
  options.methods = {"quicksort", "sample sort", "cub radix, 12 bits", "sortie bitonic"};
  const std::vector<bench::Row> rows = bench::time_classics(context, options, {});
  ASSERT_EQ(rows.size(), 4 * 4);
  EXPECT_EQ(rows[0].case_name, "2^10 keys");
  EXPECT_EQ(rows[4].case_name, "2^10 keys, normal");
  for (const bench::Row& row : rows) {
    EXPECT_TRUE(row.agrees) << row.case_name << ", " << row.method << ": " << row.fault;
    EXPECT_EQ(row.seconds.size(), 3u);
  }
}

}  // namespace
}  // namespace sortie::test
