// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "apps/spgemm/cuda/lists/product_lists.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Computes the values of C from lists of products. CMakeLists.txt lists the instances.
namespace sortie::spgemm::cuda {

template <class Value>
struct ListArguments {
  const ListTile* tiles;
  const std::uint32_t* words;
  const Value* a;
  const Value* b;
  Value* c;
};

/// Products of a list that a lane loads at a time, where lists are in columns.
inline constexpr std::uint32_t list_batch = 4;

/// What a lane loads of a group of 4 steps.
template <bool ShortCodes>
struct ListGroup {
  uint4 step_pairs[2];
  std::uint32_t low;   ///< codes
  std::uint32_t high;  ///< and the rest of them

  __device__ __forceinline__ void load(const std::uint32_t* stored, const ListArrays& arrays,
                                       std::uint32_t group, unsigned lane) {
    const auto* const pairs = reinterpret_cast<const uint4*>(stored + arrays.steps) + 2 * group;
    const std::uint32_t* const codes =
        stored + arrays.codes + group * ListArrays::group_words(ShortCodes);
    step_pairs[0] = pairs[0];
    step_pairs[1] = pairs[1];
    low = codes[lane];
    high = ShortCodes ? reinterpret_cast<const std::uint16_t*>(codes + 32)[lane] : codes[32 + lane];
  }
  /// The factor of the lane's product in step k. \param lanes  a bit for each lane up to this one
  [[nodiscard]] __device__ __forceinline__ std::uint32_t factor(int k, std::uint32_t lanes) const {
    const uint4& pair = step_pairs[k / 2];
    const std::uint32_t before = (k % 2 == 0 ? pair.y : pair.w) & 0xffffu;
    return before + __popc((k % 2 == 0 ? pair.x : pair.z) & lanes) - 1;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(int k) const {
    if constexpr (ShortCodes) {
      return k == 3 ? high >> 4 : __funnelshift_r(low, high, 12 * k) & 0xfffu;
    } else {
      const std::uint32_t word = k < 2 ? low : high;
      return k % 2 == 0 ? word & 0xffffu : word >> 16;
    }
  }
};

/// Products of the list that begins at product 32 * step + lane.
/// \param begins  of 32 products each, as in ListArrays; bits beyond the last product are 1
__device__ __forceinline__ std::uint32_t list_length(const std::uint32_t* begins,
                                                     std::uint32_t steps, std::uint32_t step,
                                                     unsigned lane) {
  const std::uint32_t next = step + 1 < steps ? begins[step + 1] : ~0u;
  const std::uint32_t rest = lane == 31 ? next : __funnelshift_r(begins[step], next, lane + 1);
  if (rest != 0) return __ffs(static_cast<int>(rest));
  std::uint32_t end = step + 1;
  while (end < steps && begins[end] == 0) ++end;
  const std::uint32_t end_lane = end < steps ? __ffs(static_cast<int>(begins[end])) - 1 : 0;
  return 32 * (end - step) + end_lane - lane;
}

// Computes the entries of a tile, one block per tile.
//
//   products[i]   shared: product at place i among those of all lists; lists are consecutive, or in
//                 columns: column k has product k of each list that is so long, longest lists first
//   factors[f]    shared: value of factor f; offsets[f]: entry of B of its product i, less i
//   lane l        product l of each step, whose factor is found by the bits before it; then a list
//
// All that does not depend on other loads is copied at once, since the latency of memory limits.
template <int Class, class Value>
__global__ void __launch_bounds__(
    tile_classes[Class].threads,
    (sizeof(Value) > sizeof(double) ? 1024 : tile_classes[Class].threads_per_sm) /
        tile_classes[Class].threads) add_lists_kernel(const ListArguments<Value> args) {
  constexpr unsigned threads = tile_classes[Class].threads;
  constexpr std::uint32_t warps = threads / 32;
  constexpr bool has_short_codes = tile_classes[Class].has_short_codes();
  constexpr int group_steps = group_products / 32;
  const ListTile& tile = args.tiles[blockIdx.x];
  trigger_dependent_launch();
  const ListArrays arrays(tile, has_short_codes);
  const std::uint32_t product_count = tile.products;
  const std::uint32_t factor_count = tile.factors;
  const std::uint32_t lists = tile.entries;
  const std::uint32_t columns = tile.columns;
  const std::uint32_t groups = (product_count + group_products - 1) / group_products;
  const std::uint32_t* const stored = args.words + tile.first_word;
  Value* const products = reinterpret_cast<Value*>(dynamic_shared_memory());
  Value* const factors = products + product_count;
  auto* const offsets = reinterpret_cast<std::uint32_t*>(factors + factor_count);
  std::uint32_t* const begins = offsets + arrays.begins_or_lengths;
  const auto lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x / 32;
  {
    const std::uint32_t* const index = stored + arrays.indices;
    const Value* const a = args.a + tile.a_begin;
    const bool is_indexed = tile.is_indexed != 0;
    for (std::uint32_t f = threadIdx.x; f < factor_count; f += threads)
      copy_async(factors + f, is_indexed ? args.a + index[f] : a + f);
    const std::uint32_t count =
        factor_count + (columns != 0 ? (columns + 1) / 2 : group_steps * groups);
    for (std::uint32_t i = threadIdx.x; i < count; i += threads)
      copy_async(offsets + i, stored + i);
  }
  const std::uint32_t lanes = lanes_below() << 1 | 1u;
  ListGroup<has_short_codes> group;
  if (warp < groups) group.load(stored, arrays, warp, lane);
  wait_for_copies();
  __syncthreads();
  for (std::uint32_t g = warp; g < groups; g += warps) {
    if (g != warp) group.load(stored, arrays, g, lane);
    const std::uint32_t first = g * group_products + lane;
    const auto multiply = [&](const auto& is_product) {
      std::uint32_t factor[group_steps];
      Value found[group_steps];
#pragma unroll
      for (int k = 0; k < group_steps; ++k) {
        const std::uint32_t i = first + 32 * k;
        factor[k] = group.factor(k, lanes);
        if (is_product(i)) found[k] = args.b[i + offsets[factor[k]]];
      }
      // Apart, so that all loads are on their way before the first one is waited for.
#pragma unroll
      for (int k = 0; k < group_steps; ++k)
        if (is_product(first + 32 * k))
          products[group.place(k)] = product(factors[factor[k]], found[k]);
    };
    if ((g + 1) * group_products <= product_count) {
      multiply([](std::uint32_t) { return true; });
    } else {
      multiply([&](std::uint32_t i) { return i < product_count; });
    }
  }
  __syncthreads();
  Value* const c = args.c + tile.c_begin;
  if (columns != 0) {
    const auto* const lengths = reinterpret_cast<const std::uint16_t*>(begins);
    const auto* const slots = reinterpret_cast<const std::uint16_t*>(stored + arrays.slots);
    for (std::uint32_t j = threadIdx.x; j < lists; j += threads) {
      const std::uint32_t slot = slots[j];
      Value total = products[j];
      const Value* next = products + lists + j;
      std::uint32_t k = 1;
      // All loads of a batch are on their way before the first one is waited for.
      for (; k + list_batch <= columns && j < lengths[k + list_batch - 1] &&
             lengths[k + list_batch - 1] != 1;
           k += list_batch) {
        Value found[list_batch];
#pragma unroll
        for (std::uint32_t i = 0; i < list_batch; ++i) {
          found[i] = *next;
          next += lengths[k + i];
        }
#pragma unroll
        for (std::uint32_t i = 0; i < list_batch; ++i) total = sum(total, found[i]);
      }
      for (; k < columns; ++k) {
        const std::uint32_t length = lengths[k];
        if (j >= length) break;
        if (length == 1) {
          // The rest of the longest list: its products are next to each other.
#pragma unroll 8
          for (; next < products + product_count; ++next) total = sum(total, *next);
          break;
        }
        total = sum(total, *next);
        next += length;
      }
      c[slot] = total;
    }
  } else {
    const auto* const steps = reinterpret_cast<const ListStep*>(stored + arrays.steps);
    for (std::uint32_t step = warp; step < group_steps * groups; step += warps) {
      const std::uint32_t own = begins[step];
      const std::uint32_t p = step * 32 + lane;
      if ((own >> lane & 1) == 0 || p >= product_count) continue;
      const std::uint32_t end = p + list_length(begins, group_steps * groups, step, lane);
      Value total = products[p];
#pragma unroll 4
      for (std::uint32_t i = p + 1; i < end; ++i) total = sum(total, products[i]);
      c[steps[step].lists_before + __popc(own & lanes_below())] = total;
    }
  }
  wait_for_prior_kernels();
}

template <class Value>
void add_product_lists(const ProductLists& lists, const Value* a_values, const Value* b_values,
                       Value* c_values, cudaStream_t stream) {
  KernelGroup group(stream);
  for_each_descending<static_cast<int>(tile_classes.size())>([&]<int Class> {
    const ListTiles& tiles = lists.of_class[Class];
    if (tiles.count == 0) return;
    const ListArguments<Value> args{lists.tiles.data() + tiles.first, lists.words.data(), a_values,
                                    b_values, c_values};
    group.launch(add_lists_kernel<Class, Value>, tiles.count, tile_classes[Class].threads,
                 list_tile_bytes<Value>(tiles.max_weight), args);
  });
}

}  // namespace sortie::spgemm::cuda
