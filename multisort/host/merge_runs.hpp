// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "primitives/host/items.hpp"

namespace sortie::multisort {

/// Sorted items in a row.
template <class Key, class Value>
struct Run {
  Items<Key, Value> items;
  std::uint64_t size = 0;
};

namespace detail {

template <class Key, class Value>
inline void move_item(Run<Key, Value>& from, Items<Key, Value>& to) {
  *to.keys++ = *from.items.keys++;
  if constexpr (has_values<Value>) *to.values++ = *from.items.values++;
  --from.size;
}

}  // namespace detail

/// Merges two runs; equal keys of `a` come first. The inner loop has no data-dependent branch,
/// since the side is unpredictable, and no end check, since it runs only as long as neither run can
/// end.
template <class Key, class Value>
void merge_two_runs(Run<Key, Value> a, Run<Key, Value> b, Items<Key, Value> out) {
  for (std::uint64_t safe = std::min(a.size, b.size); safe > 0; safe = std::min(a.size, b.size)) {
    std::uint64_t from_a = 0;
    std::uint64_t from_b = 0;
    for (std::uint64_t i = 0; i < safe; ++i) {
      const bool take_b = b.items.keys[from_b] < a.items.keys[from_a];
      const Key* const key = take_b ? b.items.keys + from_b : a.items.keys + from_a;
      out.keys[i] = *key;
      if constexpr (has_values<Value>) {
        const Value* const value = take_b ? b.items.values + from_b : a.items.values + from_a;
        out.values[i] = *value;
      }
      from_b += take_b;
      from_a += !take_b;
    }
    a = {a.items.from(from_a), a.size - from_a};
    b = {b.items.from(from_b), b.size - from_b};
    out = out.from(safe);
  }
  copy_items(a.items, a.size, out);
  copy_items(b.items, b.size, out.from(a.size));
}

/// A loser tree of runs: each inner node stores the loser of its match, so the next item costs one
/// comparison per level.
///
/// \pre no run is empty. When a run ends, the tree is rebuilt from the others, so no comparison
/// checks for the end of a run; and none branches on the keys.
///
/// Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1.
template <std::unsigned_integral Key, class Value>
class LoserTree {
 public:
  /// \param runs  in order: of equal keys those of earlier runs win
  explicit LoserTree(std::vector<Run<Key, Value>> runs)
      : runs_(std::move(runs)), losers_(runs_.size()) {
    build();
  }

  /// Writes all items in order.
  void merge_into(Items<Key, Value> out) {
    while (runs_.size() > 2) {
      // As many items as the shortest run has can be taken before any run ends.
      const auto shortest = std::min_element(
          runs_.begin(), runs_.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
      for (std::uint64_t safe = shortest->size; safe > 1; --safe) {
        detail::move_item(runs_[winner_.run], out);
        replay();
      }
      detail::move_item(runs_[winner_.run], out);
      if (runs_[winner_.run].size > 0) {
        replay();
      } else {
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(winner_.run));
        build();
      }
    }
    if (runs_.size() == 2) merge_two_runs(runs_[0], runs_[1], out);
    if (runs_.size() == 1) copy_items(runs_[0].items, runs_[0].size, out);
  }

 private:
  struct Player {
    Key key;
    std::size_t run;
  };

  [[nodiscard]] Player player(std::size_t run) const { return {*runs_[run].items.keys, run}; }

  [[nodiscard]] static bool beats(const Player& a, const Player& b) {
    return (a.key < b.key) | ((a.key == b.key) & (a.run < b.run));
  }

  /// By arithmetic: compilers turn conditional expressions into branches.
  static void exchange_if(bool condition, Player& a, Player& b) {
    const auto key = static_cast<Key>((a.key ^ b.key) & (Key{0} - condition));
    const std::size_t run = (a.run ^ b.run) & (std::size_t{0} - condition);
    a = {static_cast<Key>(a.key ^ key), a.run ^ run};
    b = {static_cast<Key>(b.key ^ key), b.run ^ run};
  }

  /// Builds the tree. Run i is leaf size + i; node j compares the winners of 2 j and 2 j + 1.
  void build() {
    const std::size_t size = runs_.size();
    if (size < 2) return;
    std::vector<Player> winners(2 * size);
    for (std::size_t i = 0; i < size; ++i) winners[size + i] = player(i);
    for (std::size_t node = size - 1; node > 0; --node) {
      const Player& a = winners[2 * node];
      const Player& b = winners[2 * node + 1];
      const bool a_wins = beats(a, b);
      winners[node] = a_wins ? a : b;
      losers_[node] = a_wins ? b : a;
    }
    winner_ = winners[1];
  }

  /// Replays the path of the last winner, which has a new item.
  void replay() {
    Player current = player(winner_.run);
    for (std::size_t node = (current.run + runs_.size()) / 2; node > 0; node /= 2) {
      Player& other = losers_[node];
      exchange_if(beats(other, current), other, current);
    }
    winner_ = current;
  }

  std::vector<Run<Key, Value>> runs_;
  std::vector<Player> losers_;
  Player winner_{};
};

/// Merges sorted runs; of equal keys those of earlier runs come first. O(n log k).
/// \param runs  may be empty
template <class Key, class Value>
void merge_runs(std::vector<Run<Key, Value>> runs, Items<Key, Value> out) {
  std::erase_if(runs, [](const Run<Key, Value>& run) { return run.size == 0; });
  LoserTree<Key, Value>(std::move(runs)).merge_into(out);
}

}  // namespace sortie::multisort
