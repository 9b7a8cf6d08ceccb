// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Receives the entries from number `first` on.
template <Position Pos>
using VisitEntries = std::function<void(std::uint64_t first, std::span<const Pos> entries)>;

/// Builds a suffix array in ranges, which are passed on one after the other: the suffix array never
/// exists as a whole. The context's host runtime must have been started.
///
/// All ranges are sorted twice, in passes over the text. A first time only the ranks of samples are
/// kept. These are sorted as host/build/prefix_doubling.cpp describes, and order the groups that
/// the second time leaves. All positions get a sample, since the groups are not known when samples
/// are chosen.
///
/// \param context     memory budget; report: phases "pack", "sort samples" and "sort ranges",
/// figure
///                    "ranges"; progress in these phases
/// \param text        not empty
/// \param descending  the last range first. Within a range, entries always ascend
/// \throws Error (out_of_memory) before any work, or when the samples are known
/// Complexity: twice that of prefix doubling, and a scan of the text for each range. Memory, for n
/// symbols of b bits and positions of P bytes, text excluded: b n / 8 + n / 2 + P n / 32 for the
/// symbols and sets, at most 7 P n / 30 for the samples of a genome, and P + 9 bytes for each
/// suffix of a range, of which there are as many as fit, at least those of the largest bucket.
template <Position Pos>
void build_in_ranges(const Context& context, const TextView& text, bool descending,
                     const VisitEntries<Pos>& visit);

}  // namespace sortie::suffix_array::host
