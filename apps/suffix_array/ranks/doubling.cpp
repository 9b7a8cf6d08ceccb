// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/group_sorts.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/ranks/edge_groups.hpp"
#include "apps/suffix_array/ranks/position_array.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

template <Position Pos>
class Doubling {
 public:
  Doubling(Exchanges& exchanges, const Context& context, const PackedText& text,
           SlotShare<Pos>& share)
      : exchanges_(exchanges),
        ranks_(exchanges.ranks()),
        context_(context),
        text_(text),
        share_(share),
        group_of_(exchanges, context, text.size(), Pos{0}) {}

  std::uint64_t run(std::uint64_t depth) {
    left_ = find_left_group(ranks_, share_);
    store_all();
    std::uint64_t rounds = 0;
    for (; ranks_.sum(members()) > 0; depth *= 2, ++rounds) sort_round(depth);
    return rounds;
  }

 private:
  [[nodiscard]] std::uint64_t members() const {
    std::uint64_t count = 0;
    for_each_member([&](std::uint64_t) { ++count; });
    return count;
  }
  template <class Visit>
  void for_each_member(const Visit& visit) const {
    share_.order.joined.for_each_in_joined(0, share_.size, [&](std::uint64_t slot) {
      if (slot < share_.size) visit(slot);
    });
  }

  /// The ranks of groups, slot by slot.
  class GroupScan {
   public:
    GroupScan(const PackedText& text, const SlotShare<Pos>& share, const host::BitSet& joined,
              const LeftGroup& left)
        : text_(text), joined_(joined), begin_(share.begin), head_(left.head) {}
    /// \pre the slots asked for ascend, and no first slot of a group in between is left out
    Pos next(std::uint64_t slot) {
      if (!joined_.test(slot)) head_ = begin_ + slot;
      return static_cast<Pos>(text_.rank_of_slot(head_));
    }

   private:
    const PackedText& text_;
    const host::BitSet& joined_;
    std::uint64_t begin_;
    std::uint64_t head_;
  };

  /// Sends each suffix's group to the owner of its position.
  void store_all() {
    std::vector<Pos> groups;
    ranks_.together("groups", [&] {
      groups.resize(share_.size);
      GroupScan scan(text_, share_, share_.order.joined, left_);
      for (std::uint64_t slot = 0; slot < share_.size; ++slot) groups[slot] = scan.next(slot);
    });
    group_of_.store(share_.order.suffixes, groups);
  }

  void sort_round(std::uint64_t depth) {
    // The groups of the suffixes `depth` symbols later.
    std::vector<Pos> keys;
    std::vector<std::uint64_t> at_end;
    ranks_.together("keys", [&] {
      keys.reserve(members());
      for_each_member([&](std::uint64_t slot) {
        const std::uint64_t position = share_.order.suffixes[slot] + depth;
        if (position == text_.size()) at_end.push_back(keys.size());
        // The text has a position 0 if there is a member.
        keys.push_back(static_cast<Pos>(position == text_.size() ? 0 : position));
      });
    });
    group_of_.fetch(keys, keys.data());
    for (const std::uint64_t member : at_end) keys[member] = static_cast<Pos>(text_.rank_of_end());

    host::BitSet before;
    host::BitSet joined;
    std::vector<EdgeItem<Pos>> edges;
    ranks_.together("sort groups", [&] {
      before = share_.order.joined;
      joined = host::BitSet(share_.size + 1);
      edges = sort_own_groups(keys, joined);
      keys = {};
    });
    if (ranks_.sum(edges.size()) > 0)
      sort_edge_groups(exchanges_, context_, std::move(edges), share_, joined);
    share_.order.joined = std::move(joined);
    const LeftGroup left = find_left_group(ranks_, share_);
    store_changed(before, left);
    left_ = left;
  }

  /// Sorts the groups that only this rank has, and returns the suffixes of the others.
  std::vector<EdgeItem<Pos>> sort_own_groups(std::span<const Pos> keys, host::BitSet& joined) {
    std::vector<EdgeItem<Pos>> edges;
    edges.reserve(std::min(share_.before + share_.after, share_.size));
    std::vector<std::uint64_t> slots;
    std::vector<host::Wide<Pos>> elements;
    std::vector<host::Wide<Pos>> scratch;
    std::uint64_t member = 0;
    const auto sort_group = [&] {
      if (slots.empty()) return;
      constexpr int key_shift = 8 * sizeof(Pos);
      if (elements.size() > least_radix) {
        scratch.resize(elements.size());
        host::sort_elements<host::Wide<Pos>>(elements.data(), elements.size(), std::span(scratch));
      } else {
        std::ranges::sort(elements);
      }
      for (std::size_t i = 0; i < slots.size(); ++i) {
        share_.order.suffixes[slots[i]] = static_cast<Pos>(elements[i]);
        if (i > 0 && elements[i] >> key_shift == elements[i - 1] >> key_shift)
          joined.set_alone(slots[i]);
      }
      slots.clear();
      elements.clear();
    };
    const std::uint64_t first = share_.before;
    const std::uint64_t last = share_.is_inside_group() ? first : share_.size - share_.after;
    for_each_member([&](std::uint64_t slot) {
      const Pos key = keys[member++];
      const Pos position = share_.order.suffixes[slot];
      if (slot < first || slot >= last) {
        const bool is_left = slot < first;
        const std::uint64_t group =
            is_left ? left_.rank : static_cast<std::uint64_t>(ranks_.rank());
        edges.emplace_back(group, key, position);
        return;
      }
      if (!share_.order.joined.test(slot)) sort_group();
      slots.push_back(slot);
      elements.push_back(host::Wide<Pos>{key} << (8 * sizeof(Pos)) | position);
    });
    sort_group();
    return edges;
  }

  /// Sends the groups that have changed to the owners of their positions.
  void store_changed(const host::BitSet& before, const LeftGroup& left) {
    std::vector<Pos> positions;
    std::vector<Pos> changed;
    ranks_.together("changed groups", [&] {
      const auto for_each_changed = [&](const auto& visit) {
        GroupScan old(text_, share_, before, left_);
        GroupScan now(text_, share_, share_.order.joined, left);
        before.for_each_in_joined(0, share_.size, [&](std::uint64_t slot) {
          if (slot == share_.size) return;
          const Pos rank = now.next(slot);
          if (old.next(slot) != rank) visit(slot, rank);
        });
      };
      std::uint64_t count = 0;
      for_each_changed([&](std::uint64_t, Pos) { ++count; });
      positions.reserve(count);
      changed.reserve(count);
      for_each_changed([&](std::uint64_t slot, Pos rank) {
        positions.push_back(share_.order.suffixes[slot]);
        changed.push_back(rank);
      });
    });
    group_of_.store(positions, changed);
  }

  static constexpr std::size_t least_radix = 64;

  Exchanges& exchanges_;
  cluster::Ranks& ranks_;
  const Context& context_;
  const PackedText& text_;
  SlotShare<Pos>& share_;
  PositionArray<Pos> group_of_;  ///< the ranks of groups, by position
  LeftGroup left_;
};

}  // namespace

template <Position Pos>
std::uint64_t double_prefixes(Exchanges& exchanges, const Context& context, const PackedText& text,
                              SlotShare<Pos>& share, std::uint64_t depth) {
  return Doubling<Pos>(exchanges, context, text, share).run(depth);
}

SORTIE_FOR_BOTH_POSITIONS(double_prefixes);

}  // namespace sortie::suffix_array::on_ranks
