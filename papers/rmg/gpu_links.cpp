// SPDX-License-Identifier: Apache-2.0
#include "papers/rmg/gpu_links.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "core/cuda/check.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "sortie/devices.hpp"

namespace sortie::papers {

namespace {

std::string host_link_of(int ordinal) {
  std::array<char, 32> bus_id{};
  check_cuda(cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), ordinal));
  std::string name = bus_id.data();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  std::error_code unknown;
  const auto path = std::filesystem::canonical("/sys/bus/pci/devices/" + name, unknown);
  return unknown ? name : root_port_of(path.string());
}

int peer_rank_of(int from, int to) {
  int access = 0;
  check_cuda(cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from, to));
  if (access == 0) return no_peer_access;
  int rank = 0;
  check_cuda(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to));
  return rank;
}

}  // namespace

GpuLinks links_of_gpus() {
  const int gpus = cuda_device_count();
  GpuLinks links;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    links.host_link.push_back(host_link_of(gpu));
    links.numa_node.push_back(multisort::numa_node_of(gpu));
    links.peer_rank.emplace_back(gpus, 0);
    for (int other = 0; other < gpus; ++other)
      if (other != gpu) links.peer_rank.back()[other] = peer_rank_of(gpu, other);
  }
  return links;
}

std::vector<int> best_linked(const std::vector<int>& ordinals) {
  const std::set<int> distinct(ordinals.begin(), ordinals.end());
  if (ordinals.size() < 2 || distinct.size() < ordinals.size() ||
      static_cast<int>(ordinals.size()) >= cuda_device_count())
    return ordinals;
  return choose_gpus(links_of_gpus(), ordinals.front(), static_cast<int>(ordinals.size()));
}

}  // namespace sortie::papers
