// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Whether a text can be sorted by induction: it is below 2^31 symbols, and where it has separators,
/// has fewer than 256 letters.
[[nodiscard]] bool can_induce(const TextView& text);

/// Whether induced sorting is possible, faster than prefix doubling, and within the memory that the
/// call may take. It is faster for texts of which many suffixes agree in more symbols than doubling
/// compares at once. Reads some thousand places of the text, and all of it if it has many letters.
template <Position Pos>
[[nodiscard]] bool chooses_induction(const HostContext& context, const TextView& text);

/// The suffix array by induced sorting; see the source for the steps and the memory.
/// \throws Error (usage) not can_induce(text)
/// \throws Error (out_of_memory)
/// Complexity: O(n), and the sorts of distinct substrings; where these are many, O(r n) for r rounds of
/// doubling.
/// Source: Nong, Zhang, Chan (IEEE Transactions on Computers 60, 2011); Larsson, Sadakane (Theoretical
/// Computer Science 387, 2007).
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_induced(const Context& context, const TextView& text);

/// Sorts the suffixes of a string of names: by prefix doubling where many names are distinct, else by
/// induction.
/// \param names     0 .. distinct - 1; symbols_after_names zeros follow them
/// \param distinct  names, each of which occurs
/// \param order     receives the positions of the suffixes in their order
void sort_names(const HostContext& context, std::span<const std::uint32_t> names,
                std::uint32_t distinct, std::span<std::uint32_t> order, ScratchStack& scratch);

}  // namespace sortie::suffix_array::host
