// SPDX-License-Identifier: Apache-2.0
#include "cluster/sorted_exchange.hpp"

namespace sortie::cluster {

PartExchange plan_exchange(Ranks& ranks, TrafficPlan& traffic,
                           std::span<const std::uint64_t> sent) {
  std::vector<std::uint64_t> counts;
  for (std::size_t other = 0; other + 1 < sent.size(); ++other)
    counts.push_back(sent[other + 1] - sent[other]);
  traffic.add_counts();
  return {{sent.begin(), sent.end()}, begins_of(ranks.exchange_counts(counts))};
}

void exchange_parts(Ranks& ranks, TrafficPlan& traffic, const PartExchange& plan,
                    std::span<const PartArray> arrays) {
  std::vector<SendPiece> sent;
  std::vector<ReceivePiece> received;
  for (const PartArray& array : arrays)
    traffic.add(plan.items_to_others(ranks.rank()), array.item_bytes);
  for (int other = 0; other < ranks.size(); ++other) {
    const auto r = static_cast<std::size_t>(other);
    for (const PartArray& array : arrays) {
      const std::uint64_t sent_items = plan.sent[r + 1] - plan.sent[r];
      sent.push_back(
          {other, {array.from + plan.sent[r] * array.item_bytes, sent_items * array.item_bytes}});
      received.push_back(
          {other,
           {array.to + plan.received[r] * array.item_bytes, plan.run(r) * array.item_bytes}});
    }
  }
  ranks.exchange(sent, received);
}

}  // namespace sortie::cluster
