// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/edge_groups.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
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

constexpr std::uint64_t greatest_number = (std::uint64_t{1} << edge_number_bits) - 1;

std::uint64_t rank_of(const cluster::Ranks& ranks) {
  return static_cast<std::uint64_t>(ranks.rank());
}

/// Slots of a task, a multiple of the bits of a word of BitSet.
constexpr std::uint64_t task_slots = std::uint64_t{1} << 14;

/// Sorts the groups that no other rank shares by the text up to `limit` symbols.
template <Position Pos>
void sort_own_groups(const PackedText& text, SlotShare<Pos>& share, std::uint64_t limit) {
  host::BitSet next(share.size + 1);
  next.set_range(0, share.before);
  if (share.after > 0) next.set_range(share.size - share.after + 1, share.size + 1);
  for_each_range(share.size, task_slots, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> elements;
    std::vector<std::uint64_t> scratch(std::min(share.size, task_slots));
    const host::TextRounds rounds(text.stream(), text.plan(), std::span(scratch), limit);
    share.order.joined.for_each_joined(
        begin, end, share.size, [&](std::uint64_t first, std::uint64_t last) {
          if (last + share.after > share.size) return;
          Pos* const suffixes = share.order.suffixes.data() + first;
          elements.assign(suffixes, suffixes + (last - first));
          rounds.sort(elements.data(), 0, last - first, text.plan().depth(),
                      [&](std::uint64_t from, std::uint64_t to) {
                        next.set_range(first + from + 1, first + to);
                      });
          for (std::uint64_t i = 0; i < last - first; ++i)
            suffixes[i] = static_cast<Pos>(text.plan().position_of(elements[i]));
        });
  });
  std::swap(share.order.joined, next);
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
                      const std::function<std::uint64_t(std::uint64_t)>& number_of,
                      const std::function<bool(std::uint64_t)>& is_final, SlotShare<Pos>& share) {
  cluster::Ranks& ranks = exchanges.ranks();
  const LeftGroup left_group = find_left_group(ranks, share);
  std::vector<EdgeItem<Pos>> items;
  ranks.together("edges", [&] {
    const auto add = [&](std::uint64_t group, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t slot = begin; slot < end; ++slot) {
        const Pos position = share.order.suffixes[slot];
        items.emplace_back(group, number_of(position), position);
      }
    };
    const std::uint64_t after = share.is_inside_group() ? 0 : share.after;
    items.reserve(share.before + after);
    add(left_group.rank, 0, share.before);
    add(rank_of(ranks), share.size - after, share.size);
  });
  const std::vector<std::uint64_t> sizes = ranks.gather(std::uint64_t{items.size()});
  ranks.together("sort edges", [&] { std::ranges::sort(items, is_before<Pos>); });
  const cluster::SortedItems sequence = cluster::sorted_items(
      items.size(), [&](std::uint64_t i) { return items[i]; }, is_before<Pos>);
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
    host::BitSet& joined = share.order.joined;
    joined.clear_range(0, before);
    if (share.after > 0) joined.clear_range(share.size - share.after, share.size + 1);
    const auto are_joined = [&](std::uint64_t key, std::uint64_t other) {
      return key == other && !is_final(key & greatest_number);
    };
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
      while (leading < mine.size() && are_joined(mine[leading].key(), all[left - 1].last))
        ++leading;
    if (share.after > 0)
      while (trailing < mine.size() &&
             are_joined(mine[mine.size() - 1 - trailing].key(), all[right].first))
        ++trailing;
    for (std::uint64_t i = 0; i < mine.size(); ++i) {
      share.order.suffixes[slot(i)] = static_cast<Pos>(mine[i].position);
      const bool is_joined = i == 0 ? leading > 0 : are_joined(mine[i].key(), mine[i - 1].key());
      if (is_joined) joined.set(slot(i));
    }
    share.before = leading;
    share.after = trailing;
    if (trailing > 0) joined.set(share.size);
  });
}

template <Position Pos>
void sort_edges_by_text(Exchanges& exchanges, const Context& context, const PackedText& text,
                        SlotShare<Pos>& share) {
  cluster::Ranks& ranks = exchanges.ranks();
  const host::SymbolStream& stream = text.stream();
  const int bits = stream.bits();
  const int symbols = std::min(stream.symbols(), edge_number_bits / bits);
  const std::uint64_t limit = host::TextRounds::depth_limit(text.plan(), stream);
  const auto has_edges = [&] { return ranks.sum(share.before + share.after) > 0; };
  if (!has_edges()) return;
  for (std::uint64_t depth = text.plan().depth(); depth < limit && has_edges();
       depth += static_cast<std::uint64_t>(symbols)) {
    sort_edge_groups(
        exchanges, context,
        [&](std::uint64_t position) {
          const std::uint64_t word = stream.until_end(stream.word(position + depth));
          return word >> (stream.symbols() - symbols) * bits;
        },
        [&](std::uint64_t number) { return stream.ended(number); }, share);
  }
  // Groups that no rank shares any more agree in fewer symbols.
  ranks.together("sort former edges", [&] { sort_own_groups(text, share, limit); });
}

#define INSTANTIATE(Pos)                                                                      \
  template LeftGroup find_left_group(cluster::Ranks&, const SlotShare<Pos>&);                 \
  template void sort_edge_groups(Exchanges&, const Context&,                                  \
                                 const std::function<std::uint64_t(std::uint64_t)>&,          \
                                 const std::function<bool(std::uint64_t)>&, SlotShare<Pos>&); \
  template void sort_edges_by_text(Exchanges&, const Context&, const PackedText&, SlotShare<Pos>&);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::suffix_array::on_ranks
