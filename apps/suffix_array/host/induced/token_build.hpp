// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Whether build_tokens() takes so many tokens: below 2^31, and it has the memory.
[[nodiscard]] bool can_sort_tokens(const HostContext& context, std::uint64_t tokens,
                                   int token_bytes, int position_bytes);

/// The suffixes of a text that begin at tokens, in the order of their bytes: the suffix array of
/// the bytes without the positions within tokens. Tokens are replaced by their ranks, and the
/// suffixes of the ranks are sorted as those of the names of substrings are.
/// \param bytes  tokens of `token_bytes` bytes, 2 or 4
/// \return the position of the first byte of each token
/// Complexity: O(n), and the sort of distinct tokens; as build_induced(). Memory: 32 bytes a token,
/// and the result.
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_tokens(const Context& context,
                                            std::span<const std::uint8_t> bytes, int token_bytes);

}  // namespace sortie::suffix_array::host
