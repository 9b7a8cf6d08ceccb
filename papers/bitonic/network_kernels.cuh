// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "multisort/cuda/merge/network_sort.cuh"
#include "papers/bitonic/bitonic.hpp"
#include "papers/bitonic/passes.hpp"
#include "primitives/key_codec.hpp"

/// The passes of the in-place bitonic network over memory.
namespace sortie::papers::bitonic_network {

using namespace multisort::bitonic;

/// A later pass: some steps of one stage.
///
/// One block holds one tile. If the pass has large distances, its first group of B steps takes the
/// topmost bits, so neighbouring threads hold neighbouring columns: they load, and after the last
/// group store, straight from registers. A pass down to distance 1 ends with 2^B consecutive items
/// per thread, so it regroups them to rows before the store.
template <class Key, class Value>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    network_pass_kernel(Array<Key, Value> array, BitonicPass pass) {
  using Shape = TileShape<Key, Value>;
  constexpr int bits = Shape::log_items_a_thread;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& tile = *reinterpret_cast<TileStorage<Key, Value>*>(shared);

  const bool is_near = pass.log_distance == 0;
  const int log_columns = is_near ? 0 : Shape::log_items - pass.steps;
  TileInMemory memory = TileInMemory::of_neighbours<Shape>(blockIdx.x);
  if (!is_near) {
    memory.log_columns = log_columns;
    memory.log_distance = pass.log_distance;
    const int log_tiles = pass.log_distance - log_columns;  // in a block of the rows
    const std::uint64_t number = blockIdx.x & ((std::uint64_t{1} << log_tiles) - 1);
    memory.row = std::uint64_t{blockIdx.x} >> log_tiles << (pass.log_distance + pass.steps);
    memory.end = memory.row + (std::uint64_t{1} << (pass.log_distance + pass.steps));
    memory.columns = number << log_columns;
    memory.upper_columns = pass.begins_stage
                               ? ((std::uint64_t{1} << log_tiles) - 1 - number) << log_columns
                               : memory.columns;
  }
  // If the upper half of a stage's block is beyond the end, the previous stage has sorted it.
  const std::uint64_t stage_block = memory.row >> pass.stage << pass.stage;
  const bool is_sorted = stage_block + (std::uint64_t{1} << (pass.stage - 1)) >= array.n;
  if (memory.row + memory.columns >= array.n || (is_sorted && !array.decode)) return;

  const int top = log_columns + pass.steps;
  Grouping grouping = Grouping::make<Shape>(max(log_columns, top - bits), pass.begins_stage);
  ThreadItems<Key, Value> items;
  load(array, memory, grouping, items);
  run_steps(tile, top, log_columns, pass.begins_stage, grouping, items);
  if (is_near) regroup(tile, grouping, Grouping::make<Shape>(log_threads, false), items);
  store(array, memory, grouping, items);
}

/// The shape of tiles, for the plan of the passes.
template <class Shape>
inline constexpr BitonicTile plan_tile{Shape::log_items, Shape::log_items_a_thread,
                                       Shape::log_least_columns};

/// Launches the sort of n items. \pre the current device holds the memory
template <class Key, class Value>
void sort_in_place(Key* keys, Value* values, std::uint64_t n, KeyCodec<Key> codec,
                   cudaStream_t stream) {
  using Shape = TileShape<Key, Value>;
  constexpr int bytes = shared_bytes<Key, Value>;
  if (n == 0) return;
  const BitonicPlan plan = plan_bitonic_passes(n, plan_tile<Shape>);
  Array<Key, Value> array{keys, values, n, codec, true, plan.passes.empty()};
  launch_sort_tiles(array, array, plan.first_stages, stream);
  array.encode = false;
  check_cuda(cudaFuncSetAttribute(network_pass_kernel<Key, Value>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (const BitonicPass& pass : plan.passes) {
    array.decode = &pass == &plan.passes.back();
    const std::uint64_t tiles = tiles_of_pass(pass, n, plan_tile<Shape>);
    network_pass_kernel<<<static_cast<unsigned int>(tiles), threads, bytes, stream>>>(array, pass);
    check_cuda(cudaGetLastError());
  }
}

}  // namespace sortie::papers::bitonic_network

namespace sortie::papers {

template <class Word, class Value>
void bitonic_sort_typed(const multisort::DeviceChunk& chunk, KeyType key_type, Order order,
                        cudaStream_t stream) {
  bitonic_network::sort_in_place(static_cast<Word*>(chunk.keys), static_cast<Value*>(chunk.values),
                                 chunk.size, KeyCodec<Word>(kind_of(key_type), order), stream);
}

}  // namespace sortie::papers
