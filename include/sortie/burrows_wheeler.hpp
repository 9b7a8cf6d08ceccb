// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/export.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// The Burrows-Wheeler transform of a text: entry i is the symbol before suffix i of the suffix
/// array. The entry of the suffix at position 0 is the last symbol of the text, so the result is a
/// permutation of the text's bytes, separators included. For the transform of the text with an end
/// symbol, insert the text's last symbol after the entries of the separators, and replace the entry
/// of position 0 by the end symbol.
///
/// \param context   backend, device, threads, memory budget, progress on the host, report (phase
///                  "bwt"; on a GPU also "copy in" and "copy out")
/// \param suffixes  the suffix array of `text`
/// \throws Error (usage)  suffixes.size() is not text.size(), or an entry is not one of its
///                        positions (checked on the host only)
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(n). Extra memory: none besides the result on the host; on a GPU the text, the
/// suffix array and the result. If these do not fit there, the host computes the result, and the
/// report has the figure "bwt_on_host".
/// Source: Burrows, Wheeler (1994).
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<std::uint8_t> burrows_wheeler_transform(
    const Context& context, const TextView& text, std::span<const Pos> suffixes);

/// Checks `transform` by its definition. Runs on the host.
/// \param context  threads, progress, report (phase "check bwt"); takes no memory
/// \throws Error (check)  names the first wrong entry
/// \throws Error (usage)  as burrows_wheeler_transform()
/// Complexity: O(n). Extra memory: none.
template <Position Pos>
SORTIE_API void check_burrows_wheeler(const HostContext& context, const TextView& text,
                                      std::span<const Pos> suffixes,
                                      std::span<const std::uint8_t> transform);

}  // namespace sortie::suffix_array
