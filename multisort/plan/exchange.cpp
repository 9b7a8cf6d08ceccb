// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/exchange.hpp"

#include <algorithm>

namespace sortie::multisort::plan {

void add_transfer(std::vector<Transfer>& transfers, const Transfer& transfer) {
  if (!transfers.empty()) {
    Transfer& last = transfers.back();
    if (last.destination == transfer.destination &&
        last.source_begin + last.size == transfer.source_begin &&
        last.destination_begin + last.size == transfer.destination_begin) {
      last.size += transfer.size;
      return;
    }
  }
  transfers.push_back(transfer);
}

void rotate_transfers(std::vector<std::vector<Transfer>>& by_source, std::size_t destinations) {
  for (std::size_t source = 0; source < by_source.size(); ++source) {
    // Step 0 is the source's own share. With more sources than destinations the steps wrap around.
    const auto step = [&](const Transfer& transfer) {
      return (transfer.destination + destinations - source % destinations) % destinations;
    };
    std::stable_sort(by_source[source].begin(), by_source[source].end(),
                     [&](const Transfer& a, const Transfer& b) { return step(a) < step(b); });
  }
}

Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits) {
  const std::size_t sources = splits.front().size();
  Exchange exchange{std::vector<std::vector<Transfer>>(sources),
                    std::vector<std::uint64_t>(splits.size() - 1)};
  for (std::size_t d = 0; d + 1 < splits.size(); ++d) {
    std::uint64_t& received = exchange.destination_sizes[d];
    for (std::size_t source = 0; source < sources; ++source) {
      const std::uint64_t begin = splits[d][source];
      const std::uint64_t size = splits[d + 1][source] - begin;
      if (size != 0) add_transfer(exchange.by_source[source], {source, d, begin, received, size});
      received += size;
    }
  }
  rotate_transfers(exchange.by_source, exchange.destination_sizes.size());
  return exchange;
}

}  // namespace sortie::multisort::plan
