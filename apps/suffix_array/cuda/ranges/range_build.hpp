// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Receives the suffix array, one range after the other.
template <Position Index>
using RangeSink = std::function<void(DeviceBuffer<Index> suffixes)>;

/// Builds a suffix array whose construction in one step (device_build.cu) does not fit in the
/// memory of the device, one range after the other. The result is the same.
///
/// Steps:
///   1. The text is copied to the device and packed (symbol_stream.cuh); the copy is freed.
///   2. The suffixes at positions of a difference cover, 8.8 to 1.7 % of all, are ranked
///      (cover_ranks.cu). From then on any two suffixes can be compared, whatever they repeat, by
///      at most a period of symbols (suffix_order.cuh).
///   3. Suffixes drawn at random are sorted, the suffixes between them are counted, and the suffix
///      array is divided into ranges that fit (borders.cu).
///   4. Each range is gathered by a pass over the text, sorted (range_sort.cu), passed to `sink`.
///
/// \tparam Index   type of positions on the device
/// \param context  stream, memory budget, progress (one call a range), report (phases "copy in",
///                 "pack", "cover", "borders", "ranges"; figures "ranges", "cover_period",
///                 "cover_rounds", "unresolved_after_first_sort", "compared"). The current device
///                 must be the context's (see DeviceCall).
/// \param text     in host memory, of at least one symbol, addressable by Index
/// \param kept     bytes that `sink` keeps for each suffix of a range until it is called again;
///                 while it runs, it may use the memory that the range took besides its suffixes
/// \param sink     receives the ranges
/// \throws Error (out_of_memory)  names the fewest bytes required, before any sort; (device)
///
/// Complexity: O(n) for each range and O(n log c) for c candidates, besides the sorts; on texts
/// with long repeats O(log n) comparisons of up to a period of symbols for each suffix.
///
/// Memory with 32-bit positions (64-bit ones in brackets), for n symbols of b bits, s = 0.017 n to
/// 0.088 n positions of the cover and ranges of m suffixes:
///
///   | name                 | bytes               | lifetime                    |
///   |----------------------|---------------------|-----------------------------|
///   | text; with k ends    | n; 9 n/8 + 8 k      | step 1                      |
///   | packed text          | b n / 8             | all steps                   |
///   | cover's sort         | 41 s (77 s)         | step 2                      |
///   | ranks                | 4 s (8 s)           | steps 3 and 4               |
///   | set of members       | n / 16 (n / 8)      | step 4                      |
///   | a range              | 38 m (73 m)         | step 4                      |
///   | constant             | 3 MiB               | all steps                   |
///
/// A text of long records with m = n / 64, the least, takes up to 1.5 (1.9) bytes a symbol for DNA
/// (b = 3), and 2.4 (2.7) for any bytes (b = 9); a larger budget makes ranges larger, and periods
/// shorter. See range_plan.hpp.
///
/// Source: Karkkainen: Fast BWT in small space by blockwise suffix sorting (Theoretical Computer
/// Science 2007), with GPU sorts in place of multikey quicksort.
template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& text, int kept,
                     const RangeSink<Index>& sink);

/// The same with the caller's plan, however much memory that takes besides the text.
template <Position Index>
void build_in_planned_ranges(const DeviceContext& context, const TextView& text,
                             const RangePlan& plan, const RangeSink<Index>& sink);

}  // namespace sortie::suffix_array::cuda
