// SPDX-License-Identifier: Apache-2.0

// The choice of GPUs by their links, on the machines of the thesis and on others.

#include "papers/rmg/gpu_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sortie::papers {
namespace {

using testing::ElementsAre;

/// \param link  link(a, b) is the rank of a pair
template <class Link>
GpuLinks machine(int gpus, int a_host_link, int a_node, const Link& link) {
  GpuLinks links;
  for (int a = 0; a < gpus; ++a) {
    links.host_link.push_back(std::to_string(a / a_host_link));
    links.numa_node.push_back(a / a_node);
    links.peer_rank.emplace_back(gpus, 0);
    for (int b = 0; b < gpus; ++b)
      if (a != b) links.peer_rank.back()[b] = link(a, b);
  }
  return links;
}

TEST(GpuSet, PairsOfTheAc922AreThoseWithNvlink) {
  const GpuLinks links =
      machine(4, 1, 2, [](int a, int b) { return a / 2 == b / 2 ? 0 : no_peer_access; });
  EXPECT_THAT(choose_gpus(links, 0, 2), ElementsAre(0, 1));
  EXPECT_THAT(choose_gpus(links, 3, 2), ElementsAre(2, 3));
  EXPECT_THAT(choose_gpus(links, 0, 4), ElementsAre(0, 1, 2, 3));
}

TEST(GpuSet, GpusOfTheDgxA100AreOnDifferentSwitches) {
  const GpuLinks links = machine(8, 2, 4, [](int, int) { return 0; });
  EXPECT_THAT(choose_gpus(links, 0, 4), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(choose_gpus(links, 0, 2), ElementsAre(0, 2));
  EXPECT_THAT(choose_gpus(links, 5, 2), ElementsAre(5, 6));
  EXPECT_THAT(choose_gpus(links, 5, 1), ElementsAre(5));
}

TEST(GpuSet, SlowestLinkCountsMost) {
  // A ring: neighbours are fast.
  const GpuLinks links = machine(6, 1, 6, [](int a, int b) {
    const int distance = (a - b + 6) % 6;
    return distance == 1 || distance == 5 ? 0 : 1;
  });
  EXPECT_THAT(choose_gpus(links, 0, 2), ElementsAre(0, 1));
  EXPECT_THAT(choose_gpus(links, 4, 2), ElementsAre(3, 4));
  EXPECT_THAT(choose_gpus(links, 0, 3), ElementsAre(0, 1, 2));
}

TEST(GpuSet, RootPorts) {
  EXPECT_EQ(root_port_of("/sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0"),
            "/sys/devices/pci0000:00/0000:00:01.1");
  EXPECT_EQ(root_port_of("/sys/devices/pci0000:00/0000:00:04.0"),
            "/sys/devices/pci0000:00/0000:00:04.0");
  EXPECT_EQ(root_port_of("/sys/devices/platform/gpu"), "/sys/devices/platform/gpu");
}

}  // namespace
}  // namespace sortie::papers
