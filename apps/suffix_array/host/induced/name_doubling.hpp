// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// Sorts the suffixes of a string of names by prefix doubling: for strings of which many names occur
/// once, so that few suffixes are left after each round.
/// \param names     below `distinct`; the end of the string is less than all names
/// \param distinct  at most 2^32 - 1
/// \param order     receives the positions of the suffixes in their order
/// Complexity: O(m) and the sort of m names, then for r rounds O(suffixes that are left) each, at most
/// log2(m) rounds. Extra memory: 20 bytes a name.
/// Source: Larsson, Sadakane (Theoretical Computer Science 387, 2007).
void sort_by_doubling(const HostContext& context, std::span<const std::uint32_t> names,
                      std::uint32_t distinct, std::span<std::uint32_t> order,
                      ScratchStack& scratch);

}  // namespace sortie::suffix_array::host
