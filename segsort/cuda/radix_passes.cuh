// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/partition_tile.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/tile.cuh"

/// Sort of one array by the digits of its keys, least digit first, for arrays that a partition by
/// ranges of keys sorts slowly. One kernel counts all digits of all keys; then one kernel per digit
/// moves the items, stably. Digits in which all keys agree take no pass.
///
/// A pass reads and writes each item once: blocks take tiles in the order of the items, publish how
/// many items of each digit their tile has, and sum what the tiles before have published. Source:
/// Adinets, Merrill: Onesweep (arXiv:2206.01784).
namespace sortie::segsort::radix {

inline constexpr int digit_bits = 8;
inline constexpr unsigned int digits = 1 << digit_bits;
inline constexpr int most_passes = 64 / digit_bits;
/// A sort by buckets takes passes over the highest digits alone.
inline constexpr int bucket_passes = 2;
/// Statuses have so many bits for a number of items, and 5 for a code: a table serves
/// portions_of_table portions before it must be cleared.
inline constexpr int status_code_shift = 27;
inline constexpr std::uint32_t portions_of_table = 15;
/// Long arrays are moved in portions of so many items, so that numbers fit statuses, and the table
/// of statuses stays small.
inline constexpr std::uint64_t items_of_portion = (1 << status_code_shift) - (1 << 12);
inline constexpr unsigned int count_threads = 512;
inline constexpr int count_items = 8;

/// In temporary storage; all 0 at the begin of a sort.
struct Passes {
  unsigned long long starts[most_passes][digits];  ///< number, later first position of each digit
  std::uint32_t order[most_passes];  ///< which digit each pass sorts by; the lowest is 0
  std::uint32_t count;               ///< of passes
  std::uint32_t blocks_done;
  /// Of each portion of each pass, the first tile that no block has taken. Cleared with the table
  /// of statuses.
  std::uint32_t next_tile[portions_of_table];
};

/// A portion of a pass.
struct Portion {
  std::uint32_t pass;
  std::uint32_t number;  ///< over all portions of all passes since the table was cleared
  std::uint64_t begin;
  std::uint64_t length;
};

/// What a tile has published of a digit: the number of its items in it, or in all tiles of the
/// portion up to it, below a code that tells which, and of which portion. Earlier ones have lower
/// codes.
using Status = std::uint32_t;
static_assert(2 * portions_of_table < 1u << (32 - status_code_shift));
/// Sorts that move more items at once have statuses of 64 bits.
template <class AnyStatus>
inline constexpr int code_shift_of = sizeof(AnyStatus) == sizeof(Status) ? status_code_shift : 56;

/// Measured on an H100 with 2^22 to 2^28 items, keys of 4 and 8 bytes.
template <class Word, int ValueBytes>
inline constexpr PartitionShape radix_shape = sizeof(Word) <= 4 && ValueBytes == 0
                                                  ? PartitionShape{384, 24, 2}
                                              : sizeof(Word) <= 4 && ValueBytes == 4
                                                  ? PartitionShape{512, 24, 1}
                                                  : PartitionShape{512, 20, 1};

constexpr std::uint64_t portion_length(std::uint64_t items) {
  return items < items_of_portion ? items : items_of_portion;
}
/// Words of a table of all digits of all tiles of a portion.
template <class Word, int ValueBytes>
constexpr std::uint64_t status_words(std::uint64_t items) {
  constexpr int tile = radix_shape<Word, ValueBytes>.tile();
  return ((portion_length(items) - 1) / tile + 1) * digits;
}

/// Word of a key: its digits ascend in sort order.
template <class Word>
__device__ __forceinline__ Word word_of(const BitRangeCodec<Word>& codec, Word key) {
  return codec.plain ? key : codec.encode(key);
}

/// Counts all digits of all keys that `method` sorts by, clears the table of statuses, and decides,
/// in the block that ends last, which passes are necessary.
/// \param decision  of this and the next kernels, whether there is anything to do; null: there is
///
///   block           tiles of count_threads * count_items keys, a grid apart; thread t holds keys
///                   r count_threads + t of a tile
///   shared memory   counters of each digit of each pass, two copies, for even and odd lanes
template <class Word>
__global__ void __launch_bounds__(count_threads)
    count_digits_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                        ArrayMethod method, Passes* passes, Status* statuses, std::uint64_t words,
                        std::uint64_t length) {
  constexpr int all_passes = static_cast<int>(sizeof(Word)) * 8 / digit_bits;
  constexpr unsigned int counters = all_passes * digits;
  __shared__ unsigned int counts[2 * counters];
  __shared__ std::uint64_t sums[count_threads / 32];
  __shared__ bool is_last;
  wait_for_preceding_kernels();
  if (decision != nullptr && !decision->is_due(method)) return;
  const unsigned int thread = threadIdx.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * count_threads + thread; i < words;
       i += std::uint64_t{gridDim.x} * count_threads)
    statuses[i] = 0;
  for (unsigned int i = thread; i < 2 * counters; i += count_threads) counts[i] = 0;
  __syncthreads();
  const BitRangeCodec<Word> codec = arguments.codec;
  unsigned int* const own = counts + thread % 2 * counters;
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const int used_passes = (bits - codec.ignored_bits + digit_bits - 1) / digit_bits;
  const int first_pass = method == ArrayMethod::buckets ? used_passes - bucket_passes : 0;
  const auto count = [&](Word key) {
    auto word = static_cast<Word>(word_of(codec, key) >> (codec.ignored_bits & (bits - 1)));
#pragma unroll
    for (int p = 0; p < all_passes; ++p) {
      if (p >= first_pass && p < used_passes)
        atomicAdd(&own[p * digits + static_cast<unsigned int>(word & (digits - 1))], 1);
      word = static_cast<Word>(std::uint64_t{word} >> digit_bits);
    }
  };
  constexpr std::uint64_t tile = count_threads * count_items;
  for (std::uint64_t begin = blockIdx.x * tile; begin < length; begin += gridDim.x * tile) {
    Word keys[count_items];
#pragma unroll
    for (int r = 0; r < count_items; ++r)
      keys[r] = arguments.keys_in[min(begin + r * count_threads + thread, length - 1)];
#pragma unroll
    for (int r = 0; r < count_items; ++r)
      if (begin + r * count_threads + thread < length) count(keys[r]);
  }
  __syncthreads();
  for (unsigned int i = thread; i < counters; i += count_threads) {
    const unsigned int sum = counts[i] + counts[counters + i];
    if (sum != 0)
      atomicAdd(&passes->starts[i / digits][i % digits], static_cast<unsigned long long>(sum));
  }
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(&passes->blocks_done, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  std::uint32_t necessary = 0;
  for (int p = first_pass; p < used_passes; ++p) {
    const std::uint64_t amount = thread < digits ? passes->starts[p][thread] : 0;
    const bool agrees = __syncthreads_or(amount == length ? 1 : 0) != 0;
    const std::uint64_t before = prefix_sum_in_block<count_threads / 32>(amount, sums).before;
    if (thread < digits) passes->starts[p][thread] = before;
    if (!agrees && thread == 0) passes->order[necessary] = static_cast<std::uint32_t>(p);
    if (!agrees) ++necessary;
  }
  // Without a pass nothing would be written; the order of equal words is kept by any.
  if (thread == 0) passes->count = max(necessary, 1u);
}

