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
/// Steps:
///   1. Number the beginning of every suffix as a leaf of a tree over common letters
///      (prefix_code.hpp; 15 bases in 31 bits) and sort the numbers. Texts of more than 2^28
///      symbols take 40 bits, 19 bases.
///   2. Sort large groups that start with a run of one letter (gaps of N) by the length of the run
///      (runs.cuh). What is equal then is decided by what stands behind the run, last of all.
///   3. Rounds over the groups of equal suffixes, each a segment: the next 64 bits of the packed
///      text (symbol_stream.cuh; 21 bases) are the keys, or 32 bits where memory would be short.
///      Suffixes that are alone drop out. Rounds end when one leaves more than half of its
///      suffixes, or after four.
///   4. What is left are long repeats. Each suffix takes the rank of a sample a few symbols further
///      on, chosen by the symbols between (sampling.cuh); samples, a tenth of the suffixes, are
///      sorted by prefix doubling with steps from sample to sample (samples.hpp).
///
/// \tparam Index   type of positions and ranks on the device
/// \param context  stream, memory budget, progress (one call a round), report (phases "pack",
///                 "sort", "groups", "rounds"; figures "rounds", of them "sample_rounds",
///                 "unresolved_after_first_sort"). The current device must be the context's (see
///                 DeviceScope).
/// \return the suffix array; all work on it is done when the function returns, or follows in stream
///         order
/// \throws Error (usage)  the text is too long for Index
/// \throws Error (out_of_memory)  the first sort does not fit in the budget (before any work), or
///                 the runs or rounds do not (as soon as the number of suffixes in them is known)
///
/// Waits for the stream once for the letters, once to four times for runs, once a round for its
/// counts, and every third round of samples where groups are small.
///
/// Complexity: O(n) for the first sort and each round over text; samples O(s log r) for s of them
/// and repeats of r steps.
///
/// Memory for n symbols of b bits, of which m are left in groups by the first sort (lists are made
/// for n, before m is known), r in long runs:
///
///   | name                        | elements  | type        | lifetime                         |
///   |-----------------------------|-----------|-------------|----------------------------------|
///   | keys, their alternate       | n each    | 4 (8) bytes | sort; one of them until groups   |
///   | suffix array                | n         | Index       | everywhere (positions first)     |
///   | its alternate               | n         | Index       | sort                             |
///   | packed text, rare letters   | b n, n    | bits        | groups, rounds                   |
///   | items, slots of the list    | n each    | Index       | groups, first round; then fewer  |
///   | heads                       | n         | uint8_t     | as the list                      |
///   | offsets                     | n / 2     | Index       | as the list                      |
///   | keys, their alternate       | m each    | 8 or 4 bytes| rounds                           |
///   | items' alternate            | m         | Index       | rounds                           |
///   | runs                        |           |             | see runs.hpp                     |
///   | samples                     |           |             | see samples.hpp                  |
///
/// With 32-bit positions that is 16 bytes a symbol in the first sort (24 beyond 2^28 symbols), 20
/// in groups, and 13.5 + 21 m / n in the first round, whose keys have 32 bits where 64 would not
/// keep within most_bytes_a_symbol (sizes.hpp). No text exceeds that: on an H200, 19.3 to 31.5
/// bytes were held for the texts of the tests, 30.7 for 3.1 * 10^9 bases, 44 times a chromosome
/// with mutations. The text itself makes one more.
///
/// Sources: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 5.1; Manber,
/// Myers (SIAM J. Comput. 1993); Larsson, Sadakane (2007). Samples chosen by their context are
/// those of Roberts et al. (Bioinformatics 2004); that they suffice for sorting, Kempa, Kociumaka:
/// String Synchronizing Sets (STOC 2019).
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> build_on_device(const Context& context, const DeviceText& text);

/// Most bytes that build_on_device holds before the rounds, the text not counted.
template <Position Index>
[[nodiscard]] std::uint64_t bytes_before_rounds(std::uint64_t symbols);

}  // namespace sortie::suffix_array::cuda
