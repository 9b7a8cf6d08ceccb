#pragma once

#include <algorithm>
#include <cstdint>

#include "sortie/multisort/cuda/group_lookup.cuh"
#include "sortie/multisort/cuda/key_order.cuh"
#include "sortie/segsort/cuda/partition_tile.cuh"

/// Moving items to their groups, in the memory of whatever device these lie in.
///
/// A block moves one tile. It brings the items in the order of their groups in shared memory, so
/// that those of a group leave it side by side, written by neighbouring lanes; blocks start in the
/// order of the tiles, so that what they write to a group, which lies side by side too, meets in
/// the cache of the device that owns the memory. Nothing is sent twice and nothing waits for a
/// copy: this is RMG's scatter (Ilic, section 3.1) and its exchange (3.2) in one.
namespace sortie::multisort {

/// A block's tile. More items mean longer runs; they wait in registers while they are ranked.
struct MoveShape {
  int threads;
  int items;  ///< of a thread
  int resident_blocks;

  [[nodiscard]] constexpr int tile() const { return threads * items; }
};
template <class Word, int ValueBytes>
inline constexpr MoveShape move_shape = sizeof(Word) == 8 || ValueBytes == 8
                                            ? (ValueBytes == 0 ? MoveShape{384, 24, 2}
                                                               : MoveShape{512, 24, 1})
                                            : (ValueBytes == 0 ? MoveShape{384, 32, 2}
                                                               : MoveShape{384, 24, 2});

/// Groups that a thread looks after: neighbours, from threadIdx.x * groups_of_thread on.
template <int Threads>
inline constexpr int groups_of_thread = (static_cast<int>(most_groups) - 1) / Threads + 1;

/// Shared memory of a block that moves keys alone.
/// \tparam HasGroups  each key's group is kept, in the order that the keys come in
template <class Word, MoveShape Shape, bool HasGroups>
struct KeyTile {
  Word keys[Shape.tile()];  ///< in the order of their groups
  /// Keys of each group; then, where they start in the tile.
  std::uint32_t counts[Shape.threads * groups_of_thread<Shape.threads>];
  /// Address of the first key of each group, less where it lies in the tile.
  std::uint64_t places[most_groups];
  std::uint64_t warp_sums[Shape.threads / 32];
  std::uint16_t groups[HasGroups ? Shape.tile() : 1];
};

/// Counts a row of a warp whose keys are all of one group, or of many. \return how many items of
/// the group were counted before
__device__ __forceinline__ std::uint32_t rank_in_tile(std::uint32_t* counts, std::uint32_t group,
                                                      bool valid) {
  std::uint32_t rank = 0;
  const std::uint32_t first = __shfl_sync(0xffffffffu, group, 0);
  if (__all_sync(0xffffffffu, group == first)) {
    if (valid) {
      if (threadIdx.x % 32 == 0) rank = atomicAdd(&counts[group], 32u);
      rank = __shfl_sync(0xffffffffu, rank, 0) + threadIdx.x % 32;
    }
  } else if (valid) {
    rank = atomicAdd(&counts[group], 1u);
  }
  return rank;
}

/// The same for skewed keys: those of the group `hot`, or of lane 0's where that is no_group, are
/// counted by one lane, whatever the others are.
__device__ __forceinline__ std::uint32_t rank_beside_hot(std::uint32_t* counts, std::uint32_t group,
                                                         bool valid, std::uint32_t hot) {
  const std::uint32_t first = __shfl_sync(0xffffffffu, group, 0);
  const bool is_peer = valid && group == (hot == no_group ? first : hot);
  const std::uint32_t peers = __ballot_sync(0xffffffffu, is_peer);
  const std::uint32_t before = peers & ((1u << threadIdx.x % 32) - 1);
  std::uint32_t rank = 0;
  if (valid && !(is_peer && before != 0))
    rank = atomicAdd(&counts[group], is_peer ? static_cast<std::uint32_t>(__popc(peers)) : 1u);
  // Of no peers, nobody asks the lane for what it does not have.
  const std::uint32_t of_peers = __shfl_sync(0xffffffffu, rank, __ffs(static_cast<int>(peers)) - 1);
  return is_peer ? of_peers + static_cast<std::uint32_t>(__popc(before)) : rank;
}

/// Keys alone. Which of a group's keys goes where within the group does not matter, so that one
/// addition in shared memory ranks a key, and one in global memory takes a run of places; the local
/// sort makes the result the same whatever the order.
///
///   registers      thread t has keys t, t + threads, ... of the tile, and their ranks
///   shared memory  counts of the groups; the tile in the order of the groups
///
/// A row of keys that are all of one group is counted by one lane, and where many keys are of one
/// group, so are these: else they would wait for each other.
template <class Word, class Lookup>
__global__ void __launch_bounds__(move_shape<Word, 0>.threads, move_shape<Word, 0>.resident_blocks)
    move_keys_kernel(MoveArguments arguments) {
  constexpr MoveShape shape = move_shape<Word, 0>;
  constexpr int columns = groups_of_thread<shape.threads>;
  using Tile = KeyTile<Word, shape, Lookup::is_costly>;
  Tile& shared = segsort::shared_memory<Tile>();
  const int thread = static_cast<int>(threadIdx.x);
  const OrderedKeys<Word> order(arguments.order);
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
    const std::uint32_t group = valid ? lookup(order.encode(keys[r])) : ~0u;
    ranks.set(r, Lookup::is_costly
                     ? rank_beside_hot(shared.counts, group, valid, arguments.hot_group)
                     : rank_in_tile(shared.counts, group, valid));
    // No barrier is needed: the thread itself reads it.
    if constexpr (Lookup::is_costly) shared.groups[place] = static_cast<std::uint16_t>(group);
  }
  __syncthreads();

