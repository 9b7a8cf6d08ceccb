// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// Sorts the suffixes of a string of names by prefix doubling: for strings of which many names occur
/// once, so that few suffixes are left after each round, and for many threads. Where many suffixes agree in
/// eight names, those that begin at minimizers are sorted in the same way, and order the others.
/// \param names     below `alphabet`; the end of the string is less than all names
/// \param alphabet  less than 2^32
/// \param order     receives the positions of the suffixes in their order
/// Complexity: O(m) and the sort of m names, then for r rounds O(suffixes that are left) each, at most
/// log2(m) rounds. Extra memory: 12 bytes a name, and up to 16 where minimizers are sorted.
/// Source: Larsson, Sadakane (Theoretical Computer Science 387, 2007).
void sort_by_doubling(const HostContext& context, std::span<const std::uint32_t> names,
                      std::uint64_t alphabet, std::span<std::uint32_t> order,
                      ScratchStack& scratch);

/// The same for names of 64 bits. \param names  overwritten
void sort_by_doubling_of_keys(const HostContext& context, std::span<std::uint64_t> names,
                              std::span<std::uint32_t> order, ScratchStack& scratch);

}  // namespace sortie::suffix_array::host
