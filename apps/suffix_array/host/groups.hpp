#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/packing.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Groups of suffixes that are not told apart yet: slots [begins[i], ends[i]) of the suffix array,
/// ascending, two or more slots each. They are the segments that the next round sorts.
template <Position Pos>
struct Groups {
  std::vector<Pos> begins;
  std::vector<Pos> ends;

  [[nodiscard]] std::uint64_t size() const { return begins.size(); }
  [[nodiscard]] bool empty() const { return begins.empty(); }
  /// Number of suffixes in all groups.
  [[nodiscard]] std::uint64_t suffixes() const;
};

/// The arrays of prefix doubling for a text of n symbols, s of them separators.
///
/// | name     | items | holds |
/// |----------|-------|----------------------------------------------------------------------------|
/// | suffixes | n     | slot -> position; final outside of groups | | ranks    | n + 1 | position
/// -> rank of the first slot of its group, its own slot's when final | | keys     | n     | slot ->
/// sort key, then the new rank of the slot                            |
///
/// The rank of slot i is i for the s slots of separators and i + 1 for the others, which leaves
/// rank s to the end of the text: ranks[n] = s.
template <Position Pos>
struct State {
  State(std::uint64_t size, std::uint64_t separator_count);

  [[nodiscard]] Pos rank_of_slot(std::uint64_t slot) const {
    return static_cast<Pos>(slot + (slot >= separators ? 1 : 0));
  }
  [[nodiscard]] std::uint64_t size() const { return suffixes.size(); }

  std::uint64_t separators;
  std::vector<Pos> suffixes;
  std::unique_ptr<Pos[]> ranks;
  std::unique_ptr<Pos[]> keys;
};

/// Labels the slots after the first sort: keys[i] becomes the rank of the first slot of i's group.
/// Suffixes of a bucket share a group when their words are equal and contain no end.
template <Position Pos>
void label_by_words(State<Pos>& state, const PackingPlan& plan,
                    std::span<const std::uint64_t> words, const Groups<Pos>& buckets);

/// One round: sorts every group by the ranks `depth` symbols further and labels its slots.
/// Precondition: the suffixes of a group agree in their first `depth` symbols, and no end is there.
template <Position Pos>
void sort_groups(const Context& context, State<Pos>& state, const Groups<Pos>& groups,
                 std::uint64_t depth);

/// What State::ranks holds when groups are collected.
enum class Ranks {
  none,       ///< nothing yet: after the first sort
  of_groups,  ///< the rank of its group for each suffix: the first part of a group keeps it
};

/// Takes the labels of the slots in `groups` over into ranks and returns the groups that are left.
template <Position Pos>
[[nodiscard]] Groups<Pos> collect(State<Pos>& state, const Groups<Pos>& groups, Ranks present);

}  // namespace sortie::suffix_array::host
