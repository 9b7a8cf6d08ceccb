// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/ranks/first_sort.hpp"

namespace sortie::suffix_array::on_ranks {

/// A suffix of a group that several ranks share.
struct EdgeItem {
  std::uint64_t key;  ///< the group above the number by which its members are sorted
  std::uint64_t position;
};

/// Bits of the number in a key: of ranks and positions, and so the longest text.
inline constexpr int edge_number_bits = 40;

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
/// Complexity: a sort, and the collective calls of exact_splits(). Memory: 32 bytes an item.
template <Position Pos>
void sort_edge_groups(Exchanges& exchanges, const Context& context, std::vector<EdgeItem> items,
                      SlotShare<Pos>& share, host::BitSet& joined);

}  // namespace sortie::suffix_array::on_ranks
