#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"

namespace sortie::suffix_array::cuda {

/// The LCP array (lcp.hpp) from device memory to device memory.
///
/// Let lcp(p) be the entry of the suffix at position p. Two facts carry the method:
///   - lcp(p) + p never falls as p grows: without its first letter, a suffix still has all but one
///     of its letters in common with some smaller suffix.
///   - if the suffixes of an entry have the same letter before them ("extended" here, reducible in
///     the paper), the two that are one letter longer are neighbours too, so lcp(p) + p is the same
///     for p and p - 1. All other entries together are at most 2 n log2 n.
///
/// Steps:
///   1. Pack the text (SymbolStream), 3 bits a base, so that up to 100 million bases stay in the L2
///      cache.
///   2. Look at one window of every suffix, from the letter before it on: 20 bases and whether the
///      entry is extended. Most entries of a genome are known then, with one random read each.
///      Those that are not extended compare a few windows more.
///   3. What agrees in more is compared by warps, and what agrees in more than 20000 bases by
///      blocks. Each of these entries puts lcp(p) + p at its position in an array.
///   4. The prefix maximum of that array is lcp(p) + p at all positions whose entries are long.
///   5. Extended entries take theirs from there.
/// So a run of one letter, or a copy of a whole chromosome, is compared once, by a block.
///
/// \param context   stream, memory budget, report (phase "lcp"); the current device must be the
///                  context's
/// \param suffixes  the suffix array of the text; it is not checked, but must be a permutation of
///                  the positions
/// \throws Error (out_of_memory)  the arrays do not fit in the budget (before any work)
/// \throws Error (unavailable, device)
/// Waits for the stream once, for the letters of the text.
///
/// Complexity: O(n log n) symbols compared at worst, a window at a time; O(n) for a genome.
///
/// Memory for n symbols of b bits:
///
///   | name                  | elements      | type     | lifetime        |
///   |-----------------------|---------------|----------|-----------------|
///   | LCP array             | n             | Index    | result          |
///   | lcp(p) + p            | n             | Index    | steps 2 to 5    |
///   | packed text, rare     | b n, n        | bits     | steps 1 to 3    |
///   | entries for blocks    | n / 1024      | Index    | step 3          |
///
/// which is 8.4 bytes a base with 32-bit positions.
///
/// Source: Karkkainen, Manzini, Puglisi: Permuted Longest-Common-Prefix Array (CPM 2009), lemmas 1
/// and 2, theorem 1.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> lcp_on_device(const Context& context, const DeviceText& text,
                                                std::span<const Index> suffixes);

}  // namespace sortie::suffix_array::cuda
