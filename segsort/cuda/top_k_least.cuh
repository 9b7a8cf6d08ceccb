// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/top_k_lists.cuh"

/// Selection of one item from each of many short segments.
namespace sortie::segsort {

/// Segments that a thread reads at the same time.
inline constexpr int least_segments = 4;

/// Finds the least item of each segment of up to tile_longest items, and lists the longer ones for the
/// other kernels. k is 1.
///
///   a warp         32 * least_segments neighbouring segments at a time
///   lane l of it   segments l, l + 32, ... of these: the least word so far of each, and its place
template <class Key>
__global__ void __launch_bounds__(32 * top_k_warps, 8)
    top_k_least_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  constexpr std::uint64_t chunk = 32 * least_segments;
  const std::uint64_t segments = arguments.segments();
  const std::uint64_t step = std::uint64_t{gridDim.x} * top_k_warps * chunk;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * top_k_warps + threadIdx.x / 32) * chunk;
       first < segments; first += step) {
    SelectionOffsets offsets[least_segments];
#pragma unroll
    for (int j = 0; j < least_segments; ++j) {
      const std::uint64_t segment = first + 32 * j + lane();
      if (segment < segments) offsets[j] = arguments.offsets(segment);
    }
    arguments.prefetch_offsets(first + step, chunk, segments);
    std::uint32_t lengths[least_segments];  // 0: nothing is selected here
    std::uint32_t longest = 0;
#pragma unroll
    for (int j = 0; j < least_segments; ++j) {
      const Selection s = offsets[j].selection();
      const bool is_long =
          s.wanted != 0 && s.length > static_cast<std::uint64_t>(arguments.tile_longest);
      if (__any_sync(full_warp, is_long))
        list_beyond_tiles(arguments, first + 32 * j + lane(), s, is_long);
      lengths[j] = is_long || s.wanted == 0 ? 0 : static_cast<std::uint32_t>(s.length);
      longest = max(longest, lengths[j]);
    }
    Word least[least_segments];
    std::uint32_t places[least_segments];
#pragma unroll
    for (int j = 0; j < least_segments; ++j) {
      least[j] = ~Word{0};
      places[j] = 0;
    }
    for (std::uint32_t i = 0; i < longest; ++i) {
#pragma unroll
      for (int j = 0; j < least_segments; ++j) {
        if (i >= lengths[j]) continue;
        const Word word = arguments.codec.encoded(arguments.keys_in[offsets[j].begin + i]);
        if (word < least[j]) places[j] = i;
        least[j] = min(least[j], word);
      }
    }
    __syncwarp();
    const auto put_values = [&]<class Value>(Value) {
      const auto* const from = static_cast<const Value*>(arguments.values_in);
      Value values[least_segments];
#pragma unroll
      for (int j = 0; j < least_segments; ++j) {
        const std::uint64_t position = offsets[j].begin + places[j];
        values[j] = static_cast<Value>(position);
        if (from != nullptr && lengths[j] != 0) values[j] = from[position];
      }
#pragma unroll
      for (int j = 0; j < least_segments; ++j)
        if (lengths[j] != 0) static_cast<Value*>(arguments.values_out)[offsets[j].out] = values[j];
    };
    if (arguments.value_bytes == 4) put_values(std::uint32_t{});
    if (arguments.value_bytes == 8) put_values(std::uint64_t{});
    if (arguments.keys_out == nullptr) continue;
#pragma unroll
    for (int j = 0; j < least_segments; ++j)
      if (lengths[j] != 0) arguments.keys_out[offsets[j].out] = arguments.codec.decoded(least[j]);
  }
}

}  // namespace sortie::segsort
