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
  const std::uint32_t* numbers;
  const std::uint16_t* codes;
  const ListWord* words;
  const std::uint32_t* list_begins;
  const std::uint32_t* offsets;
  const std::uint32_t* indices;
  const std::uint16_t* orders;
  const Value* a;
  const Value* b;
  Value* c;
};

// Computes the entries of a tile, one block per tile.
//
//   products[i]   shared: product i of the tile, in the order of A's entries
//   factors[f]    shared: value of factor f; offsets[f]: entry of B of its product i, less i
//   codes[p]      shared: number of a product; those of a list follow each other
//   first[j]      shared: first code of list j
//   lane l        product l of 32, whose factor is found by the bits before it; then a list
template <int Threads, class Value>
__global__ void __launch_bounds__(Threads) add_lists_kernel(const ListArguments<Value> args) {
  constexpr int warps = Threads / 32;
  const ListTile tile = args.tiles[args.numbers[blockIdx.x]];
  trigger_dependent_launch();
  Value* const products = reinterpret_cast<Value*>(dynamic_shared_memory());
  Value* const factors = products + tile.products;
  auto* const offsets = reinterpret_cast<std::uint32_t*>(factors + tile.factors);
  // The codes are copied by 16 bytes.
  const auto at = (reinterpret_cast<std::uintptr_t>(offsets + tile.factors) + 15) / 16 * 16;
  auto* const codes = reinterpret_cast<std::uint16_t*>(at);
  std::uint16_t* const first = codes + (tile.products + 7) / 8 * 8;
  const auto lane = threadIdx.x % 32;
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const ListWord* const words = args.words + tile.first_product / 32;
  const auto word_count = static_cast<int>((tile.products + 31) / 32);
  {
    const std::uint32_t* const from = args.offsets + tile.first_factor;
    const std::uint32_t* const index = args.indices + tile.first_index;
    const bool is_indexed = tile.first_index >= 0;
    for (std::uint32_t f = threadIdx.x; f < tile.factors; f += Threads) {
      offsets[f] = from[f];
      factors[f] = args.a[is_indexed ? index[f] : tile.a_begin + f];
    }
    const auto* const quads = reinterpret_cast<const uint4*>(args.codes + tile.first_product);
    for (std::uint32_t i = threadIdx.x; i < (tile.products + 7) / 8; i += Threads)
      reinterpret_cast<uint4*>(codes)[i] = quads[i];
    const std::uint32_t* const list_begins = args.list_begins + tile.first_product / 32;
    for (int w = warp; w < word_count; w += warps) {
      const std::uint32_t begins = list_begins[w];
      if ((begins >> lane & 1) != 0)
        first[words[w].lists_before + __popc(begins & lanes_below())] =
            static_cast<std::uint16_t>(w * 32 + lane);
    }
  }
  __syncthreads();
  // Several loads of B are in flight at once.
  constexpr int batch = 4;
  for (int w = warp; w < word_count; w += batch * warps) {
    Value found[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if (w + k * warps >= word_count) break;
      const ListWord word = words[w + k * warps];
      const auto i = static_cast<std::uint32_t>((w + k * warps) * 32 + lane);
      const int f =
          word.factors_before + __popc(word.factor_begins & (lanes_below() << 1 | 1u)) - 1;
      if (i < tile.products) found[k] = product(factors[f], args.b[i + offsets[f]]);
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const auto i = static_cast<std::uint32_t>((w + k * warps) * 32 + lane);
      if (i < tile.products) products[i] = found[k];
    }
  }
  __syncthreads();
  Value* const c = args.c + tile.c_begin;
  const std::uint16_t* const order = args.orders + tile.first_order;
  const bool is_ordered = tile.first_order >= 0;
  for (std::uint32_t j = threadIdx.x; j < tile.entries; j += Threads) {
    const std::uint32_t end = j + 1 < tile.entries ? first[j + 1] : tile.products;
    std::uint32_t p = first[j];
    Value total = products[codes[p]];
    for (++p; p + 1 < end; p += 2) {
      const Value one = products[codes[p]];
      const Value other = products[codes[p + 1]];
      total = sum(sum(total, one), other);
    }
    if (p < end) total = sum(total, products[codes[p]]);
    c[is_ordered ? order[j] : j] = total;
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
    const ListArguments<Value> args{lists.tiles.data(),
                                    tiles.numbers.data(),
                                    lists.codes.data(),
                                    lists.words.data(),
                                    lists.list_begins.data(),
                                    lists.offsets.data(),
                                    lists.indices.data(),
                                    lists.orders.data(),
                                    a_values,
                                    b_values,
                                    c_values};
    group.launch(add_lists_kernel<own.threads, Value>, tiles.count, own.threads,
                 list_tile_bytes<Value>(tiles.max_weight), args);
  });
}

}  // namespace sortie::spgemm::cuda
