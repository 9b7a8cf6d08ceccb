// SPDX-License-Identifier: Apache-2.0
#include "core/numa_node.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sortie {
namespace {

std::vector<int> cpus_of(const cpu_set_t& set) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

TEST(CpuList, IsRangesAndNumbers) {
  EXPECT_EQ(cpus_of(parse_cpu_list("0-3,8,10-11\n").value()),
            (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(cpus_of(parse_cpu_list("5").value()), std::vector<int>{5});
  for (const char* const wrong : {"", "\n", "a", "3-", "3-1", "1,", "1;2", "-1", "0-99999"})
    EXPECT_FALSE(parse_cpu_list(wrong)) << wrong;
}

TEST(NumaNode, BindsAThreadForAWhile) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (const int node : {-1, 0, 1, 4096}) {
    {
      const OnNumaNode bound(node);
      EXPECT_FALSE(node < 0 && bound.is_bound());
      cpu_set_t during;
      ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
      EXPECT_GT(CPU_COUNT(&during), 0);
      if (!bound.is_bound()) {
        EXPECT_TRUE(CPU_EQUAL(&during, &before)) << node;
      }
    }
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&after, &before)) << node;
  }
}

}  // namespace
}  // namespace sortie
