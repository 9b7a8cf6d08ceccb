// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/results.hpp"

#include <algorithm>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/position_array.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// Shorter ranges would compare more symbols for their first entries than for all others.
constexpr std::uint64_t least_range = 1 << 14;

struct LastEntry {
  std::uint64_t exists = 0;
  std::uint64_t position = 0;
};

}  // namespace

template <Position Pos>
cluster::SuffixArrayShare<Pos> equal_share(Exchanges& exchanges, const Context& context,
                                           SlotShare<Pos> share) {
  const PhaseTimer timer(context, "equal shares");
  cluster::Ranks& ranks = exchanges.ranks();
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const EqualShares shares{ranks.sum(share.size), size};
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  std::vector<Pos>& suffixes = share.order.suffixes;
  const auto part = [&](std::uint64_t slot) {
    return std::clamp(slot, share.begin, share.begin + share.size);
  };
  const std::uint64_t kept_begin = part(shares.begin(rank));
  const std::uint64_t kept = part(shares.begin(rank + 1)) - kept_begin;
  // Most entries are where they belong: only the others move.
  std::vector<std::uint64_t> counts(size);
  std::vector<Pos> moved;
  ranks.together("divide slots", [&] {
    for (std::uint64_t to = 0; to < size; ++to) {
      if (to == rank) continue;
      const std::uint64_t begin = part(shares.begin(to));
      const std::uint64_t end = part(shares.begin(to + 1));
      counts[to] = end - begin;
      moved.insert(moved.end(), suffixes.data() + (begin - share.begin),
                   suffixes.data() + (end - share.begin));
    }
  });
  const auto received = exchanges.send(context, "receive slots", moved.data(), counts);
  cluster::SuffixArrayShare<Pos> result;
  result.begin = shares.begin(rank);
  ranks.together("join slots", [&] {
    // The capacity of the suffixes exceeds their number (first_sort.hpp), so they are rarely reallocated.
    const auto at = [&](std::uint64_t i) {
      return suffixes.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const std::uint64_t first = kept_begin - share.begin;
    suffixes.erase(at(first + kept), suffixes.end());
    suffixes.erase(suffixes.begin(), at(first));
    const Pos* const items = received.items.get();
    suffixes.insert(suffixes.end(), items + received.begins[rank], items + received.size());
    suffixes.insert(suffixes.begin(), items, items + received.begins[rank]);
    result.suffixes = std::move(suffixes);
  });
  return result;
}

template <Position Pos>
std::optional<Pos> entry_before(cluster::Ranks& ranks, std::span<const Pos> entries) {
  LastEntry own;
  if (!entries.empty()) own = {1, entries.back()};
  const std::vector<LastEntry> all = ranks.gather(own);
  std::optional<Pos> before;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks.rank()); ++rank)
    if (all[rank].exists != 0) before = static_cast<Pos>(all[rank].position);
  return before;
}

template <Position Pos>
std::vector<Pos> lcp_of_share(Exchanges& exchanges, const Context& context, const PackedText& text,
                              std::span<const Pos> entries) {
  const PhaseTimer timer(context, "lcp");
  cluster::Ranks& ranks = exchanges.ranks();
  const std::optional<Pos> before = entry_before(ranks, entries);
  PositionArray<Pos> permuted(exchanges, context, text.size(), Pos{0});
  std::vector<Pos> lcp;
  ranks.together("neighbours", [&] {
    require_budget(context, "LCP array", entries.size_bytes());
    lcp = allocate_vector<Pos>(entries.size());
    // Entry 0 of all has none before it, which is marked by its own position.
    for (std::size_t i = 0; i < entries.size(); ++i)
      lcp[i] = i > 0 ? entries[i - 1] : before.value_or(entries[0]);
  });
  permuted.store(entries, lcp);
  ranks.together("permuted lcp", [&] {
    const std::span<Pos> own = permuted.own();
    const std::uint64_t begin = permuted.own_begin();
    const std::uint64_t range = std::max(least_range, own.size() / worker_threads() + 1);
    for_each_range(std::uint64_t{own.size()}, range, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t common = 0;
      for (std::uint64_t i = first; i < last; ++i) {
        const std::uint64_t left = own[i];
        const std::uint64_t right = begin + i;
        common = left == right ? 0 : text.common_symbols(left, right, common);
        own[i] = static_cast<Pos>(common);
        if (common > 0) --common;
      }
    });
  });
  permuted.fetch(entries, lcp.data());
  return lcp;
}

template <Position Pos>
std::vector<std::uint8_t> symbols_before(const PackedText& text, std::span<const Pos> entries) {
  std::vector<std::uint8_t> symbols = allocate_vector<std::uint8_t>(entries.size());
  for_each_index(0, entries.size(), [&, to = symbols.data()](std::uint64_t i) {
    to[i] = text.symbol((entries[i] == 0 ? text.size() : entries[i]) - 1);
  });
  return symbols;
}

#define INSTANTIATE(Pos)                                                                           \
  template cluster::SuffixArrayShare<Pos> equal_share(Exchanges&, const Context&, SlotShare<Pos>); \
  template std::optional<Pos> entry_before(cluster::Ranks&, std::span<const Pos>);                 \
  template std::vector<Pos> lcp_of_share(Exchanges&, const Context&, const PackedText&,            \
                                         std::span<const Pos>);                                    \
  template std::vector<std::uint8_t> symbols_before(const PackedText&, std::span<const Pos>);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::suffix_array::on_ranks
