// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "papers/ics17/shared_merge.cuh"

/// Grid bin: segments that exceed a block, sorted by many blocks each (paper, section 3.1, "grid
/// bin").
///
/// All long segments are cut into tiles of tile_size items, numbered consecutively. First each tile
/// is sorted by a block. Then, in round r, runs of tile_size << r items are merged in pairs, and
/// each block produces one tile of output. Rounds are separated by kernel boundaries. A segment of
/// few tiles needs fewer rounds than the longest one. Each segment starts in that buffer from which
/// its last round ends in the caller's output, so no final copy is needed.
namespace sortie::segsort::ics17 {

/// A tile of a long segment.
struct Tile {
  LongSegment segment;
  std::uint64_t begin;  ///< first item of the tile, relative to the segment
  int length;
};

__device__ inline Tile tile_at(const WorkLists& lists, std::uint32_t tile,
                               std::uint32_t long_segment) {
  Tile result;
  result.segment = lists.long_segments[long_segment];
  result.begin = (tile - result.segment.first_tile) * tile_size;
  const std::uint64_t rest = result.segment.length - result.begin;
  result.length = rest < tile_size ? static_cast<int>(rest) : tile_size;
  return result;
}

/// Index of the long segment that owns a tile: the last one whose first_tile does not exceed it.
__device__ inline std::uint32_t owner_of(const WorkLists& lists, std::uint32_t tile) {
  std::uint32_t low = 0;
  std::uint32_t high = lists.counters->long_segments() - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (lists.long_segments[middle].first_tile <= tile) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Returns true if round `round` (-1: the sort of tiles) writes to the caller's output, given the
/// total number of rounds of the segment.
__device__ inline bool writes_output(unsigned int rounds, int round) {
  return (static_cast<int>(rounds) - 1 - round) % 2 == 0;
}

/// Sorts each tile and records the segment that it belongs to. One block per tile.
template <class T>
__global__ void __launch_bounds__(tile_threads)
    sort_tiles_kernel(Arguments<typename T::Word> arguments, WorkLists lists) {
  __shared__ SharedTile<T, tile_threads, tile_items> shared;
  const std::uint32_t tiles = lists.counters->tiles();
  for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::uint32_t owner = owner_of(lists, t);
    if (threadIdx.x == 0) lists.tile_segment[t] = owner;
    const Tile tile = tile_at(lists, t, owner);
    Arguments<typename T::Word> target = arguments;
    if (!writes_output(rounds_of(tile.segment.length), -1)) {
      target.keys_out = arguments.keys_scratch;
      target.values_out = arguments.values_scratch;
    }
    const std::uint64_t begin = tile.segment.begin + tile.begin;
    sort_tile<T, tile_threads, tile_items>(shared, arguments, begin, tile.length);
    if constexpr (T::stable) {
      // The scratch buffer may be the input: all values must be read before any is written.
      std::uint64_t values[tile_items];
#pragma unroll
      for (int r = 0; r < tile_items; ++r) {
        const int position = r * tile_threads + static_cast<int>(threadIdx.x);
        values[r] = 0;
        if (position < tile.length)
          copy_value(&values[r], 0, arguments.values_in, begin + shared.get(position).payload,
                     arguments.value_bytes);
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < tile_items; ++r) {
        const int position = r * tile_threads + static_cast<int>(threadIdx.x);
        if (position >= tile.length) continue;
        target.keys_out[begin + position] = arguments.codec.decode(shared.get(position).key);
        copy_value(target.values_out, begin + position, &values[r], 0, arguments.value_bytes);
      }
    } else {
#pragma unroll
      for (int r = 0; r < tile_items; ++r) {
        const int position = r * tile_threads + static_cast<int>(threadIdx.x);
        if (position < tile.length) T::store(target, begin, position, shared.get(position));
      }
    }
    __syncthreads();
  }
}

/// The two runs that a tile of output is merged from in round `round`.
struct MergeRuns {
  std::uint64_t a_begin;  ///< relative to the segment
  std::uint64_t a_size;
  std::uint64_t b_size;    ///< run b follows run a
  std::uint64_t diagonal;  ///< outputs of this pair of runs that precede the tile

