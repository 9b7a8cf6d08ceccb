#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "sortie/segsort/cuda/tile_sort.cuh"
#include "sortie/segsort/cuda/work_lists.cuh"

/// Segments that no block's tile holds: split by their leading digits until the buckets fit.
///
/// A pass counts the digits of a part, and moves its items, stable, to their buckets in the other
/// buffer. Neighbouring buckets that fit a block's tile together become a group for
/// group_sort_kernel; larger ones are parts of the next pass. The digit starts at the highest bit
/// that the part's keys, counted from their least, have, so that a narrow range of keys costs no
/// passes; a part whose keys are all the same is done. Hence at most one pass for every four bits
/// of the keys, and mostly one for each factor of some hundred in the length.
namespace sortie::segsort {

/// Pieces that a block of the grid takes on in a round, about: for balance.
inline constexpr std::uint64_t pieces_a_block = 4;
/// The histograms are sized for so many, whatever the GPU.
inline constexpr std::uint64_t most_blocks_of_grid_partition = 256;
/// Parts that the grid takes on at a time: enough to keep all of its blocks busy.
inline constexpr std::uint32_t most_parts_of_wave = 1024;

template <class WordType, int ValueBytesOfOne, PartitionShape Shape>
struct PartitionShared {
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  static constexpr int threads = Shape.threads;
  static constexpr int warps = Shape.warps();
  static constexpr int items = Shape.items;
  static constexpr int tile = Shape.tile();
  static constexpr int buckets = Shape.buckets();
  static constexpr int digit_bits = log2_of(buckets);
  using Value = typename ValueWord<value_bytes>::type;
  alignas(16) Word keys[tile];
  alignas(16) Value values[value_bytes == 0 ? 1 : tile];
  /// Of the items brought in order: where each was in the tile, and its digit << 16.
  std::uint32_t sources[tile];
  alignas(16) std::uint16_t counts[warps][buckets];  ///< of the digits of each warp in the tile
  std::uint64_t places[buckets];
  std::uint64_t starts[buckets + 1];
  std::uint64_t warp_sums[warps];
  std::uint64_t least;
  std::uint64_t greatest;
  std::uint16_t next_group[buckets];  ///< first bucket behind the group of each
  std::uint16_t group_starts[buckets];
  int group_count;
  std::uint32_t next;
};

/// How the keys of a part are cut into digits.
template <class Word, int MostBits>
struct Digits {
  KeyCodec<Word> codec;
  Word base;
  int bits;  ///< of a digit: at least four buckets for each group that is needed, where possible
  int shift;

  __device__ Digits(const KeyCodec<Word>& key_codec, const Part& part)
      : codec(key_codec), base(static_cast<Word>(part.base)) {
    const int wanted = bits_of(part.length / longest_of_group_class(0)) + 2;
    bits = min(min(wanted, MostBits), part.bits);
    shift = part.bits - bits;
  }

