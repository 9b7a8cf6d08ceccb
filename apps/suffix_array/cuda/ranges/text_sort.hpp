// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/device_buffer.hpp"

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

}  // namespace sortie::suffix_array::cuda
