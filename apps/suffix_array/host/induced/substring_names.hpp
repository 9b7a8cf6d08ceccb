// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "apps/suffix_array/host/induced/symbol_string.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// Names the LMS substrings of a string by their rank among the distinct ones, so that the string of
/// names has the order of the LMS suffixes. A substring that another one begins with is the greater
/// of the two. Substrings with a separator, and the last one, which ends with the string, have names
/// of their own.
///
/// Substrings of up to seven bytes, or as many names as fit 128 bits, are packed to a key. A hash
/// table numbers distinct keys, which are few and mostly in cache; only these are sorted.
///
/// \param lms    the positions of find_lms_suffixes()
/// \param names  receives a name for each substring, below the result
/// \return the number of distinct substrings
template <class Symbol>
[[nodiscard]] std::uint32_t name_substrings(const HostContext& context,
                                            const SymbolString<Symbol>& string,
                                            std::span<const LmsSuffix> lms,
                                            std::span<std::uint32_t> names, ScratchStack& scratch);

}  // namespace sortie::suffix_array::host