  /// The compared bits of a key as a number.
  [[nodiscard]] __device__ Word compared(Word key) const {
    if (codec.plain) return key;
    constexpr int key_bits = static_cast<int>(sizeof(Word)) * 8;
    return (codec.encode(key) & codec.compare_mask) >> (codec.ignored_bits & (key_bits - 1));
  }
  [[nodiscard]] __device__ std::uint32_t of_compared(Word word) const {
    return static_cast<std::uint32_t>((word - base) >> shift);
  }
  [[nodiscard]] __device__ std::uint32_t of(Word key) const { return of_compared(compared(key)); }
};

template <class Shared>
using DigitsOf = Digits<typename Shared::Word, Shared::digit_bits>;

/// Counts the digits of `length` items from `begin`, and finds the least and greatest of their
/// compared bits. Ends with a barrier. \return the number of items of bucket threadIdx.x
template <class Shared>
__device__ __forceinline__ std::uint32_t count_digits(Shared& shared,
                                                      const typename Shared::Word* keys,
                                                      std::uint64_t begin, std::uint64_t length,
                                                      const DigitsOf<Shared>& digits) {
  using Word = typename Shared::Word;
  const unsigned int thread = threadIdx.x;
  const int warp = static_cast<int>(thread / 32);
  // No tile is in shared memory while digits are counted. Warps share counters where there is no
  // room for each to have its own.
  constexpr int room = static_cast<int>(sizeof(shared.keys) / sizeof(std::uint32_t));
  constexpr int copies =
      room / Shared::buckets < Shared::warps ? room / Shared::buckets : Shared::warps;
  static_assert(copies > 0);
  auto* const counts = reinterpret_cast<std::uint32_t*>(shared.keys);
  for (int c = 0; c < copies; ++c) counts[c * Shared::buckets + thread] = 0;
  if (thread == 0) {
    shared.least = ~std::uint64_t{0};
    shared.greatest = 0;
  }
  __syncthreads();
  Word least = ~Word{0};
  Word greatest = 0;
  for (std::uint64_t tile = 0; tile < length; tile += Shared::tile) {
    Word loaded[Shared::items];
#pragma unroll
    for (int r = 0; r < Shared::items; ++r) {
      const std::uint64_t i = tile + static_cast<std::uint64_t>(r * Shared::threads) + thread;
      loaded[r] = i < length ? keys[begin + i] : Word{0};
    }
#pragma unroll
    for (int r = 0; r < Shared::items; ++r) {
      const std::uint64_t i = tile + static_cast<std::uint64_t>(r * Shared::threads) + thread;
      const bool valid = i < length;
      const Word compared = digits.compared(loaded[r]);
      if (valid) {
        least = min(least, compared);
        greatest = max(greatest, compared);
        atomicAdd(&counts[warp % copies * Shared::buckets + digits.of_compared(compared)], 1);
      }
    }
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    least = min(least, __shfl_xor_sync(full_warp, least, mask));
    greatest = max(greatest, __shfl_xor_sync(full_warp, greatest, mask));
  }
  if (thread % 32 == 0) {
    atomicMin(reinterpret_cast<unsigned long long*>(&shared.least),
              static_cast<unsigned long long>(least));
    atomicMax(reinterpret_cast<unsigned long long*>(&shared.greatest),
              static_cast<unsigned long long>(greatest));
  }
  __syncthreads();
  std::uint32_t sum = 0;
  for (int c = 0; c < copies; ++c) sum += counts[c * Shared::buckets + thread];
  __syncthreads();
  return sum;
}

/// Exclusive sum of one number a thread. Ends with a barrier.
template <int Warps>
__device__ __forceinline__ std::uint64_t sum_before(std::uint64_t value,
                                                    std::uint64_t (&warp_sums)[Warps]) {
  const unsigned int lane = threadIdx.x % 32;
  std::uint64_t sum = value;
#pragma unroll
  for (unsigned int distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t other = __shfl_up_sync(full_warp, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  std::uint64_t before = 0;
#pragma unroll
  for (unsigned int warp = 0; warp < Warps; ++warp)
    if (warp < threadIdx.x / 32) before += warp_sums[warp];
  __syncthreads();
  return before + sum - value;
}

/// Moves `length` items from `begin` to their buckets, stable; thread b passes in `place` the index
/// of bucket b's next item. A tile of items at a time is brought in order in shared memory, so that
/// a bucket's items leave it side by side.
template <class Shared>
__device__ __forceinline__ void scatter_items(Shared& shared,
                                              const Arguments<typename Shared::Word>& arguments,
                                              Buffer from, Buffer to, std::uint64_t begin,
                                              std::uint64_t length, const DigitsOf<Shared>& digits,
                                              std::uint64_t place) {
  static_assert(Shared::tile <= 1 << 13 && Shared::buckets <= 1 << 16);
  using Word = typename Shared::Word;
  using Value = typename Shared::Value;
  const unsigned int thread = threadIdx.x;
  const unsigned int lane = thread % 32;
  const unsigned int warp = thread / 32;
  const Word* const keys_from = arguments.keys_of(from);
  const auto* const values_from = static_cast<const Value*>(arguments.values_of(from));
  Word* const keys_to = to == Buffer::output ? arguments.keys_out : arguments.keys_scratch;
  auto* const values_to =
      static_cast<Value*>(to == Buffer::output ? arguments.values_out : arguments.values_scratch);

  Word keys[Shared::items];
  const auto load_keys = [&](std::uint64_t tile) {
#pragma unroll
    for (int r = 0; r < Shared::items; ++r) {
      const std::uint64_t i = tile + warp * 32 * Shared::items + r * 32 + lane;
      keys[r] = i < length ? keys_from[begin + i] : Word{0};
    }
  };
  load_keys(0);
  for (std::uint64_t tile = 0; tile < length; tile += Shared::tile) {
    const int in_tile = static_cast<int>(min(length - tile, std::uint64_t{Shared::tile}));
    std::uint32_t ranks[Shared::items];  // among the warp's items of the same digit; digit << 16
    if constexpr (Shared::value_bytes != 0) {  // on their way while the keys are ranked
#pragma unroll
      for (int r = 0; r < Shared::items; ++r) {
        const unsigned int i = warp * 32 * Shared::items + r * 32 + lane;
        if (static_cast<int>(i) < in_tile)
          __pipeline_memcpy_async(&shared.values[i], values_from + begin + tile + i, sizeof(Value));
      }
      __pipeline_commit();
    }
    auto* const cleared = reinterpret_cast<std::uint32_t*>(shared.counts);
#pragma unroll
    for (int w = 0; w < Shared::warps / 2; ++w) cleared[w * Shared::buckets + thread] = 0;
    __syncthreads();
    std::uint16_t* const counts = shared.counts[warp];
    auto* const pairs_of_counts = reinterpret_cast<std::uint32_t*>(counts);
    // Rows are counted in order, and none waits for the result of the one before.
    constexpr int together = 4;
#pragma unroll
    for (int first_row = 0; first_row < Shared::items; first_row += together) {
      std::uint32_t found[together];   // what the counter held, on the first lane of the peers
      std::uint32_t orders[together];  // that lane, and how many peers are before
#pragma unroll
      for (int k = 0; k < together; ++k) {
        const int r = first_row + k;
        const bool valid = static_cast<int>(warp * 32 * Shared::items + r * 32 + lane) < in_tile;
        const std::uint32_t digit = digits.of(keys[r]) & (Shared::buckets - 1);
        unsigned int peers = __ballot_sync(full_warp, valid);
#pragma unroll
        for (int bit = 0; bit < Shared::digit_bits; ++bit) {
          const bool set = (digit >> bit & 1) != 0;
          const unsigned int others = __ballot_sync(full_warp, set);
          peers &= set ? others : ~others;
        }
        const unsigned int lower = peers & ((1u << lane) - 1);
        found[k] = 0;
        if (valid && lower == 0) {
          const unsigned int half = digit % 2 * 16;
          found[k] = atomicAdd(&pairs_of_counts[digit / 2],
                               static_cast<std::uint32_t>(__popc(peers)) << half) >>
                         half &
                     0xffff;
        }
        __syncwarp();
        orders[k] = static_cast<std::uint32_t>((__ffs(static_cast<int>(peers)) - 1) & 31) |
                    static_cast<std::uint32_t>(__popc(lower)) << 8 | digit << 16;
      }
#pragma unroll
      for (int k = 0; k < together; ++k)
        ranks[first_row + k] = __shfl_sync(full_warp, found[k], static_cast<int>(orders[k] & 31)) +
                               (orders[k] >> 8 & 0xff) + (orders[k] & 0xffff0000);
    }
    __syncthreads();
    std::uint32_t in_bucket = 0;
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) {
      const std::uint32_t count = shared.counts[w][thread];
      shared.counts[w][thread] = static_cast<std::uint16_t>(in_bucket);
      in_bucket += count;
    }
    const auto start = static_cast<std::uint32_t>(sum_before(in_bucket, shared.warp_sums));
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w)
      shared.counts[w][thread] = static_cast<std::uint16_t>(shared.counts[w][thread] + start);
    shared.places[thread] = place - start;
    place += in_bucket;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Shared::items; ++r) {
      const int i = static_cast<int>(warp) * 32 * Shared::items + r * 32 + static_cast<int>(lane);
      if (i >= in_tile) continue;
      const std::uint32_t digit = ranks[r] >> 16;
      const std::uint32_t position = counts[digit] + (ranks[r] & 0xffff);
      shared.keys[position] = keys[r];
      shared.sources[position] = static_cast<std::uint32_t>(i) | digit << 16;
    }
    if constexpr (Shared::value_bytes != 0) __pipeline_wait_prior(0);
    __syncthreads();
    load_keys(tile + Shared::tile);  // on their way while this tile is written
#pragma unroll
    for (int r = 0; r < Shared::items; ++r) {
      const int position = r * Shared::threads + static_cast<int>(thread);
      if (position >= in_tile) continue;
      const std::uint32_t source = shared.sources[position];
      const std::uint64_t index =
          shared.places[source >> 16] + static_cast<std::uint64_t>(position);
      keys_to[index] = shared.keys[position];
      if constexpr (Shared::value_bytes != 0) values_to[index] = shared.values[source & 0xffff];
    }
    __syncthreads();
  }
}

