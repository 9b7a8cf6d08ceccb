#pragma once

#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// The inverse of a suffix array: entry p is the rank of the suffix at position p, so that
/// inverse[suffixes[i]] == i.
///
/// \param context   backend, device, threads, memory budget, report (phase "inverse"; on a GPU,
///                  "copy in" and "copy out" too)
/// \param suffixes  a permutation of 0 .. suffixes.size() - 1
/// \throws Error (usage)  an entry is not below suffixes.size() (host)
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity O(n). Extra memory: none beside the result on the host; on a GPU both arrays;
/// where these do not fit, the host does it, and the report has the figure "inverse_on_host".
template <Position Pos>
[[nodiscard]] std::vector<Pos> inverse_suffix_array(const Context& context,
                                                    std::span<const Pos> suffixes);

}  // namespace sortie::suffix_array
