// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// Bytes for each symbol of a text without separators that sort_by_minimizers() takes beside the text and
/// the result, about.
inline constexpr std::uint64_t minimizer_bytes_per_symbol = 14;

/// The suffix array of a text by its minimizers; see the source for the steps and the memory. Every step is
/// divided among the threads of the host runtime.
/// Fast where few positions are minimizers: not in runs of a letter, and short periods.
/// \param text      1 to 2^31 - 1 symbols, without separators
/// \param suffixes  as many as symbols
/// Complexity: O(n), and r rounds of doubling for a quarter of the suffixes.
/// Source: Roberts, Hayes, Hunt, Mount, Yorke (Bioinformatics 20, 2004), for minimizers.
void sort_by_minimizers(const HostContext& context, std::span<const std::uint8_t> text,
                        std::span<std::uint32_t> suffixes);

}  // namespace sortie::suffix_array::host
