// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/edge_groups.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "cluster/exact_splits.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// What a rank tells the others of its shared groups.
struct EdgeKeys {
  std::uint64_t size = 0;   ///< slots of the rank
  std::uint64_t items = 0;  ///< of shared groups
  std::uint64_t first = 0;  ///< keys
  std::uint64_t last = 0;
};

struct LastHead {
  std::uint64_t slot = 0;
  std::uint64_t exists = 0;
};

bool is_before(const EdgeItem& left, const EdgeItem& right) {
  return std::tie(left.key, left.position) < std::tie(right.key, right.position);
}

std::uint64_t rank_of(const cluster::Ranks& ranks) {
  return static_cast<std::uint64_t>(ranks.rank());
}

}  // namespace

template <Position Pos>
LeftGroup find_left_group(cluster::Ranks& ranks, const SlotShare<Pos>& share) {
  const std::uint64_t head = share.order.joined.last_clear(0, share.size);
  const bool exists = share.size > 0 && head < share.size;
  const std::vector<LastHead> heads =
      ranks.gather(LastHead{share.begin + head, exists ? std::uint64_t{1} : 0});
  LeftGroup group;
  for (std::uint64_t rank = 0; rank < rank_of(ranks); ++rank)
    if (heads[rank].exists != 0) group = {heads[rank].slot, rank};
  return group;
}

template <Position Pos>
void sort_edge_groups(Exchanges& exchanges, const Context& context, std::vector<EdgeItem> items,
                      SlotShare<Pos>& share, host::BitSet& joined) {
  cluster::Ranks& ranks = exchanges.ranks();
  const std::vector<std::uint64_t> sizes = ranks.gather(std::uint64_t{items.size()});
  ranks.together("sort edges", [&] { std::ranges::sort(items, is_before); });
  const cluster::SortedItems sequence = cluster::sorted_items(
      items.size(), [&](std::uint64_t i) { return items[i].key; }, std::less<std::uint64_t>{});
  const cluster::Splits splits = exchanges.search([&] {
    return cluster::exact_splits(ranks, {&sequence, 1}, sizes);
  });
  std::vector<std::uint64_t> counts(sizes.size());
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    counts[rank] = splits[0][rank + 1] - splits[0][rank];
  const auto received = exchanges.send(context, "receive edges", items.data(), counts);
  items = {};
  const std::span<EdgeItem> mine(received.items.get(), received.size());
  ranks.together("order edges", [&] { std::ranges::sort(mine, is_before); });

  EdgeKeys own{share.size, mine.size(), 0, 0};
  if (!mine.empty()) own = {share.size, mine.size(), mine.front().key, mine.back().key};
  const std::vector<EdgeKeys> all = ranks.gather(own);
  ranks.together("place edges", [&] {
    const std::uint64_t before = share.before;
    // The slot of an item.
    const auto slot = [&, after = share.size - (mine.size() - before)](std::uint64_t i) {
      return i < before ? i : after + i - before;
    };
    std::uint64_t left = rank_of(ranks);
    while (left > 0 && all[left - 1].size == 0) --left;
    std::uint64_t right = rank_of(ranks) + 1;
    while (right < all.size() && all[right].size == 0) ++right;
    // Leading and trailing items whose groups go on.
    std::uint64_t leading = 0;
    std::uint64_t trailing = 0;
    if (share.before > 0)
      while (leading < mine.size() && mine[leading].key == all[left - 1].last) ++leading;
    if (share.after > 0)
      while (trailing < mine.size() && mine[mine.size() - 1 - trailing].key == all[right].first)
        ++trailing;
    for (std::uint64_t i = 0; i < mine.size(); ++i) {
      share.order.suffixes[slot(i)] = static_cast<Pos>(mine[i].position);
      const bool is_joined = i == 0 ? leading > 0 : mine[i].key == mine[i - 1].key;
      if (is_joined) joined.set(slot(i));
    }
    share.before = leading;
    share.after = trailing;
    if (trailing > 0) joined.set(share.size);
  });
}

#define INSTANTIATE(Pos)                                                            \
  template LeftGroup find_left_group(cluster::Ranks&, const SlotShare<Pos>&);       \
  template void sort_edge_groups(Exchanges&, const Context&, std::vector<EdgeItem>, \
                                 SlotShare<Pos>&, host::BitSet&);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::suffix_array::on_ranks
