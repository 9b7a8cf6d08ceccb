// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "multisort/cuda/radix/count_kernels.cuh"
#include "multisort/cuda/radix/group_lookup.cuh"
#include "primitives/cuda/warp.cuh"
#include "primitives/key_codec.hpp"
#include "segsort/cuda/partition_tile.cuh"

/// The kernels that move items to their groups, in the memory of any reachable device.
///
/// A block moves one tile. In shared memory it orders the items by group, so neighbouring lanes
/// write the items of a group to neighbouring addresses. Blocks start in the order of the tiles, so
/// their writes to a group are adjacent and combine in the cache of the device that owns the
/// memory. This is RMG's scatter (Ilic, section 3.1) and its exchange (3.2) in one.
namespace sortie::multisort {

/// Shape of a block's tile. More items give longer runs; registers hold them while they are ranked.
struct MoveShape {
  int threads;
  int items;  ///< per thread
  int resident_blocks;

  [[nodiscard]] constexpr int tile() const { return threads * items; }
};
template <class Word, int ValueBytes>
inline constexpr MoveShape move_shape = sizeof(Word) == 8 || ValueBytes == 8
                                            ? (ValueBytes == 0 ? MoveShape{384, 24, 2}
                                                               : MoveShape{512, 24, 1})
                                            : (ValueBytes == 0 ? MoveShape{384, 32, 2}
                                                               : MoveShape{384, 24, 2});

/// Neighbouring groups per thread, from group threadIdx.x * groups_of_thread on.
template <int Threads>
inline constexpr int groups_of_thread = (static_cast<int>(most_groups) - 1) / Threads + 1;

/// Shared memory of a block that moves keys alone.
/// \tparam HasGroups  the group of each key is stored, in input order
template <class Word, MoveShape Shape, bool HasGroups>
struct MoveKeyTile {
  Word keys[Shape.tile()];  ///< in the order of their groups
  /// Number of keys of each group; then their start in the tile.
  std::uint32_t counts[Shape.threads * groups_of_thread<Shape.threads>];
  /// Destination of the first key of each group, minus its offset in the tile.
  std::uint64_t places[most_groups];
  std::uint64_t warp_sums[Shape.threads / 32];
  std::uint16_t groups[HasGroups ? Shape.tile() : 1];
};

/// Ranks a key, one per lane, in the tile. If all keys of the warp are of one group, one lane adds
/// for all. \return the number of items of the group counted before
__device__ __forceinline__ std::uint32_t rank_in_tile(std::uint32_t* counts, std::uint32_t group,
                                                      bool valid) {
  std::uint32_t rank = 0;
  const std::uint32_t first = __shfl_sync(full_warp, group, 0);
  if (__all_sync(full_warp, group == first)) {
    if (valid) {
      if (threadIdx.x % 32 == 0) rank = atomicAdd(&counts[group], 32u);
      rank = __shfl_sync(full_warp, rank, 0) + threadIdx.x % 32;
    }
  } else if (valid) {
    rank = atomicAdd(&counts[group], 1u);
  }
  return rank;
}

/// The same for skewed keys: one lane adds for all lanes with a key of the group `heavy_hitter`, or
/// of lane 0's group if that is no_group. The other lanes add by themselves.
__device__ __forceinline__ std::uint32_t rank_with_heavy_hitter(std::uint32_t* counts,
                                                                std::uint32_t group, bool valid,
                                                                std::uint32_t heavy_hitter) {
  const std::uint32_t first = __shfl_sync(full_warp, group, 0);
  const bool is_peer = valid && group == (heavy_hitter == no_group ? first : heavy_hitter);
  const std::uint32_t peers = __ballot_sync(full_warp, is_peer);
  const std::uint32_t before = peers & lanes_below();
  std::uint32_t rank = 0;
  if (valid && !(is_peer && before != 0))
    rank = atomicAdd(&counts[group], is_peer ? static_cast<std::uint32_t>(__popc(peers)) : 1u);
  // Without peers the shuffled value is unused.
  const std::uint32_t of_peers = from_lane(rank, first_lane(peers));
  return is_peer ? of_peers + static_cast<std::uint32_t>(__popc(before)) : rank;
}

/// Moves keys alone. One block moves one tile.
///
///   registers      thread t holds keys t, t + threads, ... of the tile, and their ranks
///   shared memory  counts of the groups; the tile in the order of the groups
///
/// The order of keys within a group does not matter, because the local sort determines the result.
/// So one atomic addition in shared memory ranks a key, and one in global memory reserves the
/// places of a group's run. One lane counts for all lanes with the same group if all lanes agree,
/// or for a heavy hitter; otherwise the atomics to one address would be serialised.
template <class Word, class Lookup>
__global__ void __launch_bounds__(move_shape<Word, 0>.threads, move_shape<Word, 0>.resident_blocks)
    move_keys_kernel(MoveArguments arguments) {
  constexpr MoveShape shape = move_shape<Word, 0>;
  constexpr int columns = groups_of_thread<shape.threads>;
  using Tile = MoveKeyTile<Word, shape, Lookup::is_costly>;
  Tile& shared = segsort::shared_memory<Tile>();
  const int thread = static_cast<int>(threadIdx.x);
  const KeyCodec<Word> codec = arguments.order.codec<Word>();
  __shared__ typename Lookup::Tables tables;
  const Lookup lookup(arguments.lookup, tables);
  const std::uint64_t tile = arguments.first_tile + blockIdx.x;
  const std::uint64_t begin = tile * shape.tile();
  const auto length = static_cast<int>(min(std::uint64_t{shape.tile()}, arguments.size - begin));
  const Word* const from = static_cast<const Word*>(arguments.keys) + begin + thread;

  Word keys[shape.items];
#pragma unroll
  for (int r = 0; r < shape.items; ++r)
    keys[r] = r * shape.threads + thread < length ? from[r * shape.threads] : Word{0};
  for (int i = thread; i < shape.threads * columns; i += shape.threads) shared.counts[i] = 0;
  __syncthreads();

  segsort::ShortNumbers<shape.items, 16> ranks;
#pragma unroll
  for (int r = 0; r < shape.items; ++r) {
    const int place = r * shape.threads + thread;
    const bool valid = place < length;
    const std::uint32_t group = valid ? lookup(codec.encoded(keys[r])) : ~0u;
    ranks.set(r, Lookup::is_costly
                     ? rank_with_heavy_hitter(shared.counts, group, valid, arguments.heavy_hitter)
                     : rank_in_tile(shared.counts, group, valid));
    // No barrier is needed: only this thread reads it.
    if constexpr (Lookup::is_costly) shared.groups[place] = static_cast<std::uint16_t>(group);
  }
  __syncthreads();

  std::uint32_t counts[columns];
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < columns; ++c) sum += counts[c] = shared.counts[thread * columns + c];
  std::uint32_t start = prefix_sum_in_block<shape.threads / 32>(sum, shared.warp_sums).before;
#pragma unroll
  for (int c = 0; c < columns; ++c) {
    const int group = thread * columns + c;
    shared.counts[group] = start;
    if (counts[c] != 0) {
      auto* const place = reinterpret_cast<unsigned long long*>(&arguments.key_places[group]);
      shared.places[group] =
          atomicAdd(place, static_cast<unsigned long long>(counts[c]) * sizeof(Word)) -
          start * sizeof(Word);
    }
    start += counts[c];
  }
  __syncthreads();

#pragma unroll
  for (int r = 0; r < shape.items; ++r) {
    const int place = r * shape.threads + thread;
    if (place >= length) continue;
    std::uint32_t group = 0;
    if constexpr (Lookup::is_costly) {
      group = shared.groups[place];
    } else {
      group = lookup(codec.encoded(keys[r]));
    }
    shared.keys[shared.counts[group] + ranks[r]] = keys[r];
  }
  __syncthreads();
  // A full unroll with look-ups would exceed the instruction cache.
  [[maybe_unused]] constexpr int unroll = Lookup::is_costly ? 4 : shape.items;
#pragma unroll unroll
  for (int r = 0; r < shape.items; ++r) {
    const int place = r * shape.threads + thread;
    if (place >= length) continue;
    const Word key = shared.keys[place];
    // In this order neighbouring lanes read the same entries, so a second look-up is cheap.
    const std::uint32_t group = lookup(codec.encoded(key));
    auto* const to = reinterpret_cast<Word*>(shared.places[group]) + place;
    *in_global_memory(to) = key;
  }
}

