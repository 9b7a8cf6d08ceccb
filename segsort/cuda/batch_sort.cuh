#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/tile_sort.cuh"
#include "sortie/segsort/cuda/work_lists.cuh"

/// The first kernel: reads all offsets, sorts every segment that fits the tile of a warp, and lists
/// the longer ones.
///
/// A warp takes a chunk of neighbouring segments at a time. Those of up to longest_batched items
/// are numbered item after item over the chunk and cut into batches where such a number passes a
/// multiple of batch_stride: a batch is whole segments and fits the warp's tile, whatever mix of
/// lengths there is, and its reads and writes are coalesced wherever the segments are neighbours.
/// Longer segments share a tile with the few of their class that surely fit.
namespace sortie::segsort {

/// Items between the starts of two batches: the longest segment may begin right before a multiple.
inline constexpr int batch_stride = warp_tile - longest_batched + 1;
inline constexpr int batch_warps = batch_threads / 32;
inline constexpr int most_batches = most_segments_of_chunk * longest_batched / batch_stride + 2;
inline constexpr int segments_of_lane = most_segments_of_chunk / 32;

/// What a warp keeps of its chunk.
template <class Word, int ValueBytes>
struct BatchShared {
  using T = Tile<Word, ValueBytes, 1, warp_tile_items>;
  T tile;
  std::uint64_t base[most_segments_of_chunk];  ///< first item less its number within the chunk
  std::uint64_t medium_base[medium_classes];   ///< the same for the segments of a unit
  std::uint16_t number[most_segments_of_chunk + 1];  ///< of each batched segment's first item
  std::uint16_t medium_number[medium_classes + 2];
  std::uint16_t first[most_batches + 1];  ///< batched segment that starts each batch
  /// Segments of the medium classes, by their number in the chunk: classes 0 and 2 from the front
  /// of an array, 1 and 3 from the back.
  std::uint16_t medium[medium_classes / 2][most_segments_of_chunk];

  __device__ std::uint16_t& medium_segment(int medium_class, int i) {
    return medium[medium_class / 2][medium_class % 2 == 0 ? i : most_segments_of_chunk - 1 - i];
  }
};
static_assert(most_segments_of_chunk * longest_batched < 1 << 16);

/// Sorts `segments` whole segments as one tile of the calling warp. Their items have the numbers
/// number[0] .. number[segments]-1, segment j's from number[j] on, and item number i is at
/// base[j] + i.
template <class T>
__device__ __forceinline__ void sort_batch(T& tile, const Arguments<typename T::Word>& arguments,
                                           const std::uint64_t* base, const std::uint16_t* number,
                                           int segments) {
  using Word = typename T::Word;
  const int lane = T::thread();
  const std::uint64_t first = number[0];
  const int length = number[segments] - number[0];
  if (segments == length) {  // nothing but segments of one item
    for (int e = lane; e < length; e += 32) {
      const std::uint64_t index = base[e] + first + static_cast<std::uint64_t>(e);
      arguments.keys_out[index] = arguments.keys_in[index];
      copy_value(arguments.values_out, index, arguments.values_in, index, T::value_bytes);
    }
    return;
  }
  auto* const heads = reinterpret_cast<unsigned char*>(tile.words);
#pragma unroll
  for (int i = 0; i < T::capacity / 128; ++i) tile.words[i * 32 + lane] = 0;
  __syncwarp();
  for (int i = lane; i < segments; i += 32) heads[number[i] - number[0]] = 1;
  __syncwarp();
  const int segment_bits = bits_of(static_cast<std::uint32_t>(segments - 1));
  Word keys[T::items];
  std::uint32_t words[T::items];
  int before = -1;  // segments that start before the row, less one
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * 32 + lane;
    const unsigned int starts = __ballot_sync(full_warp, heads[e] != 0);
    const int segment = before + __popc(starts & (0xffffffffu >> (31 - lane)));
    before += __popc(starts);
    words[r] = 0xffffffffu;
    keys[r] = 0;
    if (e < length) {
      const std::uint64_t index = base[segment] + first + static_cast<std::uint64_t>(e);
      keys[r] = arguments.keys_in[index];
      fetch_value(tile, e, arguments.values_in, index);
      words[r] = segment_field(static_cast<std::uint32_t>(segment), segment_bits) |
                 static_cast<std::uint32_t>(e);
    }
  }
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    keys[r] = arguments.codec.encode(keys[r]);
    tile.keys[r * 32 + lane] = keys[r];
  }
  __syncwarp();
  const bool ties = sort_tile(tile, keys, words, length, segment_bits, arguments.codec);
  finish_values(tile);
  store_tile(tile, arguments, length, segment_bits, ties,
             [&](std::uint32_t segment) { return base[segment] + first; });
  __syncwarp();
}