/// Tables of a warp that hold, for each digit, the mask of the lanes whose items have it. Register r
/// uses table r % mask_tables, so that a table can be cleared while the next one is filled.
inline constexpr int mask_tables = 3;

/// Shared memory of a block of a pass.
template <class WordType, int ValueBytesOfOne>
struct PassShared {
  static constexpr PartitionShape shape = radix_shape<WordType, ValueBytesOfOne>;
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  static constexpr int threads = shape.threads;
  static constexpr int warps = shape.warps();
  static constexpr int items = shape.items;
  static constexpr int tile = shape.tile();
  using Value = ValueWord<value_bytes>;
  static_assert(threads >= static_cast<int>(digits), "each thread handles one digit at most");
  static_assert(tile <= 1 << 16, "places are packed");

  static constexpr int masks_bytes = mask_tables * warps * static_cast<int>(digits) * 4;
  static constexpr int most(int a, int b) { return a > b ? a : b; }
  /// One after the other: per warp, masks of the lanes that hold an item of each digit; the words
  /// of the tile in the order of their digits; its values.
  alignas(16) unsigned char area[most(
      most(tile * static_cast<int>(sizeof(Word)), tile* value_bytes), masks_bytes)];
  /// Items of each digit in each warp; then the position in the tile of the next of them.
  alignas(16) std::uint32_t counts[warps][digits];
  std::uint64_t starts_of_digits[digits];  ///< of the portion in the output
  std::uint64_t places[digits];  ///< destination of the tile's items of each digit, minus position
  std::uint64_t warp_sums[warps];
  BitRangeCodec<Word> codec;
  const Word* keys_from;
  const Value* values_from;
  Word* keys_to;
  Value* values_to;
  Status* statuses;
  unsigned long long* starts;  ///< for the starts of the next portion
  int shift;                   ///< of the digit in a word
  Portion portion;
  std::uint64_t tile_number;

