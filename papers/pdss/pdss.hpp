// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/construction.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array {

/// Prefix doubling over segmented sort as published (cuda::build_pdss_on_device()). Runs on CUDA. In
/// device memory it has 32-bit positions only.
[[nodiscard]] ConstructionAlgorithm pdss();

namespace cuda {

/// Builds a suffix array in device memory by prefix doubling, the application of Hou et al. (ICS
/// 2017, section 5.1: PDSS-SA), with the paper's own segmented sort, papers::ics17.
///
///   1. One radix sort by as many letters as fit in 32 bits. Suffixes that agree in them form a
///      category; the rank of a suffix is the first place of its category.
///   2. Rounds: the members of each category of at least two sort by the rank of the suffix h
///      letters later, one segment for each category; the new ranks hold for 2 h letters.
///
/// The library's own construction differs: it compares packed letters first, sorts runs of a letter
/// by their lengths, and samples of the positions instead of all.
///
/// Follows the conventions of the calls in sortie/device_suffix_array.hpp.
///
/// \param context  device, memory budget, report (phases "pdss" and, within it, "segmented sort";
///                 figures "pdss_rounds" and "pdss_sorted": the sum of the members of all rounds)
/// \throws Error (unavailable)  a text of more than longest_dc3_text symbols
/// \throws Error (out_of_memory, device)
/// Complexity: O(n log n) if no category is long, one round for each doubling of the longest repeat.
/// Memory: pdss_bytes(). Waits for the stream once a round.
/// Sources: Manber, Myers 1993; Hou, Liu, Wang, Feng 2017.
[[nodiscard]] DeviceBuffer<std::uint32_t> build_pdss_on_device(const Context& context,
                                                               const DeviceText& text,
                                                               CUstream_st* stream);

/// Most bytes that build_pdss_on_device() holds, text excluded.
[[nodiscard]] std::uint64_t pdss_bytes(std::uint64_t symbols);

}  // namespace cuda
}  // namespace sortie::suffix_array