/// What a warp found in its chunk.
struct Chunk {
  int batches;
  int medium_count[medium_classes];
};

/// Exclusive sum over the warp; `total` gets the sum of all.
__device__ __forceinline__ std::uint32_t sum_before_in_warp(std::uint32_t value,
                                                            std::uint32_t& total) {
  const unsigned int lane = threadIdx.x % 32;
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(full_warp, sum, distance);
    if (lane >= distance) sum += other;
  }
  total = __shfl_sync(full_warp, sum, 31);
  return sum - value;
}

/// Looks at `segments` segments from chunk_begin on, neighbours in each lane.
template <class Shared, class Word>
__device__ __forceinline__ Chunk read_chunk(Shared& shared, const Arguments<Word>& arguments,
                                            const WorkLists& lists, std::uint64_t chunk_begin,
                                            int segments) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int each = (segments + 31) / 32;
  std::uint64_t begins[segments_of_lane];
  std::uint32_t lengths[segments_of_lane];  // 0 for what is not batched
  std::uint32_t packed = 0;  // items of batched segments, and their count in the low bits
  constexpr int count_bits = log2_of(most_segments_of_chunk) + 1;
  Chunk chunk{};
#pragma unroll
  for (int i = 0; i < segments_of_lane; ++i) {
    begins[i] = 0;
    lengths[i] = 0;
    if (i >= each) continue;
    const int segment = lane * each + i;
    SegmentExtent found{0, 0};
    if (segment < segments)
      found = extent(arguments, chunk_begin + static_cast<std::uint64_t>(segment));
    begins[i] = found.begin;
    if (found.length <= longest_batched) {
      lengths[i] = static_cast<std::uint32_t>(found.length);
      packed += lengths[i] << count_bits | (lengths[i] != 0 ? 1 : 0);
    }
    if (__any_sync(full_warp, found.length > longest_batched) == 0) continue;
    const unsigned int lower = (1u << lane) - 1;
    int medium = -1;
    if (found.length > longest_batched && found.length <= longest_in_warp)
      medium = medium_class(static_cast<std::uint32_t>(found.length));
#pragma unroll
    for (int c = 0; c < medium_classes; ++c) {
      const unsigned int members = __ballot_sync(full_warp, medium == c);
      if (medium == c)
        shared.medium_segment(c, chunk.medium_count[c] + __popc(members & lower)) =
            static_cast<std::uint16_t>(segment);
      chunk.medium_count[c] += __popc(members);
    }
    const int long_one = found.length > longest_in_warp ? long_class(found.length) : -1;
    if (__any_sync(full_warp, long_one >= 0) == 0) continue;
    const unsigned int members = __match_any_sync(full_warp, long_one);
    std::uint32_t place = 0;
    if (long_one >= 0 && (members & lower) == 0)
      place = atomicAdd(&lists.counters->segments[long_one],
                        static_cast<unsigned int>(__popc(members)));
    place = __shfl_sync(full_warp, place, __ffs(static_cast<int>(members)) - 1);
    if (long_one >= 0)
      lists.segment(long_one, place + static_cast<std::uint32_t>(__popc(members & lower))) =
          static_cast<std::uint32_t>(chunk_begin) + static_cast<std::uint32_t>(segment);
  }
  std::uint32_t total = 0;
  const std::uint32_t before = sum_before_in_warp(packed, total);
  std::uint32_t number = before >> count_bits;
  std::uint32_t place = before & ((1u << count_bits) - 1);