  __device__ Word* words() { return reinterpret_cast<Word*>(area); }
  __device__ Value* values() { return reinterpret_cast<Value*>(area); }
};

/// Publishes that `tile` has `count` items of a digit.
template <class AnyStatus>
__device__ __forceinline__ void publish(AnyStatus* column, std::uint64_t tile, std::uint32_t count,
                                        std::uint32_t portion) {
  if (tile != 0)
    *static_cast<volatile AnyStatus*>(column + tile * digits) =
        AnyStatus{2 * portion + 1} << code_shift_of<AnyStatus> | count;
}

/// Number of items of a digit in all tiles before `tile`, which has `count` of them. Publishes the
/// sum of both.
template <class AnyStatus>
__device__ __forceinline__ AnyStatus items_before(AnyStatus* column, std::uint64_t tile,
                                                  std::uint32_t count, std::uint32_t portion) {
  const AnyStatus of_tile = AnyStatus{2 * portion + 1} << code_shift_of<AnyStatus>;
  const AnyStatus up_to_tile = AnyStatus{2 * portion + 2} << code_shift_of<AnyStatus>;
  constexpr AnyStatus amount = (AnyStatus{1} << code_shift_of<AnyStatus>)-1;
  constexpr int window = 4;  // statuses read at once
  volatile AnyStatus* const published = column;
  AnyStatus sum = 0;
  for (std::uint64_t next = tile; next != 0;) {
    AnyStatus status[window];
#pragma unroll
    for (int w = 0; w < window; ++w)
      status[w] = next > static_cast<std::uint64_t>(w) ? published[(next - 1 - w) * digits] : 0;
    bool is_known = true;
#pragma unroll
    for (int w = 0; w < window; ++w) {
      is_known = is_known && next != 0 && status[w] >= of_tile;
      if (!is_known) continue;
      sum += status[w] & amount;
      next = status[w] >= up_to_tile ? 0 : next - 1;
    }
  }
  published[tile * digits] = up_to_tile | (sum + count);
  return sum;
}

/// Places of one item of each lane: from the next place of its digit on, in the order of the lanes.
/// Lanes without an item take part. `peers`: the lanes whose items have the same digit.
__device__ __forceinline__ std::uint32_t take_place(std::uint32_t* next_places, std::uint32_t digit,
                                                    unsigned int peers, bool valid) {
  const std::uint32_t before = rank_among(peers);
  std::uint32_t place = 0;
  if (valid && before == 0) place = atomicAdd(&next_places[digit], lanes_of(peers));
  return __shfl_sync(full_warp, place, first_lane(peers)) + before;
}

/// The lanes whose digits are equal, by votes on each bit; those without an item form one group.
template <bool AllValid>
__device__ __forceinline__ unsigned int peers_by_votes(std::uint32_t digit, bool valid) {
  unsigned int peers = full_warp;
  if constexpr (!AllValid) {
    const unsigned int voters = __ballot_sync(full_warp, valid);
    peers = valid ? voters : ~voters;
  }
#pragma unroll
  for (int bit = 0; bit < digit_bits; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned int voters = __ballot_sync(full_warp, is_set);
    peers &= is_set ? voters : ~voters;
  }
  return peers;
}