  std::uint32_t counts[columns];
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < columns; ++c) sum += counts[c] = shared.counts[thread * columns + c];
  std::uint32_t start = segsort::sum_before(sum, shared.warp_sums);
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
      group = lookup(order.encode(keys[r]));
    }
    shared.keys[shared.counts[group] + ranks[r]] = keys[r];
  }
  __syncthreads();
  // Long code would leave the instruction cache.
  constexpr int unroll = Lookup::is_costly ? 4 : shape.items;
#pragma unroll unroll
  for (int r = 0; r < shape.items; ++r) {
    const int place = r * shape.threads + thread;
    if (place >= length) continue;
    const Word key = shared.keys[place];
    // In this order neighbours ask for the same entries, so that it costs little to ask again.
    const std::uint32_t group = lookup(order.encode(key));
    auto* const to = reinterpret_cast<Word*>(shared.places[group]) + place;
    *segsort::in_global_memory(to) = key;
  }
}

/// Brings the items of a row of the warp, one a lane, behind those of the same groups that it has
/// counted before, as segsort::rank_in_warp() does; but lane 0 notes all lanes of its group at
/// once, since where most keys are of one group, their additions would wait for each other. \return
/// how many items of the group are before, with the lanes before
__device__ __forceinline__ std::uint32_t rank_in_row(std::uint32_t* masks, std::uint16_t* counts,
                                                     std::uint32_t group, bool valid) {
  const std::uint32_t lane_bit = 1u << (threadIdx.x % 32);
  const std::uint32_t first = __shfl_sync(0xffffffffu, group, 0);
  const std::uint32_t same = __ballot_sync(0xffffffffu, valid && group == first);
  if (valid && group != first) atomicOr(&masks[group], lane_bit);
  if (lane_bit == 1) masks[first] = same;
  __syncwarp();
  const std::uint32_t peers = masks[group];
  const std::uint32_t before = counts[group];
  const std::uint32_t lower = peers & (lane_bit - 1);
  __syncwarp();
  if (valid && lower == 0) {
    masks[group] = 0;
    counts[group] = static_cast<std::uint16_t>(before + static_cast<std::uint32_t>(__popc(peers)));
  }
  __syncwarp();
  return before + static_cast<std::uint32_t>(__popc(lower));
}

