// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/exchange.hpp"

#include <algorithm>
#include <utility>

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

namespace {

/// Collects transfers in the order of the destinations' items.
class Collector {
 public:
  Collector(std::size_t sources, std::size_t destinations)
      : exchange_{std::vector<std::vector<Transfer>>(sources),
                  std::vector<std::uint64_t>(destinations)},
        sent_(sources) {}

  /// The next `size` items of `source` go to the end of `destination`.
  void send(std::size_t source, std::size_t destination, std::uint64_t size) {
    if (size == 0) return;
    std::uint64_t& received = exchange_.destination_sizes[destination];
    add_transfer(exchange_.by_source[source], {source, destination, sent_[source], received, size});
    sent_[source] += size;
    received += size;
  }

  [[nodiscard]] Exchange take() {
    rotate_transfers(exchange_.by_source, exchange_.destination_sizes.size());
    return std::move(exchange_);
  }

 private:
  Exchange exchange_;
  std::vector<std::uint64_t> sent_;
};

}  // namespace

Exchange exchange_of_buckets(const RadixPartition& partition) {
  const std::vector<Border>& borders = partition.borders();
  const std::size_t sources = partition.problem().source_sizes.size();
  Collector collector(sources, borders.size() - 1);
  std::size_t destination = 0;
  for (std::size_t b = 0; b < partition.buckets().size(); ++b) {
    const Bucket& bucket = partition.buckets()[b];
    std::uint64_t offset = 0;  // within the bucket
    for (std::size_t source = 0; source < sources; ++source) {
      for (std::uint64_t left = bucket.counts[source]; left > 0;) {
        // Find the destination that ends in this bucket or after it.
        while (borders[destination + 1].bucket < b ||
               (borders[destination + 1].bucket == b && borders[destination + 1].offset <= offset))
          ++destination;
        const Border& end = borders[destination + 1];
        const std::uint64_t space = end.bucket == b ? end.offset - offset : left;
        const std::uint64_t size = std::min(left, space);
        collector.send(source, destination, size);
        offset += size;
        left -= size;
      }
    }
  }
  return collector.take();
}

Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits) {
  const std::size_t destinations = splits.size() - 1;
  const std::size_t sources = splits.front().size();
  Collector collector(sources, destinations);
  for (std::size_t destination = 0; destination < destinations; ++destination)
    for (std::size_t source = 0; source < sources; ++source)
      collector.send(source, destination,
                     splits[destination + 1][source] - splits[destination][source]);
  return collector.take();
}

}  // namespace sortie::multisort::plan