/// Moves a tile of `length` items. Warp w holds item 32 items w + 32 r + l of the tile in register
/// r of lane l, until the items are in the order of their digits; then thread t holds positions
/// r threads + t. Begins and ends with a barrier. Not inlined, because it needs all registers.
/// \tparam InAnyOrder  items of one digit may change places: no pass precedes, and keys that are
///                     equal cannot be told apart
template <class Shared, bool IsFull, bool IsPlain, bool InAnyOrder>
__device__ __noinline__ void move_tile(int length) {
  using Word = typename Shared::Word;
  using Value = typename Shared::Value;
  constexpr int items = Shared::items;
  Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int first = warp * 32 * items + thread % 32;
  const std::uint64_t begin = shared.portion.begin + shared.tile_number * Shared::tile;
  const auto is_item = [&](int i) { return IsFull || i < length; };

  Word words[items];
  const Word* const keys_from = in_global_memory(shared.keys_from) + begin + first;
#pragma unroll
  for (int r = 0; r < items; ++r) words[r] = is_item(first + 32 * r) ? keys_from[32 * r] : Word{0};
  std::uint32_t* const counts = shared.counts[warp];
#pragma unroll
  for (unsigned int i = thread % 32; i < digits / 4; i += 32)
    reinterpret_cast<uint4*>(counts)[i] = uint4{0, 0, 0, 0};
  std::uint32_t* const masks =
      reinterpret_cast<std::uint32_t*>(shared.area) + warp * mask_tables * digits;
  if constexpr (!InAnyOrder) {
#pragma unroll
    for (unsigned int i = thread % 32; i < mask_tables * digits / 4; i += 32)
      reinterpret_cast<uint4*>(masks)[i] = uint4{0, 0, 0, 0};
  }
  __syncwarp();
  if constexpr (!IsPlain) {
    const BitRangeCodec<Word> codec = shared.codec;
#pragma unroll
    for (int r = 0; r < items; ++r) words[r] = codec.encode(words[r]);
  }

  const int shift = shared.shift;
  const auto digit_of = [&](Word word) {
    return static_cast<std::uint32_t>(word >> shift) & (digits - 1);
  };
  const auto place_by_votes = [&](int r) {
    const bool valid = is_item(first + 32 * r);
    const std::uint32_t digit = digit_of(words[r]);
    return take_place(counts, digit, peers_by_votes<IsFull>(digit, valid), valid);
  };
  // Lanes with one digit wait for each other when they set their masks, unless it is frequent.
  const auto has_heavy_hitter = [&](int r) {
    const std::uint32_t digit = digit_of(words[r]);
    return lanes_of(__ballot_sync(full_warp, digit == from_lane(digit, 0))) >= least_heavy_lanes;
  };
  const bool is_heavy = has_heavy_hitter(0) || has_heavy_hitter(items / 2);
  ShortNumbers<items, 16> in_order;  // positions of the thread's items in the tile
  if constexpr (InAnyOrder) {        // at first among the items of the digit in the warp
    if (is_heavy) {
#pragma unroll
      for (int r = 0; r < items; ++r) in_order.set(r, place_by_votes(r));
    } else {
#pragma unroll
      for (int r = 0; r < items; ++r)
        in_order.set(r, is_item(first + 32 * r) ? atomicAdd(&counts[digit_of(words[r])], 1) : 0);
    }
  } else {
    // Counted before they are ranked, so that the blocks of later tiles wait less, and a rank is a
    // place at once.
#pragma unroll
    for (int r = 0; r < items; ++r)
      if (is_item(first + 32 * r)) atomicAdd(&counts[digit_of(words[r])], 1);
  }
  __syncthreads();

  // Thread d handles digit d.
  std::uint32_t in_tile = 0;
  const bool has_digit = thread < static_cast<int>(digits);
  if (has_digit) {
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) {
      const std::uint32_t count = shared.counts[w][thread];
      shared.counts[w][thread] = in_tile;
      in_tile += count;
    }
    publish(in_global_memory(shared.statuses) + thread, shared.tile_number, in_tile,
            shared.portion.number);
  }
  const std::uint32_t start = prefix_sum_in_block<Shared::warps>(in_tile, shared.warp_sums).before;
  if (has_digit) {
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) shared.counts[w][thread] += start;
  }
  __syncthreads();
  if constexpr (InAnyOrder) {
    const ShortNumbers<items, 16> ranks = in_order;
#pragma unroll
    for (int r = 0; r < items; ++r)
      in_order.set(r, is_item(first + 32 * r) ? ranks[r] + counts[digit_of(words[r])] : 0);
  } else if (is_heavy) {
#pragma unroll
    for (int r = 0; r < items; ++r) in_order.set(r, place_by_votes(r));
  } else {
    bool clears = false;  // the lane clears the mask of its digit in the row before
#pragma unroll
    for (int r = 0; r < items; ++r) {
      const bool valid = is_item(first + 32 * r);
      const std::uint32_t digit = digit_of(words[r]);
      std::uint32_t* const mask = masks + r % mask_tables * digits + digit;
      if (valid) atomicOr(mask, 1u << (thread % 32));
      __syncwarp();
      const unsigned int peers = valid ? *mask : 1u << (thread % 32);
      if (clears)
        masks[(r + mask_tables - 1) % mask_tables * digits + digit_of(words[r == 0 ? 0 : r - 1])] =
            0;
      clears = valid && rank_among(peers) == 0;
      in_order.set(r, take_place(counts, digit, peers, valid));
    }
  }
  __syncthreads();  // the words take the place of the masks