/// Shared memory of a block that moves keys with values.
template <class Word, int ValueBytes, MoveShape Shape>
struct PairTile {
  using Value = typename segsort::ValueWord<ValueBytes>::type;
  static constexpr int warps = Shape.threads / 32;
  static constexpr int columns = groups_of_thread<Shape.threads>;
  static constexpr int masks_bytes = warps * static_cast<int>(most_groups) * 4;
  static constexpr int area_bytes = std::max(
      {Shape.tile() * static_cast<int>(sizeof(Word)), Shape.tile() * ValueBytes, masks_bytes});
  /// By turns, the lanes that hold an item of a group, in each warp; the tile's keys in the order
  /// of their groups; its values.
  alignas(16) unsigned char area[area_bytes];
  /// Items of each group in each warp; then, places of the first ones in the tile.
  alignas(16) std::uint16_t counts[warps][Shape.threads * columns];
  /// Addresses of the first item of each group, less where it lies in the tile.
  std::uint64_t key_places[most_groups];
  std::uint64_t value_places[most_groups];
  std::uint64_t warp_sums[warps];

  __device__ std::uint32_t* masks_of_warp() {
    return reinterpret_cast<std::uint32_t*>(area) + threadIdx.x / 32 * most_groups;
  }
  __device__ Word* keys() { return reinterpret_cast<Word*>(area); }
  __device__ Value* values() { return reinterpret_cast<Value*>(area); }
};

/// Keys with values, stable: what was counted in front of the tile says where its items go.
///
///   registers      warp w has items 32 items w + 32 r + l of the tile in register r of lane l,
///   until
///                  all is in the order of the groups; then thread t has places r threads + t
///   shared memory  a mask of lanes and a count for each group in each warp; then the tile's keys,
///                  and in the same room its values
template <class Word, int ValueBytes, class Lookup>
__global__ void __launch_bounds__(move_shape<Word, ValueBytes>.threads,
                                  move_shape<Word, ValueBytes>.resident_blocks)
    move_pairs_kernel(MoveArguments arguments) {
  constexpr MoveShape shape = move_shape<Word, ValueBytes>;
  constexpr int items = shape.items;
  using Tile = PairTile<Word, ValueBytes, shape>;
  using Value = typename Tile::Value;
  constexpr int columns = Tile::columns;
  Tile& shared = segsort::shared_memory<Tile>();
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int first = warp * 32 * items + thread % 32;
  const OrderedKeys<Word> order(arguments.order);
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

  segsort::ShortNumbers<items, 16> ranks;  // in the warp's share of the group
  std::uint16_t* const counts = shared.counts[warp];
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const bool valid = first + 32 * r < length;
    const std::uint32_t group = valid ? lookup(order.encode(keys[r])) : 0;
    ranks.set(r, rank_in_row(shared.masks_of_warp(), counts, group, valid));
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
  std::uint32_t start = segsort::sum_before(sum, shared.warp_sums);
  const std::uint64_t row = tile * most_groups;
  const std::uint64_t piece_row = tile / arguments.tiles_of_piece * most_groups;
#pragma unroll
  for (int c = 0; c < columns; ++c) {
    const int group = thread * columns + c;
    if (in_tile[c] != 0) {
      const std::uint64_t before =
          arguments.piece_rows[piece_row + group] + arguments.tile_rows[row + group] - start;
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

  segsort::ShortNumbers<items, 16> in_order;  // where the thread's items come to be in the tile
#pragma unroll
  for (int r = 0; r < items; ++r) {
    std::uint32_t place = 0;
    if (first + 32 * r < length) {
      place = counts[lookup(order.encode(keys[r]))] + ranks[r];
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
      group = lookup(order.encode(key));
      *segsort::in_global_memory(reinterpret_cast<Word*>(shared.key_places[group]) + place) = key;
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
      *segsort::in_global_memory(reinterpret_cast<Value*>(shared.value_places[groups[r]]) + place) =
          shared.values()[place];
  }
}

}  // namespace sortie::multisort