/// Lists items that are in order, so that they come to the output. `lists` takes groups of up to
/// lists.longest() items by lists.add_group().
template <class Lists>
__device__ __forceinline__ void list_ordered(const Lists& lists, std::uint64_t begin,
                                             std::uint64_t length, Buffer buffer,
                                             unsigned int thread, unsigned int threads) {
  if (buffer == Buffer::output) return;
  const std::uint64_t longest = lists.longest();
  for (std::uint64_t i = thread * longest; i < length; i += threads * longest)
    lists.add_group(Group(begin + i, static_cast<std::uint32_t>(min(length - i, longest)), buffer));
}

/// Lists what remains to be done for the buckets of a part. Thread b passes bucket b's first item,
/// counted from the part's, in shared.starts[b]; shared.starts[Shared::buckets] is the length.
/// `keep_large` takes a bucket that no block's tile holds. Ends with a barrier.
///
/// Groups are as long as they can be: each thread looks for the end of a group that would start
/// with its bucket, then one thread follows the chain.
template <class Shared, class Lists, class KeepLarge>
__device__ __forceinline__ void list_buckets(Shared& shared, const Lists& lists, const Part& part,
                                             const DigitsOf<Shared>& digits, Buffer to,
                                             const KeepLarge& keep_large) {
  const int bucket = static_cast<int>(threadIdx.x);
  const int shift = digits.shift;
  if (shift == 0) {  // a bucket holds one key, so all is in order
    list_ordered(lists, part.begin, part.length, to, threadIdx.x, Shared::buckets);
    __syncthreads();
    return;
  }
  const bool small =
      (part.length >> digits.bits) * buckets_of_small_group <= longest_of_group_class(0);
  const std::uint64_t limit =
      shared.starts[bucket] + (small ? longest_of_group_class(0) : lists.longest());
  int low = bucket + 1;
  int high = Shared::buckets;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (shared.starts[middle] <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  shared.next_group[bucket] = static_cast<std::uint16_t>(low);
  __syncthreads();
  if (bucket == 0) {
    int groups = 0;
    for (int start = 0; start < Shared::buckets; start = shared.next_group[start])
      shared.group_starts[groups++] = static_cast<std::uint16_t>(start);
    shared.group_count = groups;
  }
  __syncthreads();
  if (bucket < shared.group_count) {
    const int first = shared.group_starts[bucket];
    const std::uint64_t start = shared.starts[first];
    const std::uint64_t length = shared.starts[shared.next_group[first]] - start;
    if (length > lists.longest()) {
      keep_large(Part{part.begin + start, length,
                      part.base + (static_cast<std::uint64_t>(first) << shift), shift, to});
    } else if (length > 1 || (length == 1 && to != Buffer::output)) {
      lists.add_group(Group(part.begin + start, static_cast<std::uint32_t>(length), to));
    }
  }
  __syncthreads();
}

__device__ inline Buffer other_buffer(Buffer from) {
  return from == Buffer::output ? Buffer::scratch : Buffer::output;
}

template <class Word>
__device__ Part part_of(const Arguments<Word>& arguments, std::uint32_t segment) {
  const SegmentExtent found = extent(arguments, segment);
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  return {found.begin, found.length, 0, bits - arguments.codec.ignored_bits, Buffer::input};
}

/// True where the digits found are worth moving for: else the part's range is set to what its keys
/// really span.
__device__ inline bool range_is_tight(Part& part, std::uint64_t least, std::uint64_t greatest) {
  const int bits = bits_of(greatest - least);
  if (bits + 2 >= part.bits) return true;
  part.base = least;
  part.bits = bits;
  return false;
}

/// Parts that wait for one block. They hold different items, and each too many for a tile.
struct WaitingParts {
  Part parts[longest_lone_partition / longest_of_small_tile + 1];
  int count;
};

/// One block sees a part of up to longest_lone_partition items through, with all that comes of it.
/// Begins and ends with a barrier.
template <class Shared, class Word, class Lists>
__device__ __forceinline__ void partition_alone(Shared& shared, WaitingParts& waiting,
                                                const Arguments<Word>& arguments,
                                                const Lists& lists, const Part& first) {
  __syncthreads();
  if (threadIdx.x == 0) {
    waiting.parts[0] = first;
    waiting.count = 1;
  }
  __syncthreads();
  while (waiting.count > 0) {
    Part part = waiting.parts[waiting.count - 1];
    __syncthreads();
    if (threadIdx.x == 0) --waiting.count;
    const Word* const keys = arguments.keys_of(part.buffer);
    std::uint32_t in_bucket = count_digits(shared, keys, part.begin, part.length,
                                           DigitsOf<Shared>(arguments.codec, part));
    const std::uint64_t least = shared.least;
    const std::uint64_t greatest = shared.greatest;
    if (least == greatest) {
      list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      __syncthreads();
      continue;
    }
    if (!range_is_tight(part, least, greatest)) {
      __syncthreads();
      in_bucket = count_digits(shared, keys, part.begin, part.length,
                               DigitsOf<Shared>(arguments.codec, part));
    }
    const DigitsOf<Shared> digits(arguments.codec, part);
    const std::uint64_t start = sum_before<Shared::warps>(in_bucket, shared.warp_sums);
    shared.starts[threadIdx.x] = start;
    if (threadIdx.x == 0) shared.starts[Shared::buckets] = part.length;
    __syncthreads();
    const Buffer to = other_buffer(part.buffer);
    list_buckets(shared, lists, part, digits, to,
                 [&](const Part& large) { waiting.parts[atomicAdd(&waiting.count, 1)] = large; });
    scatter_items(shared, arguments, part.buffer, to, part.begin, part.length, digits,
                  part.begin + start);
    __syncthreads();
  }
}

/// Parts of up to longest_lone_partition items, each seen through by one block.
///
///   shared memory           a tile of items on their way to their buckets; one counter a warp and
///                           digit; the parts that wait
///   registers of thread t   of a tile, every 32nd item of its warp's stretch;
///                           of the buckets, number t
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(lone_shape.threads, lone_shape.resident_blocks)
    lone_partition_kernel(Arguments<Word> arguments, WorkLists lists) {
  using Shared = PartitionShared<Word, ValueBytes, lone_shape>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes);
  __shared__ WaitingParts waiting;
  wait_for_kernels_before();
  const unsigned int segments = lists.counters->segments[lone_partition_class];
  const unsigned int all = segments + lists.counters->parts;
  for (unsigned int i = blockIdx.x; i < all; i += gridDim.x) {
    const Part part = i < segments ? part_of(arguments, lists.segment(lone_partition_class, i))
                                   : lists.parts[i - segments];
    partition_alone(shared, waiting, arguments, lists, part);
  }
}