#pragma unroll
  for (int r = 0; r < items; ++r)
    if (is_item(first + 32 * r)) shared.words()[in_order[r]] = words[r];
  Value values[Shared::value_bytes == 0 ? 1 : items];
  if constexpr (Shared::value_bytes != 0) {
    const Value* const values_from = in_global_memory(shared.values_from) + begin + first;
#pragma unroll
    for (int r = 0; r < items; ++r)
      values[r] = is_item(first + 32 * r) ? values_from[32 * r] : Value{0};
  }
  if (has_digit) {
    const std::uint32_t before = items_before(in_global_memory(shared.statuses) + thread,
                                              shared.tile_number, in_tile, shared.portion.number);
    shared.places[thread] = shared.starts_of_digits[thread] + before - start;
    // The last tile of the portion knows where the next one begins.
    if (begin + static_cast<std::uint64_t>(length) == shared.portion.begin + shared.portion.length)
      in_global_memory(shared.starts)[thread] = shared.starts_of_digits[thread] + before + in_tile;
  }
  __syncthreads();
  ShortNumbers<items, 8> found;
  Word* const keys_to = in_global_memory(shared.keys_to) + thread;
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const int place = r * Shared::threads + thread;
    if (!is_item(place)) continue;
    const Word word = shared.words()[place];
    const std::uint32_t digit = digit_of(word);
    if constexpr (Shared::value_bytes != 0) found.set(r, digit);
    keys_to[shared.places[digit] + r * Shared::threads] =
        IsPlain ? word : shared.codec.decode(word);
  }
  __syncthreads();
  if constexpr (Shared::value_bytes != 0) {
#pragma unroll
    for (int r = 0; r < items; ++r)
      if (is_item(first + 32 * r)) shared.values()[in_order[r]] = values[r];
    __syncthreads();
    Value* const values_to = in_global_memory(shared.values_to) + thread;
#pragma unroll
    for (int r = 0; r < items; ++r) {
      const int place = r * Shared::threads + thread;
      if (is_item(place))
        values_to[shared.places[found[r]] + r * Shared::threads] = shared.values()[place];
    }
    __syncthreads();
  }
}

/// A portion of a pass, if there are so many passes. The last one writes to the output.
///
///   block            takes one tile after the other; move_tile() says which items a thread holds
///   shared memory    PassShared; starts_of_digits[d] is read by thread d
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(radix_shape<Word, ValueBytes>.threads,
                                  radix_shape<Word, ValueBytes>.resident_blocks)
    pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision, ArrayMethod method,
                Passes* passes, Status* statuses, Portion portion) {
  using Shared = PassShared<Word, ValueBytes>;
  using Value = typename Shared::Value;
  Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  wait_for_preceding_kernels();
  if ((decision != nullptr && !decision->is_due(method)) || portion.pass >= passes->count) return;
  const std::uint32_t digit = passes->order[portion.pass];
  if (threadIdx.x == 0) {
    const bool to_output = (passes->count - portion.pass) % 2 == 1;
    const Buffer from = portion.pass == 0 ? Buffer::input
                        : to_output       ? Buffer::scratch
                                          : Buffer::output;
    shared.codec = arguments.codec;
    shared.keys_from = arguments.keys_of(from);
    shared.values_from = static_cast<const Value*>(arguments.values_of(from));
    shared.keys_to = to_output ? arguments.keys_out : arguments.keys_scratch;
    shared.values_to =
        static_cast<Value*>(to_output ? arguments.values_out : arguments.values_scratch);
    shared.statuses = statuses;
    shared.starts = passes->starts[digit];
    shared.shift = arguments.codec.ignored_bits + digit_bits * static_cast<int>(digit);
    shared.portion = portion;
  }
  // Read before the block takes a tile, and thus before the last tile replaces them.
  if (threadIdx.x < digits)
    shared.starts_of_digits[threadIdx.x] = passes->starts[digit][threadIdx.x];
  const std::uint64_t tiles = (portion.length - 1) / Shared::tile + 1;
  for (;;) {
    if (threadIdx.x == 0) shared.tile_number = atomicAdd(&passes->next_tile[portion.number], 1);
    __syncthreads();
    const std::uint64_t tile = shared.tile_number;
    if (tile >= tiles) return;
    const std::uint64_t rest = portion.length - tile * Shared::tile;
    if constexpr (ValueBytes == 0) {
      if (rest >= Shared::tile && portion.pass == 0 && arguments.codec.plain) {
        move_tile<Shared, true, true, true>(Shared::tile);
        continue;
      }
    }
    if (rest < Shared::tile) {
      move_tile<Shared, false, false, false>(static_cast<int>(rest));
    } else if (arguments.codec.plain) {
      move_tile<Shared, true, true, false>(Shared::tile);
    } else {
      move_tile<Shared, true, false, false>(Shared::tile);
    }
  }
}

}  // namespace sortie::segsort::radix
