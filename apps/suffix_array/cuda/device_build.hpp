#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// A TextView whose arrays lie in device memory.
struct DeviceText {
  std::span<const std::uint8_t> symbols;
  std::span<const std::uint64_t> separators;  ///< ascending positions of record ends within symbols
};

/// Builds a suffix array from device memory to device memory: the part of
/// cuda::build_prefix_doubling between the copies, for callers whose text is on the device.
///
/// Steps: pack the first k symbols of every suffix in a word and sort the words; suffixes with
/// equal words form groups; large groups that start with a run of one letter (gaps of N) are sorted
/// by the length of the run; then rounds, in each of which every group is a segment that is sorted
/// by the ranks h symbols further on (h = k, 2k, 4k, ...). Groups of one are resolved and drop out.
///
/// \tparam Index   type of positions and ranks on the device
/// \param context  stream, memory budget, progress (one call a round), report (phases "pack",
///                 "sort", "groups", "rounds"; figures "rounds", "unresolved_after_first_sort").
///                 The current device must be the context's (see DeviceScope).
/// \return the suffix array; all work on it is done when the function returns
/// \throws Error (usage)  the text is too long for Index
/// \throws Error (out_of_memory)  the first sort does not fit in the budget (before any work), or
///                 the rounds do not (as soon as the number of unresolved suffixes is known)
///
/// Waits for the stream once for the letters, three times for runs, and once a round for two
/// counts.
///
/// Memory for n symbols, m of which are unresolved after the first sort, in g <= m / 2 groups:
///
///   | name                     | elements  | type     | lifetime                                |
///   |--------------------------|-----------|----------|-----------------------------------------|
///   | separator bits           | n / 32    | uint32_t | packing                                 |
///   | words, their alternate   | n each    | uint64_t | packing, sort; one of them until groups |
///   | suffix array             | n         | Index    | everywhere (positions of the sort)      |
///   | its alternate            | n         | Index    | sort                                    |
///   | ranks                    | n + 1     | Index    | groups, rounds                          |
///   | positions, segment slots | n each    | Index    | groups, rounds                          |
///   | segment offsets          | n / 2 + 1 | Index    | groups, rounds                          |
///   | keys, their alternate    | m each    | Index    | rounds                                  |
///   | positions' alternate     | m         | Index    | rounds                                  |
///   | scratch                  |           | bytes    | of CUB: under n / 2; of the segmented   |
///   |                          |           |          | sort: some 4 * g                        |
///
/// With 32-bit positions that is 26 bytes a symbol in the first sort and groups, and 18 + 12 m / n
/// (and 2 of scratch) in the rounds, 32 when nothing is resolved by the first sort; the text itself
/// makes one more. With 64-bit positions: 44, and 36 + 24 m / n.
///
/// Source: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 5.1.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> build_on_device(const Context& context, const DeviceText& text);

/// Most bytes that build_on_device holds before the rounds, the text not counted.
template <Position Index>
[[nodiscard]] std::uint64_t bytes_before_rounds(std::uint64_t symbols);

}  // namespace sortie::suffix_array::cuda
