// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/suffix_array/ranks/exchanges.hpp"
#include "apps/suffix_array/ranks/first_sort.hpp"
#include "apps/suffix_array/ranks/packed_text.hpp"
#include "sortie/cluster_suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// Gives every rank an equal share of the slots. Collective. Sends the entries beyond it.
template <Position Pos>
[[nodiscard]] cluster::SuffixArrayShare<Pos> equal_share(Exchanges& exchanges,
                                                         const Context& context,
                                                         SlotShare<Pos> share);

/// The entry before the first one of each rank, of this one. Collective.
/// \return nothing on the rank that has entry 0, and where there are no entries
template <Position Pos>
[[nodiscard]] std::optional<Pos> entry_before(cluster::Ranks& ranks, std::span<const Pos> entries);

/// The LCP array of the entries of this rank. Collective.
///
/// Each rank computes the entries of its positions in the order of the text (lcp.cpp), so it
/// compares O(n / P) symbols, and those of one repeat at the start of its share.
/// Memory: 3 positions a symbol of the share, and the batches of PositionArray.
template <Position Pos>
[[nodiscard]] std::vector<Pos> lcp_of_share(Exchanges& exchanges, const Context& context,
                                            const PackedText& text, std::span<const Pos> entries);

/// The symbols before the suffixes of this rank. Not collective.
template <Position Pos>
[[nodiscard]] std::vector<std::uint8_t> symbols_before(const PackedText& text,
                                                       std::span<const Pos> entries);

/// Checks on all ranks that the entries are the suffix array of the text, as suffix_array::check(),
/// that the LCP array is right if there is one, and the transform. Collective.
/// \param by_text  compare suffixes by the text, without more memory, in O(sum of LCP values)
/// \throws Error (check)  names the first wrong entry of the lowest rank that has one
/// Memory: as lcp_of_share()
template <Position Pos>
void check_share(Exchanges& exchanges, const Context& context, const PackedText& text,
                 const cluster::SuffixArrayShare<Pos>& share,
                 const cluster::SuffixArrayOptions& options, bool by_text);

}  // namespace sortie::suffix_array::on_ranks