#pragma unroll
  for (int i = 0; i < segments_of_lane; ++i) {
    if (lengths[i] == 0) continue;
    shared.number[place] = static_cast<std::uint16_t>(number);
    shared.base[place] = begins[i] - number;
    number += lengths[i];
    ++place;
  }
  const std::uint32_t count = total & ((1u << count_bits) - 1);
  if (lane == 0) shared.number[count] = static_cast<std::uint16_t>(total >> count_bits);
  __syncwarp();
  if (count != 0) chunk.batches = shared.number[count - 1] / batch_stride + 1;
  for (std::uint32_t i = static_cast<std::uint32_t>(lane); i < count; i += 32) {
    const int batch = shared.number[i] / batch_stride;
    if (i == 0 || shared.number[i - 1] / batch_stride != batch)
      shared.first[batch] = static_cast<std::uint16_t>(i);
  }
  if (lane == 0) shared.first[chunk.batches] = static_cast<std::uint16_t>(count);
  __syncwarp();
  return chunk;
}

/// Brings the segments of a unit of a medium class side by side. \return their number
template <class Shared, class Word>
__device__ __forceinline__ int gather_medium(Shared& shared, const Arguments<Word>& arguments,
                                             std::uint64_t chunk_begin, const Chunk& chunk,
                                             int unit) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int medium = 0;
  int begin = 0;
  int segments = 0;
#pragma unroll
  for (int c = 0; c < medium_classes; ++c) {
    const int units = (chunk.medium_count[c] + segments_in_tile(c) - 1) / segments_in_tile(c);
    if (unit >= 0 && unit < units) {
      medium = c;
      begin = unit * segments_in_tile(c);
      segments = min(segments_in_tile(c), chunk.medium_count[c] - begin);
    }
    unit -= units;
  }
  SegmentExtent mine{0, 0};
  if (lane < segments)
    mine = extent(arguments, chunk_begin + shared.medium_segment(medium, begin + lane));
  int number = 0;  // items of the segments before mine
#pragma unroll
  for (int i = 0; i < medium_classes; ++i) {
    const int other = __shfl_sync(full_warp, static_cast<int>(mine.length), i);
    if (i < lane) number += other;
  }
  if (lane < segments) shared.medium_base[lane] = mine.begin - static_cast<std::uint64_t>(number);
  if (lane <= segments) shared.medium_number[lane] = static_cast<std::uint16_t>(number);
  __syncwarp();
  return segments;
}

template <class Word, int ValueBytes>
__global__ void __launch_bounds__(batch_threads, 5)
    batch_sort_kernel(Arguments<Word> arguments, WorkLists lists, int segments_of_chunk) {
  using Shared = BatchShared<Word, ValueBytes>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Shared& shared = reinterpret_cast<Shared*>(shared_bytes)[threadIdx.x / 32];
  const std::uint64_t all = arguments.num_segments;
  const auto step = static_cast<std::uint64_t>(segments_of_chunk);
  while (true) {
    unsigned int next = 0;
    if (threadIdx.x % 32 == 0) next = atomicAdd(&lists.counters->next_chunk, 1);
    const std::uint64_t begin = __shfl_sync(full_warp, next, 0) * step;
    if (begin >= all) break;
    const Chunk chunk = read_chunk(shared, arguments, lists, begin,
                                   static_cast<int>(min(step, all - begin)));
    int medium_units = 0;
#pragma unroll
    for (int c = 0; c < medium_classes; ++c)
      medium_units += (chunk.medium_count[c] + segments_in_tile(c) - 1) / segments_in_tile(c);
#pragma unroll 1
    for (int unit = 0; unit < medium_units + chunk.batches; ++unit) {
      const std::uint64_t* base = shared.medium_base;
      const std::uint16_t* number = shared.medium_number;
      int segments = 0;
      if (unit < medium_units) {
        segments = gather_medium(shared, arguments, begin, chunk, unit);
      } else {
        const int first = shared.first[unit - medium_units];
        segments = shared.first[unit - medium_units + 1] - first;
        base = shared.base + first;
        number = shared.number + first;
      }
      sort_batch(shared.tile, arguments, base, number, segments);
    }
  }
}

}  // namespace sortie::segsort
