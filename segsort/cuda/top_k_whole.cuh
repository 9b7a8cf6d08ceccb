// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/top_k_arguments.cuh"

/// Selection from segments that have been sorted whole.
namespace sortie::segsort {

/// The first k items of each sorted segment. `group` neighbouring threads, a power of two, copy
/// those of one segment at a time. `keys_in` and `values_in` hold the sorted items.
template <class Key>
__global__ void __launch_bounds__(top_k_block)
    copy_first_kernel(const TopKArguments<Key> arguments, unsigned int group) {
  const std::uint64_t segments = arguments.segments();
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * top_k_block + threadIdx.x) / group;
  for (std::uint64_t segment = first; segment < segments;
       segment += std::uint64_t{gridDim.x} * top_k_block / group) {
    const Selection s = selection_of(arguments, segment);
    for (std::uint64_t i = threadIdx.x % group; i < s.wanted; i += group)
      arguments.put(s.out + i, arguments.codec.encoded(arguments.keys_in[s.begin + i]),
                    s.begin + i);
  }
}

/// Numbers 0 to items - 1 as values of 4 or 8 bytes, and the segments + 1 offsets of rows of equal
/// length. Either array may be null.
template <class Index>
__global__ void __launch_bounds__(top_k_block)
    number_items_kernel(Index* indices, std::uint64_t items, std::uint64_t* offsets,
                        std::uint64_t segments, std::uint64_t row_length) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * top_k_block + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * top_k_block;
  for (std::uint64_t s = first; offsets != nullptr && s <= segments; s += step)
    offsets[s] = s * row_length;
  for (std::uint64_t i = first; indices != nullptr && i < items; i += step)
    indices[i] = static_cast<Index>(i);
}

}  // namespace sortie::segsort