/// Shared memory of a block that moves keys with values.
template <class Word, int ValueBytes, MoveShape Shape>
struct MovePairTile {
  using Value = segsort::ValueWord<ValueBytes>;
  static constexpr int warps = Shape.threads / 32;
  static constexpr int columns = groups_of_thread<Shape.threads>;
  static constexpr int masks_bytes = warps * static_cast<int>(most_groups) * 4;
  static constexpr int area_bytes = std::max(
      {Shape.tile() * static_cast<int>(sizeof(Word)), Shape.tile() * ValueBytes, masks_bytes});
  /// Used three times: for each warp and group, the mask of the lanes that hold an item of it; the
  /// tile's keys in the order of the groups; its values.
  alignas(16) unsigned char area[area_bytes];
  /// Number of items of each group in each warp; then the place of the first in the tile.
  alignas(16) std::uint16_t counts[warps][Shape.threads * columns];
  /// Destinations of the first item of each group, minus its offset in the tile.
  std::uint64_t key_places[most_groups];
  std::uint64_t value_places[most_groups];
  std::uint64_t warp_sums[warps];

  __device__ std::uint32_t* masks_of_warp() {
    return reinterpret_cast<std::uint32_t*>(area) + threadIdx.x / 32 * most_groups;
  }
  __device__ Word* keys() { return reinterpret_cast<Word*>(area); }
  __device__ Value* values() { return reinterpret_cast<Value*>(area); }
};