/// The shared part that a piece belongs to: the last whose first piece is not beyond it.
__device__ inline std::uint32_t part_of_piece(const SharedPart* parts, std::uint32_t count,
                                              std::uint32_t piece) {
  std::uint32_t low = 0;
  std::uint32_t high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (parts[middle].first_piece <= piece) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Where a piece is in its part. Pieces of a part are of equal length, but for the last.
template <class Shared>
struct Piece {
  std::uint64_t begin;
  std::uint64_t length;

  __device__ Piece(const SharedPart& owner, std::uint32_t piece) {
    const std::uint64_t tiles = (owner.part.length - 1) / Shared::tile + 1;
    const std::uint64_t each = ((tiles - 1) / owner.pieces + 1) * Shared::tile;
    begin = min((piece - owner.first_piece) * each, owner.part.length);
    length = min(each, owner.part.length - begin);
  }
};

/// Row of the histograms for a piece. Each part's rows follow one that holds its buckets' lengths.
template <class Shared>
__device__ __forceinline__ std::uint64_t row_of(const SharedPart* parts, const SharedPart& owner,
                                                std::uint32_t piece) {
  const auto parts_before = static_cast<std::uint64_t>(&owner - parts);
  return (parts_before + 1 + piece) * Shared::buckets;
}

/// What becomes of a shared part when its digits are counted.
enum class Verdict { scatter, narrow, ordered };

__device__ inline Verdict verdict_on(const SharedPart& shared_part, Part& part) {
  part = shared_part.part;
  if (shared_part.least == shared_part.greatest) return Verdict::ordered;
  return range_is_tight(part, shared_part.least, shared_part.greatest) ? Verdict::scatter
                                                                       : Verdict::narrow;
}

/// Cuts the parts of a round into pieces: a few for each block of the grid, at least one a part.
/// One block does it.
template <class Shared>
__device__ __forceinline__ void cut_into_pieces(Shared& shared, Counters& counters,
                                                SharedPart* parts, std::uint32_t count) {
  const unsigned int thread = threadIdx.x;
  std::uint64_t tiles = 0;
  for (std::uint32_t i = thread; i < count; i += Shared::threads)
    tiles += (parts[i].part.length - 1) / Shared::tile + 1;
  const std::uint64_t before = sum_before(tiles, shared.warp_sums);
  if (thread == Shared::threads - 1)
    shared.places[0] = (before + tiles - 1) / (pieces_a_block * gridDim.x) + 1;
  __syncthreads();
  const std::uint64_t tiles_of_piece = shared.places[0];
  std::uint64_t first = 0;
  for (std::uint32_t begin = 0; begin < count; begin += Shared::threads) {
    const std::uint32_t i = begin + thread;
    std::uint64_t pieces = 0;
    if (i < count) pieces = ((parts[i].part.length - 1) / Shared::tile + 1) / tiles_of_piece;
    if (i < count && pieces == 0) pieces = 1;
    const std::uint64_t mine = first + sum_before(pieces, shared.warp_sums);
    if (i < count) {
      parts[i].first_piece = static_cast<std::uint32_t>(mine);
      parts[i].pieces = static_cast<std::uint32_t>(pieces);
      parts[i].least = ~std::uint64_t{0};
      parts[i].greatest = 0;
    }
    if (thread == Shared::threads - 1) shared.places[1] = mine + pieces;
    __syncthreads();
    first = shared.places[1];
    __syncthreads();
  }
  if (thread == 0) counters.pieces = static_cast<unsigned int>(first);
}

/// Turns 32 columns of a part's histograms into sums over the pieces before, and leaves the sums
/// over all in the row in front. Each warp adds up a stretch of the rows.
template <class Shared>
__device__ __forceinline__ void sum_columns(Shared& shared, std::uint64_t* rows,
                                            std::uint32_t pieces) {
  const unsigned int lane = threadIdx.x % 32;
  const unsigned int warp = threadIdx.x / 32;
  const std::uint32_t each = (pieces - 1) / Shared::warps + 1;
  const std::uint32_t begin = min(warp * each, pieces);
  const std::uint32_t end = min(begin + each, pieces);
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece)
    sum += rows[std::uint64_t{piece} * Shared::buckets + lane];
  shared.starts[warp * 32 + lane] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  for (unsigned int w = 0; w < warp; ++w) before += shared.starts[w * 32 + lane];
  if (warp == Shared::warps - 1) *(rows + lane - Shared::buckets) = before + sum;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece) {
    const std::uint64_t count = rows[std::uint64_t{piece} * Shared::buckets + lane];
    rows[std::uint64_t{piece} * Shared::buckets + lane] = before;
    before += count;
  }
  __syncthreads();
}

