#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/query.hpp"

namespace sortie::suffix_array::cuda {

/// suffix_array::find (query.hpp) where text, suffix array and patterns lie in device memory.
/// \param context   stream, memory budget, report (phase "query"); the current device must be the
///                  context's
/// \param suffixes  the suffix array of the text
/// \param patterns  arrays in device memory; begins must be ascending within the letters
/// \throws Error (out_of_memory, device)
/// Complexity: one thread a pattern. Memory: the result, 16 bytes a pattern, and a bit a symbol if
/// there are separators. Does not wait for the stream.
template <Position Index>
[[nodiscard]] DeviceBuffer<EntryRange> find_on_device(const Context& context,
                                                      const DeviceText& text,
                                                      std::span<const Index> suffixes,
                                                      const PatternView& patterns);

/// Occurrences (query.hpp) in device memory.
template <Position Index>
struct DeviceOccurrences {
  DeviceBuffer<EntryRange> ranges;
  DeviceBuffer<std::uint64_t> begins;
  DeviceBuffer<Index> positions;
};

/// suffix_array::locate (query.hpp) where text, suffix array and patterns lie in device memory.
/// \param context  as for find_on_device, phase "locate" too
/// \throws Error as find_on_device; (out_of_memory) as soon as the number of positions is known
/// Complexity: find_on_device, a scan over the patterns, and for each position one thread, which
/// looks for its pattern by bisection. Memory: the result. Waits for the stream once, for the
/// number of positions.
template <Position Index>
[[nodiscard]] DeviceOccurrences<Index> locate_on_device(const Context& context,
                                                        const DeviceText& text,
                                                        std::span<const Index> suffixes,
                                                        const PatternView& patterns,
                                                        std::uint64_t most_hits = all_hits);

}  // namespace sortie::suffix_array::cuda
