// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "apps/suffix_array/host/induced/symbol_string.hpp"

namespace sortie::suffix_array::host {

/// Sorts all suffixes of a text from its sorted LMS suffixes: one scan of the entries from left to right
/// places those of type L, one from right to left those of type S, each from the entry of the suffix
/// one position later.
///
/// \param lms       m, those of find_lms_suffixes(); may be the last 2 m of `symbols` if these are no less
///                  than 3 m
/// \param suffixes  begins with the numbers of these in their order; receives the suffix array
/// \param symbols   as many as in the text, scratch
/// Complexity: O(n). Divided among the threads of the host runtime.
/// Source: Nong, Zhang, Chan (IEEE Transactions on Computers 60, 2011), section 3.1. That an entry
/// carries the symbols before its suffix is ours.
void induce(const SymbolString<std::uint8_t>& text, std::span<const LmsSuffix> lms,
            std::span<std::uint32_t> suffixes, std::span<std::uint32_t> symbols);

/// The same for a string of names, by blocks where these pay.
/// \param order  the numbers of the LMS suffixes in their order, not within `suffixes`
/// Complexity: O(n + alphabet). Extra memory: 8 bytes a name and 16 for each of the alphabet.
void induce(const SymbolString<std::uint32_t>& names, std::span<const LmsSuffix> lms,
            std::span<const std::uint32_t> order, std::span<std::uint32_t> suffixes,
            ScratchStack& scratch);

/// The same on all threads of the host runtime, which share each of the blocks in which the scans go over
/// the entries.
/// \param block  entries of a block, about
/// Extra memory: 8 bytes a name and 8 for each of the alphabet, while names are counted 4 for each of the
/// alphabet and each thread, at most 4 a name; and 20 bytes an entry of a block.
void induce_by_blocks(const SymbolString<std::uint32_t>& names, std::span<const LmsSuffix> lms,
                      std::span<const std::uint32_t> order, std::span<std::uint32_t> suffixes,
                      ScratchStack& scratch, std::uint32_t block);

}  // namespace sortie::suffix_array::host
