// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "papers/ics17/warp_bin.cuh"
#include "primitives/cuda/merge_path.cuh"
#include "segsort/cuda/tile.cuh"

/// Smem-merge: a block sorts up to Threads * Items consecutive items (paper, section 3.3).
///
/// Each warp sorts a chunk in registers and writes it to shared memory. Then sorted runs are merged
/// in pairs in shared memory. In each round, each thread produces the outputs of its own share: it
/// finds their source in the two runs by the merge path search (Green, McColl, Bader: ICS 2012),
/// merges serially into registers, and writes back. Shares defines how many items a thread, and so a
/// chunk, has. Chunks may have any length, so no padding is needed.
namespace sortie::segsort::ics17 {

/// The items of a block of Threads threads: those of thread t begin at begin(t). The chunk of warp w
/// begins at begin(32 * w), so no thread has items of two chunks.
template <Division How, int Threads, int Items>
struct Shares {
  int length;
  int least;   ///< m'
  int longer;  ///< threads of m items

  __device__ explicit Shares(int length)
      : length(length), least(length / Threads), longer(length % Threads) {}

  __device__ int begin(int thread) const {
    if constexpr (How == Division::full) return min(thread * Items, length);
    return thread * least + min(thread, longer);
  }
};

template <class T, int Threads, int Items>
struct SharedTile {
  static constexpr int capacity = Threads * Items;
  typename T::Word keys[banked(capacity)];
  std::conditional_t<T::has_payload, typename T::Payload, char>
      payloads[T::has_payload ? banked(capacity) : 1];

  __device__ typename T::I get(int i) const {
    typename T::I item;
    item.key = keys[banked(i)];
    if constexpr (T::has_payload) item.payload = payloads[banked(i)];
    return item;
  }
  __device__ void set(int i, const typename T::I& item) {
    keys[banked(i)] = item.key;
    if constexpr (T::has_payload) payloads[banked(i)] = item.payload;
  }
};

/// Sorts the `length` items at `begin`; afterwards `tile` holds them in order. Called by the whole
/// block; ends with a barrier.
template <class T, int Threads, int Items, Division How = chunk_division>
__device__ void sort_tile(SharedTile<T, Threads, Items>& tile,
                          const Arguments<typename T::Word>& arguments, std::uint64_t begin,
                          int length) {
  constexpr int warps = Threads / 32;
  const Shares<How, Threads, Items> shares(length);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int chunk_begin = shares.begin(thread - lane);
  const int chunk_length = shares.begin(thread - lane + 32) - chunk_begin;
  const auto less = T::less(arguments.codec);

  typename T::I items[Items];
  load_group<T>(items, arguments, begin, chunk_begin, chunk_length, lane);
  register_sort<32, Items>(items, lane, less);
#pragma unroll
  for (int r = 0; r < Items; ++r) {
    const int position = lane * Items + r;
    if (position < chunk_length) tile.set(chunk_begin + position, items[r]);
  }
  __syncthreads();

  const int output = shares.begin(thread);
  const int count = shares.begin(thread + 1) - output;
#pragma unroll 1
  for (int run = 1; run < warps && shares.begin(32 * run) < length; run *= 2) {
    const int first = thread / (64 * run) * (64 * run);  // thread of the first chunk of the pair
    const int a_begin = shares.begin(first);
    const int b_begin = shares.begin(first + 32 * run);
    const int a_size = b_begin - a_begin;
    const int b_size = shares.begin(min(first + 64 * run, Threads)) - b_begin;
    int i = merge_path<int>(
        a_size, b_size, output - a_begin, less, [&](int k) { return tile.get(a_begin + k); },
        [&](int k) { return tile.get(b_begin + k); });
    int j = output - a_begin - i;
    typename T::I a = i < a_size ? tile.get(a_begin + i) : T::padding();
    typename T::I b = j < b_size ? tile.get(b_begin + j) : T::padding();
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      if constexpr (How == Division::uneven) {
        if (r >= count) break;
      }
      const bool from_a = i < a_size && (j >= b_size || !less(b, a));
      items[r] = from_a ? a : b;
      if (from_a) {
        ++i;
        if (i < a_size) a = tile.get(a_begin + i);
      } else {
        ++j;
        if (j < b_size) b = tile.get(b_begin + j);
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      if (r < count) tile.set(output + r, items[r]);
    }
    __syncthreads();
  }
}

/// Sorts the segments of one block bin, one segment per block at a time: warp w holds its chunk in
/// registers, the tile in shared memory holds the whole segment.
template <class T, int Threads, int Items>
__global__ void __launch_bounds__(Threads)
    block_bin_kernel(Arguments<typename T::Word> arguments, WorkLists lists, int bin) {
  __shared__ SharedTile<T, Threads, Items> tile;
  const std::uint32_t count = lists.counters->bin_size[bin];
  const std::uint32_t* const ids = lists.segment_ids + lists.counters->bin_start[bin];
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const SegmentExtent segment = extent(arguments, ids[i]);
    const int length = static_cast<int>(segment.length);
    sort_tile<T, Threads, Items>(tile, arguments, segment.begin, length);
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      const int position = r * Threads + static_cast<int>(threadIdx.x);
      if (position < length) T::store(arguments, segment.begin, position, tile.get(position));
    }
    __syncthreads();
  }
}

}  // namespace sortie::segsort::ics17