/// The next number of a counter, the same for the whole block. One barrier before, one behind.
template <class Shared>
__device__ __forceinline__ std::uint32_t next_of(Shared& shared, unsigned int& counter) {
  __syncthreads();
  if (threadIdx.x == 0) shared.next = atomicAdd(&counter, 1);
  __syncthreads();
  return shared.next;
}

/// Parts beyond longest_lone_partition: all blocks of the grid work on all of them, in rounds of
/// one pass each, with barriers of the grid between the steps of a round. Very many parts take a
/// round in waves, so that the histograms need no more than a constant amount of memory.
///
///   global memory           the parts of this round and of the next; a histogram for each piece
///   shared memory, registers  of a piece, as in lone_partition_kernel
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(grid_shape.threads, grid_shape.resident_blocks)
    grid_partition_kernel(Arguments<Word> arguments, WorkLists lists) {
  using Shared = PartitionShared<Word, ValueBytes, grid_shape>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes);
  Counters& counters = *lists.counters;
  wait_for_kernels_before();
  const std::uint32_t segments = counters.segments[grid_partition_class];
  if (segments == 0) return;
  const auto grid = cooperative_groups::this_grid();
  const unsigned int thread = threadIdx.x;
  for (std::uint32_t i = blockIdx.x * Shared::threads + thread; i < segments;
       i += gridDim.x * Shared::threads)
    lists.shared_parts[0][i].part = part_of(arguments, lists.segment(grid_partition_class, i));
  if (blockIdx.x == 0 && thread == 0) counters.shared_parts[0] = segments;
  grid.sync();

  std::uint32_t begin_of_wave = 0;
  for (int round = 0;;) {
    SharedPart* const next_parts = lists.shared_parts[(round + 1) % 2];
    unsigned int& next_count = counters.shared_parts[(round + 1) % 2];
    const std::uint32_t count_of_round = counters.shared_parts[round % 2];
    if (count_of_round == 0) return;
    SharedPart* const parts = lists.shared_parts[round % 2] + begin_of_wave;
    const std::uint32_t count = min(count_of_round - begin_of_wave, most_parts_of_wave);

    if (blockIdx.x == 0) {
      cut_into_pieces(shared, counters, parts, count);
      if (thread == 0) {
        if (begin_of_wave == 0) next_count = 0;
        counters.next_counted = 0;
        counters.next_scattered = 0;
      }
    }
    grid.sync();

    const std::uint32_t pieces = counters.pieces;
    for (std::uint32_t i = next_of(shared, counters.next_counted); i < pieces;
         i = next_of(shared, counters.next_counted)) {
      SharedPart& owner = parts[part_of_piece(parts, count, i)];
      const Part part = owner.part;
      const Piece<Shared> piece(owner, i);
      const std::uint32_t in_bucket =
          count_digits(shared, arguments.keys_of(part.buffer), part.begin + piece.begin,
                       piece.length, DigitsOf<Shared>(arguments.codec, part));
      lists.histograms[row_of<Shared>(parts, owner, i) + thread] = in_bucket;
      if (thread == 0 && piece.length != 0) {
        atomicMin(reinterpret_cast<unsigned long long*>(&owner.least),
                  static_cast<unsigned long long>(shared.least));
        atomicMax(reinterpret_cast<unsigned long long*>(&owner.greatest),
                  static_cast<unsigned long long>(shared.greatest));
      }
    }
    grid.sync();

    constexpr std::uint32_t columns = Shared::buckets / 32;
    for (std::uint32_t i = blockIdx.x; i < count * columns; i += gridDim.x) {
      const SharedPart& owner = parts[i / columns];
      sum_columns(
          shared,
          lists.histograms + row_of<Shared>(parts, owner, owner.first_piece) + i % columns * 32,
          owner.pieces);
    }
    grid.sync();

    for (std::uint32_t i = next_of(shared, counters.next_scattered); i < pieces;
         i = next_of(shared, counters.next_scattered)) {
      const SharedPart& owner = parts[part_of_piece(parts, count, i)];
      Part part;
      const Verdict verdict = verdict_on(owner, part);
      const bool is_first = i == owner.first_piece;
      if (verdict != Verdict::scatter) {
        if (!is_first) continue;
        if (verdict == Verdict::ordered) {
          list_ordered(lists, part.begin, part.length, part.buffer, thread, Shared::threads);
        } else if (thread == 0) {
          next_parts[atomicAdd(&next_count, 1)].part = part;
        }
        continue;
      }
      const DigitsOf<Shared> digits(arguments.codec, part);
      const std::uint64_t own = row_of<Shared>(parts, owner, i);
      const std::uint64_t all = row_of<Shared>(parts, owner, owner.first_piece) - Shared::buckets;
      const std::uint64_t start = sum_before(lists.histograms[all + thread], shared.warp_sums);
      const Buffer to = other_buffer(part.buffer);
      if (is_first) {
        shared.starts[thread] = start;
        if (thread == 0) shared.starts[Shared::buckets] = part.length;
        __syncthreads();
        list_buckets(shared, lists, part, digits, to, [&](const Part& large) {
          if (large.length <= longest_lone_partition) {
            lists.parts[atomicAdd(&counters.parts, 1)] = large;
          } else {
            next_parts[atomicAdd(&next_count, 1)].part = large;
          }
        });
      }
      const Piece<Shared> piece(owner, i);
      scatter_items(shared, arguments, part.buffer, to, part.begin + piece.begin, piece.length,
                    digits, part.begin + start + lists.histograms[own + thread]);
    }
    grid.sync();
    begin_of_wave += count;
    if (begin_of_wave == count_of_round) {
      begin_of_wave = 0;
      ++round;
    }
  }
}

}  // namespace sortie::segsort
