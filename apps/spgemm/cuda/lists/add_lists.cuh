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
  const std::uint16_t* codes;
  const ListWord* words;
  const std::uint32_t* list_begins;
  const std::uint32_t* offsets;
  const std::uint32_t* indices;
  const std::uint16_t* slots;
  const Value* a;
  const Value* b;
  Value* c;
};

/// Loads of B that a lane has in flight.
template <class Value>
inline constexpr int list_batch = sizeof(Value) > sizeof(double) ? 4 : 8;

// Computes the entries of a tile, one block per tile.
//
//   products[i]   shared: product i of the tile, in the order of A's entries; then, at the first
//                 product of a list, the sum of the list
//   factors[f]    shared: value of factor f; offsets[f]: entry of B of its product i, less i
//   codes[p]      shared: number of a product; those of a list follow each other
//   first[j]      shared: first code of list j
//   lane l        product l of 32, whose factor is found by the bits before it; then a list
//
// All that does not depend on other loads is copied at once, since the latency of memory limits.
template <int Threads, class Value>
__global__ void __launch_bounds__(Threads) add_lists_kernel(const ListArguments<Value> args) {
  constexpr int warps = Threads / 32;
  constexpr int batch = list_batch<Value>;
  const ListTile& tile = args.tiles[blockIdx.x];
  trigger_dependent_launch();
  const std::uint32_t product_count = tile.products;
  const std::uint32_t factor_count = tile.factors;
  const auto word_count = static_cast<int>((product_count + 31) / 32);
  // The codes come first: they are copied by 16 bytes.
  auto* const codes = reinterpret_cast<std::uint16_t*>(dynamic_shared_memory());
  const std::uint32_t held_codes = (product_count + 7) / 8 * 8;
  auto* const words = reinterpret_cast<ListWord*>(codes + held_codes);
  Value* const products = reinterpret_cast<Value*>(reinterpret_cast<unsigned char*>(words) +
                                                   (word_count * sizeof(ListWord) + 15) / 16 * 16);
  Value* const factors = products + product_count;
  auto* const offsets = reinterpret_cast<std::uint32_t*>(factors + factor_count);
  std::uint32_t* const list_begins = offsets + factor_count;
  auto* const first = reinterpret_cast<std::uint16_t*>(list_begins + word_count);
  const auto lane = threadIdx.x % 32;
  const auto warp = static_cast<int>(threadIdx.x / 32);
  {
    const std::uint32_t* const index = args.indices + tile.first_index;
    const bool is_indexed = tile.first_index >= 0;
    const Value* const a = args.a + tile.a_begin;
    const std::uint32_t* const from = args.offsets + tile.first_factor;
    for (std::uint32_t f = threadIdx.x; f < factor_count; f += Threads) {
      copy_async(offsets + f, from + f);
      copy_async(factors + f, is_indexed ? args.a + index[f] : a + f);
    }
    const auto* const quads = reinterpret_cast<const uint4*>(args.codes + tile.first_product);
    for (std::uint32_t i = threadIdx.x; i < held_codes / 8; i += Threads)
      copy_async(reinterpret_cast<uint4*>(codes) + i, quads + i);
    const std::int64_t first_word = tile.first_product / 32;
    for (int w = static_cast<int>(threadIdx.x); w < word_count; w += Threads) {
      copy_async(words + w, args.words + first_word + w);
      copy_async(list_begins + w, args.list_begins + first_word + w);
    }
    wait_for_copies();
  }
  __syncthreads();
  const std::uint32_t up_to_lane = lanes_below() << 1 | 1u;
  for (int w = warp; w < word_count; w += batch * warps) {
    Value found[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int own = w + k * warps;
      if (own >= word_count) break;
      const ListWord word = words[own];
      const auto i = static_cast<std::uint32_t>(own * 32 + lane);
      const int f = word.factors_before + __popc(word.factor_begins & up_to_lane) - 1;
      if (i < product_count) found[k] = args.b[i + offsets[f]];
    }
    // Apart, so that all loads are on their way before the first one is waited for.
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int own = w + k * warps;
      if (own >= word_count) break;
      const ListWord word = words[own];
      const auto i = static_cast<std::uint32_t>(own * 32 + lane);
      const int f = word.factors_before + __popc(word.factor_begins & up_to_lane) - 1;
      if (i < product_count) products[i] = product(factors[f], found[k]);
      const std::uint32_t begins = list_begins[own];
      if ((begins >> lane & 1) != 0)
        first[word.lists_before + __popc(begins & lanes_below())] = static_cast<std::uint16_t>(i);
    }
  }
  __syncthreads();
  Value* const c = args.c + tile.c_begin;
  const std::uint32_t lists = tile.entries;
  const bool is_sorted = tile.first_slot >= 0;
  for (std::uint32_t j = threadIdx.x; j < lists; j += Threads) {
    const std::uint32_t end = j + 1 < lists ? first[j + 1] : product_count;
    std::uint32_t p = first[j];
    Value* const slot = products + codes[p];
    Value total = *slot;
    for (++p; p + 1 < end; p += 2) {
      const Value one = products[codes[p]];
      const Value other = products[codes[p + 1]];
      total = sum(sum(total, one), other);
    }
    if (p < end) total = sum(total, products[codes[p]]);
    if (is_sorted) {
      *slot = total;
    } else {
      c[j] = total;
    }
  }
  if (is_sorted) {
    const std::uint16_t* const slots = args.slots + tile.first_slot;
    __syncthreads();
    for (std::uint32_t j = threadIdx.x; j < lists; j += Threads) c[j] = products[slots[j]];
  }
  wait_for_prior_kernels();
}

template <class Value>
void add_product_lists(const ProductLists& lists, const Value* a_values, const Value* b_values,
                       Value* c_values, cudaStream_t stream) {
  KernelGroup group(stream);
  for_each_descending<static_cast<int>(tile_classes.size())>([&]<int Class> {
    constexpr ListClass own = tile_classes[Class];
    const ListTiles& tiles = lists.of_class[Class];
    if (tiles.count == 0) return;
    const ListArguments<Value> args{lists.tiles.data() + tiles.first,
                                    lists.codes.data(),
                                    lists.words.data(),
                                    lists.list_begins.data(),
                                    lists.offsets.data(),
                                    lists.indices.data(),
                                    lists.slots.data(),
                                    a_values,
                                    b_values,
                                    c_values};
    group.launch(add_lists_kernel<own.threads, Value>, tiles.count, own.threads,
                 list_tile_bytes<Value>(tiles.max_weight), args);
  });
}

}  // namespace sortie::spgemm::cuda
