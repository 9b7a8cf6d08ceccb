// SPDX-License-Identifier: Apache-2.0
#include "cluster/sorted_exchange.hpp"

#include <fmt/format.h>

#include "sortie/error.hpp"

namespace sortie::cluster {

PartExchange plan_exchange(Ranks& ranks, std::span<const std::uint64_t> sent) {
  std::vector<std::uint64_t> counts;
  for (std::size_t other = 0; other + 1 < sent.size(); ++other)
    counts.push_back(sent[other + 1] - sent[other]);
  return {{sent.begin(), sent.end()}, begins_of(ranks.exchange_counts(counts))};
}

std::uint64_t exchange_parts(Ranks& ranks, const PartExchange& plan,
                             std::span<const PartArray> arrays) {
  std::vector<SendPiece> sent;
  std::vector<ReceivePiece> received;
  std::uint64_t planned = 0;
  for (const PartArray& array : arrays)
    planned += plan.planned_bytes(ranks.rank(), array.item_bytes);
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
  const std::uint64_t before = ranks.traffic().exchanged_bytes;
  ranks.exchange(sent, received);
  const std::uint64_t counted = ranks.traffic().exchanged_bytes - before;
  ranks.together("check exchange", [&] {
    if (counted == planned) return;
    throw Error(ErrorKind::check, fmt::format("exchange: found {} bytes sent, expected {}, as "
                                              "planned",
                                              counted, planned));
  });
  return planned;
}

}  // namespace sortie::cluster
