// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/suffix_array/ranks/first_sort.hpp"

namespace sortie::suffix_array::on_ranks {

/// Bits of the number in a key. It is a rank, so texts have less than 2^40 - 1 symbols.
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
/// \param number_of  number_of(position): by these numbers suffixes are sorted, and by position
/// \param is_final   whether suffixes of an equal number are in their final order
/// \param share      receives the suffixes in their order, and which groups are still shared
/// Complexity: a sort, and the collective calls of exact_splits(). Memory: 24 to 32 bytes an edge.
template <Position Pos>
void sort_edge_groups(Exchanges& exchanges, const Context& context,
                      const std::function<std::uint64_t(std::uint64_t)>& number_of,
                      const std::function<bool(std::uint64_t)>& is_final, SlotShare<Pos>& share);

/// Sorts the groups that ranks share by the words of the text that follow the first sort, so that
/// all groups agree in TextRounds::depth_limit() symbols, without an end. Collective.
template <Position Pos>
void sort_edges_by_text(Exchanges& exchanges, const Context& context, const PackedText& text,
                        SlotShare<Pos>& share);

}  // namespace sortie::suffix_array::on_ranks
