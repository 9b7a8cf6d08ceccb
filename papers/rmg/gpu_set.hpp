// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Which GPUs of a machine sort an array, by the links between them (Ilic: RMG Sort, 2022, section
/// 5.1.3). The thesis chose the sets by hand, and its program takes them as an argument.
namespace sortie::papers {

/// Rank of a pair of GPUs without peer access.
inline constexpr int no_peer_access = std::numeric_limits<int>::max() / 2;

/// How the GPUs of a machine are linked.
struct GpuLinks {
  /// [from][to]: 0 for the fastest links of the machine; no_peer_access
  std::vector<std::vector<int>> peer_rank;
  /// GPUs of the same name share a link to the host.
  std::vector<std::string> host_link;
  std::vector<int> numa_node;  ///< negative: unknown
};

/// The PCIe root port above a device, from its path in /sys/devices; the device itself where there is
/// no bridge, as in most virtual machines. Devices below one root port share its link to the host.
[[nodiscard]] inline std::string root_port_of(std::string_view path) {
  const std::size_t bus = path.find("/pci");
  if (bus == std::string_view::npos) return std::string(path);
  const std::size_t port = path.find('/', bus + 1);
  if (port == std::string_view::npos) return std::string(path);
  return std::string(path.substr(0, path.find('/', port + 1)));
}

/// The `count` GPUs that sort fastest together, `first` among them, in ascending order. In this order
/// of importance: the slowest link between two of them, the sum of the ranks of all links, how many
/// share a link to the host, how many are on another NUMA node than `first`, small numbers.
/// \pre 1 <= count <= number of GPUs; first is one of them
/// Complexity: all sets are compared; 12,870 for 8 of 16 GPUs.
[[nodiscard]] inline std::vector<int> choose_gpus(const GpuLinks& links, int first, int count) {
  const int gpus = static_cast<int>(links.peer_rank.size());
  const auto cost_of = [&](const std::vector<int>& set) {
    std::array<long long, 4> cost{};
    for (const int a : set) {
      long long sharers = 0;
      for (const int b : set) {
        if (links.host_link[a] == links.host_link[b]) ++sharers;
        if (a == b) continue;
        cost[0] = std::max<long long>(cost[0], links.peer_rank[a][b]);
        cost[1] += links.peer_rank[a][b];
      }
      cost[2] = std::max(cost[2], sharers);
      if (links.numa_node[a] != links.numa_node[first]) ++cost[3];
    }
    return cost;
  };
  std::vector<int> best;
  std::array<long long, 4> best_cost{};
  std::vector<int> set;
  const auto extend = [&](const auto& self, int next) -> void {
    if (static_cast<int>(set.size()) == count) {
      if (std::find(set.begin(), set.end(), first) == set.end()) return;
      const auto cost = cost_of(set);
      if (!best.empty() && cost >= best_cost) return;
      best = set;
      best_cost = cost;
      return;
    }
    for (int gpu = next; gpu <= gpus - (count - static_cast<int>(set.size())); ++gpu) {
      set.push_back(gpu);
      self(self, gpu + 1);
      set.pop_back();
    }
  };
  extend(extend, 0);
  return best;
}

}  // namespace sortie::papers
