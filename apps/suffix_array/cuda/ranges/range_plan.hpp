// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The parameters that determine the memory of a construction in ranges.
struct TextShape {
  std::uint64_t symbols = 0;  ///< at least 1
  std::uint64_t separators = 0;
  int bits = 9;  ///< bits of a symbol of the packed text: 1 to 9
  /// Bytes that the receiver of a range keeps for each of its suffixes while the next is sorted.
  int kept = 0;
};

/// How a suffix array is built in ranges: consecutive parts of it, each sorted independently.
struct RangePlan {
  std::uint32_t cover_order = 0;  ///< order of the DifferenceCover
  std::uint64_t members = 0;      ///< most suffixes of a range, at least 1
};

/// Orders of covers that plans use. The least one needs the fewest symbols for a comparison, 181;
/// the greatest, 5221 symbols, ranks 1.7 % of all suffixes.
inline constexpr std::uint32_t least_cover_order = 2;
inline constexpr std::uint32_t greatest_cover_order = 14;

/// A range has at least 1/64 of all suffixes, since each range takes a pass over the text.
inline constexpr std::uint64_t most_ranges_wanted = 64;

/// The members of a range are searched in this many chunks of the text, one after the other, and in
/// fewer if these would be shorter than the least chunk.
inline constexpr std::uint64_t searched_chunks = 4;
inline constexpr std::uint64_t least_searched_chunk = std::uint64_t{1} << 20;

/// Most bytes of device memory that a construction in ranges takes (range_build.cu has the table).
/// Pure arithmetic.
template <Position Index>
[[nodiscard]] std::uint64_t bytes_in_ranges(const TextShape& shape, const RangePlan& plan);

/// The least budget that plan_ranges() accepts.
template <Position Index>
[[nodiscard]] std::uint64_t least_bytes(const TextShape& shape);

/// The least cover order and the largest ranges that a budget allows.
/// \throws Error (out_of_memory)  the budget is below least_bytes()
template <Position Index>
[[nodiscard]] RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget);

/// Receives the suffix array, one range after the other.
template <Position Index>
using RangeSink = std::function<void(DeviceBuffer<Index> suffixes)>;

/// Builds a suffix array in ranges; see range_build.cu.
///
/// \tparam Index   type of positions on the device
/// \param context  stream, memory budget, progress (one call a range), report (phases "copy in",
///                 "pack", "cover", "borders", "ranges"; figures "ranges", "cover_period",
///                 "cover_rounds", "unresolved_after_first_sort", "compared"). The current device
///                 must be the context's (see DeviceCall).
/// \param text     in host memory, of at least one symbol, addressable by Index
/// \param kept     bytes that `sink` keeps for each suffix of a range until it is called again;
///                 while it runs, it may use the memory that the range took besides its suffixes
/// \param plan     instead of that for the memory of the device, whatever it takes; for tests
/// \throws Error (out_of_memory)  names the fewest bytes required, before any sort; (device)
template <Position Index>
void build_in_ranges(const DeviceContext& context, const TextView& text, int kept,
                     const RangeSink<Index>& sink, const std::optional<RangePlan>& plan = {});

}  // namespace sortie::suffix_array::cuda
