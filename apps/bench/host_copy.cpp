#include "sortie/apps/bench/host_copy.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "sortie/core/host_runtime.hpp"

namespace sortie::bench {

void copy_by_threads(std::span<const std::byte> from, std::span<std::byte> to) {
  const auto threads = static_cast<std::size_t>(std::max(host_threads(), 1));
  const std::size_t share = (from.size() + threads - 1) / threads;
  std::vector<std::jthread> team;
  for (std::size_t begin = 0; begin < from.size(); begin += share) {
    team.emplace_back([=] {
      std::memcpy(to.data() + begin, from.data() + begin, std::min(share, from.size() - begin));
    });
  }
}

}  // namespace sortie::bench