/// Moves keys with values, stably. One block moves one tile; the counts of the items before the
/// tile determine its destinations.
///
///   registers      lane l of warp w holds item 32 * items * w + 32 * r + l of the tile in register
///                  r; once the tile is in the order of the groups, thread t writes places
///                  r * threads + t
///   shared memory  a lane mask and a count for each group in each warp; then the tile's keys, and
///                  in the same memory its values
template <class Word, int ValueBytes, class Lookup>
__global__ void __launch_bounds__(move_shape<Word, ValueBytes>.threads,
                                  move_shape<Word, ValueBytes>.resident_blocks)
    move_pairs_kernel(MoveArguments arguments) {
  constexpr MoveShape shape = move_shape<Word, ValueBytes>;
  constexpr int items = shape.items;
  using Tile = MovePairTile<Word, ValueBytes, shape>;
  using Value = typename Tile::Value;
  constexpr int columns = Tile::columns;
  Tile& shared = segsort::shared_memory<Tile>();
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int first = warp * 32 * items + thread % 32;
  const KeyCodec<Word> codec = arguments.order.codec<Word>();
  __shared__ typename Lookup::Tables tables;
  const Lookup lookup(arguments.lookup, tables);
  const std::uint64_t tile = arguments.first_tile + blockIdx.x;
  const std::uint64_t begin = tile * shape.tile();
  const auto length = static_cast<int>(min(std::uint64_t{shape.tile()}, arguments.size - begin));
  const Word* const keys_from = static_cast<const Word*>(arguments.keys) + begin + first;
  const Value* const values_from = static_cast<const Value*>(arguments.values) + begin + first;

  Word keys[items];
#pragma unroll
  for (int r = 0; r < items; ++r) keys[r] = first + 32 * r < length ? keys_from[32 * r] : Word{0};
  for (int i = thread; i < Tile::masks_bytes / 16; i += shape.threads)
    reinterpret_cast<uint4*>(shared.area)[i] = uint4{0, 0, 0, 0};
  for (int i = thread; i < static_cast<int>(sizeof(shared.counts) / 16); i += shape.threads)
    reinterpret_cast<uint4*>(&shared.counts[0][0])[i] = uint4{0, 0, 0, 0};
  __syncthreads();

  segsort::ShortNumbers<items, 16> ranks;  // rank among the warp's items of the group
  std::uint16_t* const counts = shared.counts[warp];
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const bool valid = first + 32 * r < length;
    const std::uint32_t group = valid ? lookup(codec.encoded(keys[r])) : 0;
    ranks.set(r, stable_rank_in_warp<true>(shared.masks_of_warp(), counts, group, valid));
  }
  __syncthreads();

  std::uint32_t in_tile[columns];
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < columns; ++c) {
    in_tile[c] = 0;
#pragma unroll
    for (int w = 0; w < Tile::warps; ++w) in_tile[c] += shared.counts[w][thread * columns + c];
    sum += in_tile[c];
  }
  std::uint32_t start = prefix_sum_in_block<Tile::warps>(sum, shared.warp_sums).before;
  const std::uint64_t row = tile * most_groups;
  const std::uint64_t batch_row = tile / arguments.tiles_per_batch * most_groups;
