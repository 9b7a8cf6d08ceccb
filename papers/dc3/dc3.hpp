// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/construction.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array {

/// The skew algorithm of Karkkainen and Sanders (cuda::build_dc3_on_device()), to which the paper of
/// Hou et al. (ICS 2017, section 5.1) compares prefix doubling. Runs on CUDA. In device memory it
/// has 32-bit positions only.
[[nodiscard]] ConstructionAlgorithm dc3();

namespace cuda {

/// Longest text that build_dc3_on_device() accepts: with its end, positions fit in 31 bits, as the
/// counts of every CUB version do.
inline constexpr std::uint64_t longest_dc3_text = (std::uint64_t{1} << 31) - 8;

/// Builds a suffix array in device memory by the skew algorithm, DC3: the baseline to which the
/// paper (Hou et al., ICS 2017, section 5.1) compares prefix doubling, on CUB's radix sort.
///
/// Letters that occur are numbered, after a distinct number for each separator and for the end of
/// the text; so suffixes compare as TextView says, and no two are equal. Then, for a string of n
/// such symbols:
///   1. Suffixes at positions 1 and 2 modulo 3 are sorted by their first three symbols: one radix
///      sort where these fit in 64 bits, two by (third), (first, second) otherwise.
///   2. Equal triples get equal names. If names are not unique, the string of names, those of
///      positions 1 modulo 3 first, is sorted in the same way: recursion, 2 n / 3 symbols.
///   3. Suffixes at positions 0 modulo 3 are sorted by (symbol, rank of the next suffix): a stable
///      sort by one symbol of an order that follows the ranks already.
///   4. Both are merged. The operands of comparisons are gathered once for each suffix (DeviceMerge
///      reads its input once), not in each comparison.
///
/// Follows the conventions of the calls in sortie/device_suffix_array.hpp.
///
/// \param context  device, memory budget, report (phase "dc3"; figure "dc3_levels": depth of the
///                 recursion)
/// \throws Error (unavailable)  a text of more than longest_dc3_text symbols
/// \throws Error (out_of_memory, device)
/// Complexity: O(n) work; each level sorts two thirds of its symbols by three symbols. Memory: at
/// most 24 bytes a symbol besides the text; 16 for the first 70 Mbp of human chrX. Waits for the
/// stream twice a level.
/// Source: Karkkainen, Sanders: Simple Linear Work Suffix Array Construction (ICALP 2003).
[[nodiscard]] DeviceBuffer<std::uint32_t> build_dc3_on_device(const Context& context,
                                                              const DeviceText& text,
                                                              CUstream_st* stream);

/// Most bytes that build_dc3_on_device() holds, text excluded.
[[nodiscard]] std::uint64_t dc3_bytes(std::uint64_t symbols);

}  // namespace cuda
}  // namespace sortie::suffix_array
