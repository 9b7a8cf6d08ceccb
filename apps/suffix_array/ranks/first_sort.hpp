// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "apps/suffix_array/host/build/first_sort.hpp"
#include "apps/suffix_array/ranks/exchanges.hpp"
#include "apps/suffix_array/ranks/packed_text.hpp"

namespace sortie::suffix_array::on_ranks {

/// The slots of a rank, a part of the suffix array. It is not final where suffixes are in groups.
///
/// A *slot* is an index of the suffix array. A *group* is a range of slots whose suffixes are not yet
/// told apart, and its *members* are the slots of groups of at least two. *Edges* are the members of
/// groups that several ranks share: they are at the first and the last slots of a rank.
template <Position Pos>
struct SlotShare {
  /// Bit i of `joined`: slot i is in the group of slot i - 1, which for i = 0 is the last slot
  /// before this share. Bit `size` is that of the first slot behind this share. The capacity of
  /// the suffixes is 1/32 above their number. The slots of members of long runs are not filled.
  host::FirstOrder<Pos> order;
  std::uint64_t begin = 0;   ///< first slot
  std::uint64_t size = 0;    ///< slots of this rank
  std::uint64_t before = 0;  ///< first slots, in the group of the slot before the share
  std::uint64_t after = 0;   ///< last slots, in the group of the slot behind the share

  /// Whether all slots are of one group that goes on in both directions.
  [[nodiscard]] bool is_inside_group() const { return size > 0 && before == size && after == size; }
};

/// Sorts all suffixes, except members of long runs (runs.hpp), by their first plan.depth() symbols,
/// and those that agree in these by the following words (text_rounds.hpp), over all ranks. Suffixes
/// of a group that several ranks share are not compared further. Collective.
///
/// Each rank scans its part of the packed text to count the suffixes of each bucket, and then the
/// whole text to find those of its slots: up to some twenty ranks that takes less than to exchange
/// them. Where memory is scarce, the text is scanned once for each range of buckets whose elements
/// fit. Sent are the counts, and long runs.
///
/// \param elements_bytes  for elements, 8 bytes each; at least those of one bucket are held
template <Position Pos>
[[nodiscard]] SlotShare<Pos> sort_first(Exchanges& exchanges, const Context& context,
                                        const PackedText& text, std::uint64_t elements_bytes);

}  // namespace sortie::suffix_array::on_ranks
