#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Some suffixes of a text, sorted by as many symbols as were compared.
template <Position Index>
struct TextSorted {
  DeviceBuffer<Index> suffixes;  ///< their positions, in order
  SuffixGroups<Index> groups;    ///< those that are equal so far; slots are entries of `suffixes`
  std::uint64_t depth = 0;       ///< letters in which the members of each group agree at least
  std::uint64_t unresolved = 0;  ///< suffixes in groups after the first sort
};

/// When sort_by_text() ends while there are groups.
struct TextSortEnd {
  std::uint64_t depth;  ///< so many letters are compared
  /// Or a round has left more than half of its suffixes in groups.
  bool when_slow;
};

/// Sorts suffixes by the symbols of the packed text alone: by one radix sort (window_key.cuh), then
/// groups by windows of 64 bits. Waits for the stream, once and once a round.
///
/// \param positions  ascending
/// \param key_bits   bits of the first keys by which any two may differ, counted from the lowest
/// \throws Error (out_of_memory, device)
/// Complexity: O(m) for m suffixes, and O(those in groups) a round.
/// Memory: range_plan.cpp, bytes_a_member.
template <Position Index>
[[nodiscard]] TextSorted<Index> sort_by_text(const SymbolStream& text,
                                             DeviceBuffer<Index> positions, int key_bits,
                                             const TextSortEnd& end, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
