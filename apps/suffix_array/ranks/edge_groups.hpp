// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/ranks/first_sort.hpp"

namespace sortie::suffix_array::on_ranks {

/// Bits of the number in a key: of ranks, and of twice a length. So texts have less than 2^39
/// symbols.
inline constexpr int edge_number_bits = 40;

/// A suffix of a group that several ranks share. For positions of 32 bits it takes 12 bytes.
template <Position Pos>
struct EdgeItem {
  EdgeItem() = default;
  EdgeItem(std::uint64_t group, std::uint64_t number, Pos at)
      : key_high(static_cast<std::uint32_t>((group << edge_number_bits | number) >> 32)),
        key_low(static_cast<std::uint32_t>(number)),
        position(at) {}

  /// The group above the number by which its members are sorted.
  [[nodiscard]] std::uint64_t key() const { return std::uint64_t{key_high} << 32 | key_low; }

  std::uint32_t key_high;
  std::uint32_t key_low;
  Pos position;
};

/// The group that continues from the ranks before this one.
struct LeftGroup {
  std::uint64_t head = 0;  ///< its first slot, of all
  std::uint64_t rank = 0;  ///< on which rank this is: the number of the group
};

/// Finds the group in which the first slots of this rank are, if share.before > 0. Collective.
template <Position Pos>
[[nodiscard]] LeftGroup find_left_group(cluster::Ranks& ranks, const SlotShare<Pos>& share);

/// Sorts the groups that ranks share, each in its slots. Collective.
///
/// \param items  of this rank, in any order: share.before and share.after of them, or share.size
/// \param share  receives the suffixes in their order, and which groups are still shared
/// \param joined receives the bits of the slots of these groups
/// Complexity: a sort, and the collective calls of exact_splits(). Memory: items twice.
template <Position Pos>
void sort_edge_groups(Exchanges& exchanges, const Context& context,
                      std::vector<EdgeItem<Pos>> items, SlotShare<Pos>& share,
                      host::BitSet& joined);

/// Sorts the shared groups of runs, whose suffixes begin with equal letters only, by the ends of
/// the runs: shorter runs come first where a smaller letter or the end follows, and longer ones
/// where a greater letter does. Prefix doubling would take a round for each doubling of the length.
/// Collective.
/// \pre suffixes of a shared group agree in share.edge_depth symbols, without an end
template <Position Pos>
void sort_shared_runs(Exchanges& exchanges, const Context& context, const PackedText& text,
                      SlotShare<Pos>& share);

}  // namespace sortie::suffix_array::on_ranks
