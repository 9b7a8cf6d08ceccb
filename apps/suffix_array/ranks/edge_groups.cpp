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

/// Boundary keys of a rank's shared groups.
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

template <Position Pos>
bool is_before(const EdgeItem<Pos>& left, const EdgeItem<Pos>& right) {
  return std::tie(left.key_high, left.key_low, left.position) <
         std::tie(right.key_high, right.key_low, right.position);
}

/// Above twice the length of any run.
constexpr std::uint64_t greatest_number = (std::uint64_t{1} << edge_number_bits) - 1;

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
void sort_edge_groups(Exchanges& exchanges, const Context& context,
                      std::vector<EdgeItem<Pos>> items, SlotShare<Pos>& share,
                      host::BitSet& joined) {
  cluster::Ranks& ranks = exchanges.ranks();
  const std::vector<std::uint64_t> sizes = ranks.gather(std::uint64_t{items.size()});
  ranks.together("sort edges", [&] { std::ranges::sort(items, is_before<Pos>); });
  const cluster::SortedItems sequence = cluster::sorted_items(
      items.size(), [&](std::uint64_t i) { return items[i].key(); }, std::less<std::uint64_t>{});
  const cluster::Splits splits = cluster::exact_splits(ranks, {&sequence, 1}, sizes);
  std::vector<std::uint64_t> counts(sizes.size());
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    counts[rank] = splits[0][rank + 1] - splits[0][rank];
  const auto received = exchanges.send(context, "receive edges", items.data(), counts);
  items = {};
  const std::span<EdgeItem<Pos>> mine(received.items.get(), received.size());
  ranks.together("order edges", [&] { std::ranges::sort(mine, is_before<Pos>); });

  EdgeKeys own{share.size, mine.size(), 0, 0};
  if (!mine.empty()) own = {share.size, mine.size(), mine.front().key(), mine.back().key()};
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
      while (leading < mine.size() && mine[leading].key() == all[left - 1].last) ++leading;
    if (share.after > 0)
      while (trailing < mine.size() && mine[mine.size() - 1 - trailing].key() == all[right].first)
        ++trailing;
    for (std::uint64_t i = 0; i < mine.size(); ++i) {
      share.order.suffixes[slot(i)] = static_cast<Pos>(mine[i].position);
      const bool is_joined = i == 0 ? leading > 0 : mine[i].key() == mine[i - 1].key();
      if (is_joined) joined.set(slot(i));
    }
    share.before = leading;
    share.after = trailing;
    if (trailing > 0) joined.set(share.size);
  });
}

template <Position Pos>
void sort_shared_runs(Exchanges& exchanges, const Context& context, const PackedText& text,
                      SlotShare<Pos>& share) {
  cluster::Ranks& ranks = exchanges.ranks();
  const LeftGroup left = find_left_group(ranks, share);
  std::vector<EdgeItem<Pos>> items;
  host::BitSet joined;
  ranks.together("shared runs", [&] {
    items.reserve(std::min(share.before + share.after, share.size));
    // Positions of a group ascend here, so those of one run follow each other.
    std::uint64_t run_end = 0;
    const auto add = [&](std::uint64_t group, std::uint64_t slot) {
      const std::uint64_t position = share.order.suffixes[slot];
      const std::uint64_t letter = text.stream().code(position);
      const bool is_in_run = position < run_end && text.stream().code(run_end - 1) == letter;
      if (!is_in_run) run_end = position + 1 + text.common_symbols(position, position + 1, 0);
      const std::uint64_t length = run_end - position;
      std::uint64_t number = 0;  // the group is not of runs: it stays as it is
      if (length >= share.edge_depth) {
        const std::uint64_t next = run_end == text.size() ? 0 : text.stream().code(run_end);
        number = next < letter ? length : greatest_number - length;
      }
      items.emplace_back(group, number, share.order.suffixes[slot]);
    };
    std::ranges::sort(share.order.suffixes.begin(),
                      share.order.suffixes.begin() + static_cast<std::ptrdiff_t>(share.before));
    for (std::uint64_t slot = 0; slot < share.before; ++slot) add(left.rank, slot);
    run_end = 0;
    const std::uint64_t after = share.is_inside_group() ? 0 : share.after;
    std::ranges::sort(share.order.suffixes.end() - static_cast<std::ptrdiff_t>(after),
                      share.order.suffixes.end());
    for (std::uint64_t slot = share.size - after; slot < share.size; ++slot)
      add(rank_of(ranks), slot);
    // The bits of shared groups are found anew.
    joined = share.order.joined;
    joined.clear_range(0, share.before);
    if (share.after > 0) joined.clear_range(share.size - share.after, share.size + 1);
  });
  if (ranks.sum(items.size()) == 0) return;
  sort_edge_groups(exchanges, context, std::move(items), share, joined);
  share.order.joined = std::move(joined);
}

#define INSTANTIATE(Pos)                                                                 \
  template LeftGroup find_left_group(cluster::Ranks&, const SlotShare<Pos>&);            \
  template void sort_edge_groups(Exchanges&, const Context&, std::vector<EdgeItem<Pos>>, \
                                 SlotShare<Pos>&, host::BitSet&);                        \
  template void sort_shared_runs(Exchanges&, const Context&, const PackedText&, SlotShare<Pos>&);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::suffix_array::on_ranks
