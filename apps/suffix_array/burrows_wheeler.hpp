#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// The Burrows-Wheeler transform of a text: entry i is the symbol before suffix i of the suffix
/// array. The suffix at position 0 gets the last symbol of the text, so the result has every symbol
/// of the text as often as the text, separators (as the bytes they are) included. The suffix array
/// has no entry for the bare end of the text; who wants the transform of the text with an end
/// symbol inserts the text's last symbol behind the entries of the separators, and the end symbol
/// for the entry of position 0.
///
/// \param context   backend, device, threads, memory budget, report (phase "bwt"; on a GPU, "copy
///                  in" and "copy out" too)
/// \param suffixes  the suffix array of `text`
/// \throws Error (usage)  suffixes.size() is not text.size(), or an entry is none of its positions
/// (host)
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity O(n). Extra memory: none beside the result on the host; on a GPU the text, the suffix
/// array and the result; where these do not fit, the host does it, and the report has the figure
/// "bwt_on_host". Source: Burrows, Wheeler (1994).
template <Position Pos>
[[nodiscard]] std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context,
                                                                  const TextView& text,
                                                                  std::span<const Pos> suffixes);

/// Checks `transform` by its definition, on the host.
/// \throws Error (check) naming the first entry at fault
/// \throws Error (usage) as burrows_wheeler_transform
template <Position Pos>
void check_burrows_wheeler(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes, std::span<const std::uint8_t> transform);

}  // namespace sortie::suffix_array
