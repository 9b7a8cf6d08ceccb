#pragma once

#include <cstdint>
#include <functional>

#include "sortie/apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Receives the suffix array, a range of it after the other.
template <Position Index>
using RangeSink = std::function<void(DeviceBuffer<Index> suffixes)>;

/// Builds a suffix array whose construction in one piece (device_build.hpp) does not fit in the
/// memory of the device, a range of it after the other. The result is the same.
///
/// Steps:
///   1. The text goes to the device, is packed (symbol_stream.cuh), and leaves it.
///   2. The suffixes at positions of a difference cover, 8.8 to 1.7 % of all, are ranked
///      (cover_ranks.hpp). From then on any two suffixes can be compared, whatever they repeat, by
///      the symbols of a period at most (suffix_order.cuh).
///   3. Suffixes drawn at random are sorted; between them all others are counted, and so cut into
///      ranges that fit (borders.hpp).
///   4. Each range is gathered by a pass over the text, sorted (range_sort.hpp) and handed over.
///
/// \tparam Index   type of positions on the device
/// \param context  stream, memory budget, progress (one call a range), report (phases "copy in",
///                 "pack", "cover", "borders", "ranges"; figures "ranges", "cover_period",
///                 "cover_rounds", "unresolved_after_first_sort", "compared"). The current device
///                 must be the context's (see DeviceScope).
/// \param text     in host memory, of at least one symbol that Index can address
/// \param kept     bytes that `sink` keeps for each suffix of a range until it is called again;
/// while
///                 it runs, it may use the memory that the range took beside its suffixes
/// \param sink     receives the ranges
/// \throws Error (out_of_memory) naming the bytes wanted at least, before any sort; (device)
///
/// Complexity: O(n) for each range and O(n log c) for c candidates, beside the sorts; on texts with
/// long repeats O(log n) comparisons of up to a period of symbols for each suffix.
///
/// Memory with 32-bit positions (64-bit ones in brackets), for n symbols of b bits, s = 0.017 n to
/// 0.088 n positions of the cover and ranges of m suffixes:
///
///   | name                 | bytes               | lifetime                    |
///   |----------------------|---------------------|-----------------------------|
///   | text; with k ends    | n; 9 n/8 + 8 k      | step 1                      |
///   | packed text          | b n / 8             | everywhere                  |
///   | cover's sort         | 41 s (77 s)         | step 2                      |
///   | ranks                | 4 s (8 s)           | steps 3 and 4               |
///   | set of members       | n / 16 (n / 8)      | step 4                      |
///   | a range              | 38 m (73 m)         | step 4                      |
///   | constant             | 3 MiB               | everywhere                  |
///
/// A text of long records with m = n / 64, the least, takes up to 1.5 (1.9) bytes a symbol for DNA
/// (b = 3), and 2.4 (2.7) for any bytes (b = 9); the rest of the budget makes ranges larger, and
/// periods shorter. See range_plan.hpp.
///
/// Source: Karkkainen: Fast BWT in small space by blockwise suffix sorting (Theoretical Computer
/// Science 2007), with GPU sorts in place of multikey quicksort.
template <Position Index>
void build_in_ranges(const Context& context, const TextView& text, int kept,
                     const RangeSink<Index>& sink);

/// The same by a plan of the caller, however much memory that takes.
template <Position Index>
void build_in_ranges(const Context& context, const TextView& text, const RangePlan& plan,
                     const RangeSink<Index>& sink);

}  // namespace sortie::suffix_array::cuda