  __device__ MergeRuns(const Tile& tile, int round) {
    const std::uint64_t run = static_cast<std::uint64_t>(tile_size) << round;
    a_begin = tile.begin / (2 * run) * (2 * run);
    const std::uint64_t rest = tile.segment.length - a_begin;
    a_size = rest < run ? rest : run;
    b_size = rest - a_size < run ? rest - a_size : run;
    diagonal = tile.begin - a_begin;
  }
};

/// Compares words by the compared bits only; words equal in these count as equal, so merging keeps
/// their order.
template <class Word>
struct CompareBits {
  Word mask;
  __device__ bool operator()(Word a, Word b) const { return (a & mask) < (b & mask); }
};

/// Finds the start of each tile of output in its two runs. One thread per tile: each search is a
/// chain of dependent reads of global memory, whose latency only many concurrent searches hide.
template <class Word>
__global__ void __launch_bounds__(binning_threads)
    split_tiles_kernel(Arguments<Word> arguments, WorkLists lists, int round) {
  if (round >= static_cast<int>(lists.counters->merge_rounds)) return;
  const std::uint32_t tiles = lists.counters->tiles();
  const CompareBits<Word> less{arguments.codec.compare_mask};
  for (std::uint64_t t = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       t < tiles; t += static_cast<std::uint64_t>(gridDim.x) * blockDim.x) {
    const Tile tile = tile_at(lists, static_cast<std::uint32_t>(t), lists.tile_segment[t]);
    const unsigned int rounds = rounds_of(tile.segment.length);
    if (round >= static_cast<int>(rounds)) continue;
    const MergeRuns runs(tile, round);
    const Word* const source =
        (writes_output(rounds, round - 1) ? arguments.keys_out : arguments.keys_scratch) +
        tile.segment.begin + runs.a_begin;
    lists.tile_split[t] = merge_path<std::uint64_t>(
        runs.a_size, runs.b_size, runs.diagonal, less,
        [&](std::uint64_t i) { return arguments.codec.encode(source[i]); },
        [&](std::uint64_t i) { return arguments.codec.encode(source[runs.a_size + i]); });
  }
}

/// Source of the items of a tile of output: the first a_size items come from run a, the others from
/// run b. Positions are relative to the pair of runs.
struct MergeSource {
  std::uint64_t a_first;
  std::uint64_t b_first;
  int a_size;

