// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The first sort keys of a range: as many symbols of the packed text as 63 bits hold, zeros after
/// an end, and in the lowest bit whether there is an end. So suffixes with equal odd keys are in
/// their final order, as first_groups() requires.
struct WindowKey {
  SymbolStream text;

  /// Symbols that a key covers.
  __host__ __device__ int symbols() const { return 63 / text.bits; }
  /// Bits of the greatest key.
  __host__ __device__ int bits() const { return symbols() * text.bits + 1; }

  __host__ __device__ std::uint64_t operator()(std::uint64_t position) const {
    const std::uint64_t window =
        text.window<std::uint64_t>(position) >> ((text.window_symbols(64) - symbols()) * text.bits);
    return window << 1 | ((window & text.last_symbol_mask()) == 0 ? 1U : 0U);
  }
};

/// A set of suffixes of a text, sorted by the symbols compared so far.
template <Position Index>
struct TextSorted {
  DeviceBuffer<Index> suffixes;  ///< their positions, in order
  SuffixGroups<Index> groups;    ///< those that are equal so far; slots are entries of `suffixes`
  std::uint64_t depth = 0;       ///< least letters in which the members of a group agree
  std::uint64_t unresolved = 0;  ///< suffixes in groups after the first sort
};

/// When sort_by_text() stops although groups remain.
struct TextSortEnd {
  std::uint64_t depth;  ///< stops when this many letters are compared
  /// Also stops when a round leaves more than half of its suffixes in groups.
  bool when_slow;
};

/// Sorts suffixes by the symbols of the packed text alone: by one radix sort by WindowKey, then
/// groups by windows of 64 bits. Waits for the stream once, and once a round.
///
/// \param text       its first_depth() is 0
/// \param positions  ascending
/// \param key_bits   number of low bits of the first keys in which suffixes may differ
/// \throws Error (out_of_memory, device)
/// Complexity: O(m) for m suffixes, and a round is linear in the suffixes in groups. Memory:
/// range_plan.cpp, bytes_a_member.
template <Position Index>
[[nodiscard]] TextSorted<Index> sort_by_text(const SymbolStream& text,
                                             DeviceBuffer<Index> positions, int key_bits,
                                             const TextSortEnd& end, cudaStream_t stream);

/// Consecutive suffixes of the suffix array: from the one at `begin` on, and before the one at
/// `end`.
struct SuffixRange {
  std::uint64_t begin = 0;  ///< a position
  std::uint64_t end = 0;
  std::uint64_t begin_window = 0;  ///< the 64-bit windows of both
  std::uint64_t end_window = 0;
  bool first = false;  ///< begins with the first suffix of all; `begin` is not used
  bool last = false;   ///< ends with the last suffix of all; `end` is not used
  std::uint64_t members = 0;
};

/// Joins consecutive ranges to ranges of at most `most` members. Returns nothing if a range has more.
[[nodiscard]] std::vector<SuffixRange> join_ranges(const std::vector<SuffixRange>& parts,
                                                   std::uint64_t most);

/// Divides the suffix array, before it is built, into ranges of at most `most_members`.
///
/// Candidates are drawn at random, one from each of equal ranges of the text, and sorted. All
/// suffixes between two neighbouring candidates are counted, and neighbouring counts are joined.
/// All suffixes differ, so every text can be divided, also one of a single repeated letter.
///
/// \param symbols  symbols of the text, at least 1
/// \throws Error (out_of_memory, device)
/// Waits for the stream twice, and again in the unlikely case that a range is too large.
/// Complexity: O(n log c) for c candidates. Memory: less than 512 KiB.
template <Position Index>
[[nodiscard]] std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order,
                                                   std::uint64_t symbols,
                                                   std::uint64_t most_members, cudaStream_t stream);

/// Figures of the sort of a range.
struct RangeFigures {
  std::uint64_t unresolved_after_first_sort = 0;
  std::uint64_t compared = 0;  ///< suffixes sorted by comparisons
};

/// The suffixes of a range, in order: the suffixes of the text that lie in the range are gathered,
/// sorted by text as long as each round separates most of them, and the rest by a merge sort of each
/// group that compares two suffixes at a time by SuffixOrder.
/// \param symbols  symbols of the text
/// \param figures  incremented
/// \throws Error (out_of_memory, device)
/// Waits for the stream several times. Complexity: O(n) for the text, O(m) for the m members of the
/// range, and O(g log g) comparisons for the g remaining ones, each of at most a period of symbols.
/// Memory: bytes_to_sort() of range_plan.cpp, which includes the text and the ranks of the cover.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                             const SuffixRange& range, RangeFigures& figures,
                                             cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