#pragma unroll
  for (int c = 0; c < columns; ++c) {
    const int group = thread * columns + c;
    if (in_tile[c] != 0) {
      const std::uint64_t before =
          arguments.batch_rows[batch_row + group] + arguments.tile_rows[row + group] - start;
      shared.key_places[group] = arguments.key_places[group] + before * sizeof(Word);
      shared.value_places[group] = arguments.value_places[group] + before * sizeof(Value);
    }
    std::uint32_t place = start;
#pragma unroll
    for (int w = 0; w < Tile::warps; ++w) {
      const std::uint32_t count = shared.counts[w][group];
      shared.counts[w][group] = static_cast<std::uint16_t>(place);
      place += count;
    }
    start += in_tile[c];
  }
  __syncthreads();

  segsort::ShortNumbers<items, 16> in_order;  // places of the thread's items in the ordered tile
#pragma unroll
  for (int r = 0; r < items; ++r) {
    std::uint32_t place = 0;
    if (first + 32 * r < length) {
      place = counts[lookup(codec.encoded(keys[r]))] + ranks[r];
      shared.keys()[place] = keys[r];
    }
    in_order.set(r, place);
  }
  Value values[items];
#pragma unroll
  for (int r = 0; r < items; ++r)
    values[r] = first + 32 * r < length ? values_from[32 * r] : Value{0};
  __syncthreads();
  segsort::ShortNumbers<items, 10> groups;
  static_assert(most_groups <= 1 << 10);
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const int place = r * shape.threads + thread;
    std::uint32_t group = 0;
    if (place < length) {
      const Word key = shared.keys()[place];
      group = lookup(codec.encoded(key));
      *in_global_memory(reinterpret_cast<Word*>(shared.key_places[group]) + place) = key;
    }
    groups.set(r, group);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < items; ++r)
    if (first + 32 * r < length) shared.values()[in_order[r]] = values[r];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const int place = r * shape.threads + thread;
    if (place < length)
      *in_global_memory(reinterpret_cast<Value*>(shared.value_places[groups[r]]) + place) =
          shared.values()[place];
  }
}

#ifdef __CUDACC__  // as in count_kernels.cuh
template <class Word, int ValueBytes, class Lookup>
cudaError_t launch_move_by(const MoveArguments& arguments, cudaStream_t stream) {
  constexpr MoveShape shape = move_shape<Word, ValueBytes>;
  void (*kernel)(MoveArguments) = nullptr;
  std::size_t shared = 0;
  if constexpr (ValueBytes == 0) {
    kernel = move_keys_kernel<Word, Lookup>;
    shared = sizeof(MoveKeyTile<Word, shape, Lookup::is_costly>);
  } else {
    kernel = move_pairs_kernel<Word, ValueBytes, Lookup>;
    shared = sizeof(MovePairTile<Word, ValueBytes, shape>);
  }
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  const auto tiles = static_cast<unsigned int>(arguments.end_tile - arguments.first_tile);
  kernel<<<tiles, static_cast<unsigned int>(shape.threads), shared, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word, int ValueBytes>
cudaError_t launch_move(const MoveArguments& arguments, cudaStream_t stream) {
  if (arguments.first_tile == arguments.end_tile) return cudaSuccess;
  return with_lookup<Word>(arguments.lookup, [&]<class Lookup>(LookupType<Lookup>) {
    return launch_move_by<Word, ValueBytes, Lookup>(arguments, stream);
  });
}

template <class Word, int ValueBytes>
const PartitionKernels& kernels_of() {
  static constexpr PartitionKernels kernels{
      static_cast<std::uint32_t>(move_shape<Word, ValueBytes>.tile()),
      launch_count<Word>,
      launch_refine<Word>,
      launch_sample<Word>,
      launch_move<Word, ValueBytes>,
      launch_encode<Word>};
  return kernels;
}
#endif

}  // namespace sortie::multisort