  __device__ std::uint64_t operator()(int i) const {
    return i < a_size ? a_first + static_cast<std::uint64_t>(i)
                      : b_first + static_cast<std::uint64_t>(i - a_size);
  }
};

/// Loads the keys of both ranges to shared memory. A thread issues all loads before its first
/// store: the kernel is bound by latency, not by bandwidth.
template <class Word>
__device__ void load_keys(Word* keys, const Word* from, const MergeSource& source, int length,
                          const BitRangeCodec<Word>& codec) {
  Word loaded[tile_items];
#pragma unroll
  for (int r = 0; r < tile_items; ++r) {
    const int i = r * tile_threads + static_cast<int>(threadIdx.x);
    loaded[r] = i < length ? from[source(i)] : Word{0};
  }
#pragma unroll
  for (int r = 0; r < tile_items; ++r) {
    const int i = r * tile_threads + static_cast<int>(threadIdx.x);
    if (i < length) keys[banked(i)] = codec.encode(loaded[r]);
  }
}

/// Writes the values of a tile in order, each read from the source of its key; loads precede
/// stores, as above. Neighbouring outputs come from at most two runs, so the reads are nearly
/// coalesced.
template <class Value>
__device__ void fetch_values(Value* to, const Value* from, const std::uint16_t* origins,
                             const MergeSource& source, int length) {
  Value loaded[tile_items];
#pragma unroll
  for (int r = 0; r < tile_items; ++r) {
    const int k = r * tile_threads + static_cast<int>(threadIdx.x);
    loaded[r] = k < length ? from[source(origins[banked(k)])] : Value{0};
  }
#pragma unroll
  for (int r = 0; r < tile_items; ++r) {
    const int k = r * tile_threads + static_cast<int>(threadIdx.x);
    if (k < length) to[k] = loaded[r];
  }
}

/// One merge round over all long segments. One block produces one tile of output: it loads its
/// ranges of runs a and b to shared memory, thread i merges outputs i*tile_items ..., and the block
/// writes keys in order and fetches each value from the source of its key.
template <class Word>
__global__ void __launch_bounds__(tile_threads)
    merge_tiles_kernel(Arguments<Word> arguments, WorkLists lists, int round) {
  __shared__ Word keys[banked(tile_size)];
  __shared__ std::uint16_t origins[banked(tile_size)];
  if (round >= static_cast<int>(lists.counters->merge_rounds)) return;
  const std::uint32_t tiles = lists.counters->tiles();
  const CompareBits<Word> less{arguments.codec.compare_mask};
  for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Tile tile = tile_at(lists, t, lists.tile_segment[t]);
    const unsigned int rounds = rounds_of(tile.segment.length);
    if (round >= static_cast<int>(rounds)) continue;  // the same for the whole block

    const MergeRuns runs(tile, round);
    const bool to_output = writes_output(rounds, round);
    const std::uint64_t pair = tile.segment.begin + runs.a_begin;
    const Word* const keys_from = (to_output ? arguments.keys_scratch : arguments.keys_out) + pair;
    Word* const keys_to = to_output ? arguments.keys_out : arguments.keys_scratch;
    const void* const values_from = to_output ? arguments.values_scratch : arguments.values_out;
    void* const values_to = to_output ? arguments.values_out : arguments.values_scratch;

    const std::uint64_t a_first = lists.tile_split[t];
    const bool last_of_pair = runs.diagonal + tile.length == runs.a_size + runs.b_size;
    const std::uint64_t a_last = last_of_pair ? runs.a_size : lists.tile_split[t + 1];
    const int a_size = static_cast<int>(a_last - a_first);
    const int b_size = tile.length - a_size;
    const std::uint64_t b_first = runs.a_size + runs.diagonal - a_first;  // from the pair's start

    const MergeSource source{a_first, b_first, a_size};
    load_keys(keys, keys_from, source, tile.length, arguments.codec);
    __syncthreads();

    const int diagonal = min(static_cast<int>(threadIdx.x) * tile_items, tile.length);
    int i = merge_path<int>(
        a_size, b_size, diagonal, less, [&](int k) { return keys[banked(k)]; },
        [&](int k) { return keys[banked(a_size + k)]; });
    int j = diagonal - i;
    Word merged[tile_items];
    std::uint16_t merged_origins[tile_items];
    Word a = i < a_size ? keys[banked(i)] : Word{0};
    Word b = j < b_size ? keys[banked(a_size + j)] : Word{0};
#pragma unroll
    for (int r = 0; r < tile_items; ++r) {
      const bool from_a = i < a_size && (j >= b_size || !less(b, a));
      merged[r] = from_a ? a : b;
      merged_origins[r] = static_cast<std::uint16_t>(from_a ? i : a_size + j);
      if (from_a) {
        ++i;
        if (i < a_size) a = keys[banked(i)];
      } else {
        ++j;
        if (j < b_size) b = keys[banked(a_size + j)];
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < tile_items; ++r) {
      if (diagonal + r < tile.length) {
        keys[banked(diagonal + r)] = merged[r];
        origins[banked(diagonal + r)] = merged_origins[r];
      }
    }
    __syncthreads();

    const std::uint64_t to = tile.segment.begin + tile.begin;
#pragma unroll
    for (int r = 0; r < tile_items; ++r) {
      const int k = r * tile_threads + static_cast<int>(threadIdx.x);
      if (k < tile.length) keys_to[to + k] = arguments.codec.decode(keys[banked(k)]);
    }
    if (arguments.value_bytes == 4) {
      fetch_values(static_cast<std::uint32_t*>(values_to) + to,
                   static_cast<const std::uint32_t*>(values_from) + pair, origins, source,
                   tile.length);
    } else if (arguments.value_bytes == 8) {
      fetch_values(static_cast<std::uint64_t*>(values_to) + to,
                   static_cast<const std::uint64_t*>(values_from) + pair, origins, source,
                   tile.length);
    }
    __syncthreads();
  }
}

}  // namespace sortie::segsort::ics17
