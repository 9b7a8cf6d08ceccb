// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/partition_tile.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/radix_counts.cuh"
#include "segsort/cuda/radix_digits.cuh"
#include "segsort/cuda/tile.cuh"

/// Sort of one array by the digits of its keys, least digit first, for arrays that a partition by
/// ranges of keys sorts slowly. One kernel counts all digits of all keys; then one kernel per digit
/// moves the items, stably. Digits in which all keys agree take no pass.
///
/// A pass reads and writes each item once: blocks take tiles in the order of the items, publish how
/// many items of each digit their tile has, and sum what the tiles before have published. Source:
/// Adinets, Merrill: Onesweep (arXiv:2206.01784).
namespace sortie::segsort::radix {

/// A portion of a pass.
struct Portion {
  std::uint32_t pass;
  std::uint32_t number;  ///< over all portions of all passes since the table was cleared
  std::uint64_t begin;
  std::uint64_t length;
  bool has_wide_starts = false;  ///< of the array
};

/// Two blocks of 12 warps have 80 registers a thread, two of 16 have 64.
template <class Word, int ValueBytes>
inline constexpr PartitionShape radix_shape = sizeof(Word) <= 4 && ValueBytes == 0
                                                  ? PartitionShape{384, 24, 2}
                                              : sizeof(Word) < 4 && ValueBytes <= 4
                                                  ? PartitionShape{512, 17, 2}
                                              : sizeof(Word) <= 4 && ValueBytes <= 4
                                                  ? PartitionShape{384, 24, 2}
                                              : ValueBytes == 16 ? PartitionShape{384, 8, 2}
                                                                 : PartitionShape{384, 18, 2};

/// Whether the lanes of a warp find those with equal digits by masks in shared memory, or by votes.
/// On an H100, 2^26 uniform keys take 1.44 ms by masks and 1.72 by votes (u32), 8.36 and 6.73 (u64
/// with u32 values), 2.67 and 2.60 (u32 with u32 values).
template <class Word, int ValueBytes>
inline constexpr bool ranks_by_masks = sizeof(Word) < 4 || (sizeof(Word) == 4 && ValueBytes == 0);

/// Whether, by masks, lanes read the next place of their digit, which the first of those with one
/// digit advances, instead of adding to it: narrow keys.
template <class Word>
inline constexpr bool ranks_by_loads = sizeof(Word) < 4;

/// Long arrays are moved in portions of whole tiles, so that numbers fit statuses, and the table of
/// statuses stays small.
template <class Word, int ValueBytes>
constexpr std::uint64_t portion_length(std::uint64_t items) {
  constexpr int tile = radix_shape<Word, ValueBytes>.tile();
  constexpr std::uint64_t most = ((1 << status_code_shift) - 1) / tile * tile;
  return items < most ? items : most;
}
/// Words of a table of all digits of all tiles of a portion.
template <class Word, int ValueBytes>
constexpr std::uint64_t status_words(std::uint64_t items) {
  constexpr int tile = radix_shape<Word, ValueBytes>.tile();
  return ((portion_length<Word, ValueBytes>(items) - 1) / tile + 1) * digits;
}

/// Tables of a warp that hold, for each digit, the mask of the lanes whose items have it. Register
/// r uses table r % mask_tables, so that a table can be cleared while the next one is filled. If
/// the lanes read the next place of their digit, one table is cleared when that is advanced.
template <class Word>
inline constexpr int mask_tables = ranks_by_loads<Word> ? 1 : 3;

/// Shared memory of a block of a pass.
template <class WordType, int ValueBytesOfOne,
          PartitionShape Shape = radix_shape<WordType, ValueBytesOfOne>>
struct PassShared {
  static constexpr PartitionShape shape = Shape;
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  static constexpr int threads = shape.threads;
  static constexpr int warps = shape.warps();
  static constexpr int items = shape.items;
  static constexpr int tile = shape.tile();
  using Value = ValueWord<value_bytes>;
  static_assert(threads >= static_cast<int>(digits), "each thread handles one digit at most");
  static_assert(tile <= 1 << 16, "places are packed");
  static constexpr bool has_masks = ranks_by_masks<Word, value_bytes>;

  static constexpr int most(int a, int b) { return a > b ? a : b; }
  /// One after the other: counters of the warps, and behind them masks of the lanes that hold an
  /// item of each digit; the words of the tile in the order of their digits; its values.
  alignas(16) unsigned char area[most(tile * most(static_cast<int>(sizeof(Word)), value_bytes),
                                      (1 + (has_masks ? mask_tables<Word> : 0)) * warps *
                                          static_cast<int>(digits) * 4)];
  std::uint64_t starts_of_digits[digits];  ///< of the portion in the output
  /// Addresses to which an item of each digit at position 0 of the tile would go; that at position
  /// p goes p items further. As addresses, they take one instruction for each item instead of
  /// three.
  std::uintptr_t keys_to[digits];
  std::uintptr_t values_to[value_bytes == 0 ? 1 : digits];
  std::uint32_t warp_sums[warps];
  std::uint32_t tile_number;

  /// Items of each digit in each warp; then the position in the tile of the next of them.
  __device__ std::uint32_t (*counts())[digits] {
    return reinterpret_cast<std::uint32_t(*)[digits]>(area);
  }
  /// The tables of masks of a warp.
  __device__ std::uint32_t* masks(int warp) {
    return reinterpret_cast<std::uint32_t*>(area) + (warps + mask_tables<Word> * warp) * digits;
  }
  __device__ Word* words() { return reinterpret_cast<Word*>(area); }
  __device__ Value* values() { return reinterpret_cast<Value*>(area); }

  /// Sets where the items of a digit go.
  /// \param place  of the first item of the tile, in the output; may be less than 0
  __device__ __forceinline__ void set_place(unsigned int digit, std::uint64_t place, Word* keys,
                                            Value* values) {
    keys_to[digit] = reinterpret_cast<std::uintptr_t>(keys) + place * sizeof(Word);
    if constexpr (value_bytes != 0)
      values_to[digit] = reinterpret_cast<std::uintptr_t>(values) + place * sizeof(Value);
  }
  __device__ __forceinline__ Word* key_at(std::uint32_t digit, int position) const {
    return in_global_memory(reinterpret_cast<Word*>(
        keys_to[digit] + std::uint64_t{static_cast<unsigned int>(position)} * sizeof(Word)));
  }
  __device__ __forceinline__ Value* value_at(std::uint32_t digit, int position) const {
    return in_global_memory(reinterpret_cast<Value*>(
        values_to[digit] + std::uint64_t{static_cast<unsigned int>(position)} * sizeof(Value)));
  }
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
/// The highest of these takes the places: its rank is their number, which needs no further count.
__device__ __forceinline__ std::uint32_t take_place(std::uint32_t* next_places, std::uint32_t digit,
                                                    unsigned int peers, bool valid) {
  const std::uint32_t before = rank_among(peers);
  const int taker = last_lane(peers);
  std::uint32_t place = 0;
  if (valid && static_cast<int>(lane()) == taker)
    place = atomicAdd(&next_places[digit], before + 1);
  return __shfl_sync(full_warp, place, taker) + before;
}

/// Keeps those lanes of `peers` whose vote, `bit` != 0, is that of the lane. With votes in
/// predicates, the compiler has all bits of a digit in these by one instruction. Without, a pass of
/// pairs of 4 bytes took 122 instructions for an item (H100, ncu; that of cub::DeviceRadixSort 83);
/// its code is now shorter by 55.
__device__ __forceinline__ void keep_equal_voters(unsigned int& peers, std::uint32_t bit) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "{ .reg .pred votes; .reg .b32 voters;\n\t"
      "setp.ne.u32 votes, %1, 0;\n\t"
      "vote.sync.ballot.b32 voters, votes, -1;\n\t"
      "@!votes not.b32 voters, voters;\n\t"
      "and.b32 %0, %0, voters; }"
      : "+r"(peers)
      : "r"(bit));
#else
  const unsigned int voters = __ballot_sync(full_warp, bit != 0);
  peers &= bit != 0 ? voters : ~voters;
#endif
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
  for (int bit = 0; bit < digit_bits; ++bit) keep_equal_voters(peers, digit & 1u << bit);
  return peers;
}

/// The compiler knows nothing about the word any more.
template <class Word>
__device__ __forceinline__ void forget([[maybe_unused]] Word& word) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Word) == 8) {
    asm volatile("" : "+l"(word));
  } else if constexpr (sizeof(Word) == 4) {
    asm volatile("" : "+r"(word));
  }
#endif
}

/// \tparam WritesKeys  otherwise keys are written later, from their counts
template <class Word, bool WritesKeys>
struct RankedKeys : BitDigits {
  static constexpr bool writes_keys = WritesKeys;

  const few::Ranks<Word>& ranks;

  __device__ explicit RankedKeys(const few::Ranks<Word>& ranks) : ranks(ranks) {}
  template <class Function>
  __device__ __forceinline__ void choose(const Function& function) const {
    function(*this);
  }
  __device__ __forceinline__ Word encode(Word key) const { return ranks.encode(key); }
  __device__ __forceinline__ Word decode(Word word) const { return ranks.decode(word); }
};

/// How a pass moves the items of a portion.
struct PortionPass {
  Portion portion;
  int shift;  ///< of the digit in a word
  Buffer from;
  bool to_output;            ///< otherwise to the scratch buffer
  std::uint32_t* next_tile;  ///< the first tile that no block has taken
};

/// Moves the items of a portion of a pass. Called by all blocks of a kernel; the last pass writes
/// to the output.
///
///   block            takes one tile after the other, of which warp w holds item 32 items w + 32 r + l
///                    in register r of lane l, until they are in the order of their digits; then
///                    thread t holds positions r threads + t. A tile that is not full is filled up
///                    with words that are last in it.
///   shared memory    PassShared; starts_of_digits[d] is read by thread d
template <class Shared, class Word, class Coding, class Starts>
__device__ __forceinline__ void move_portion(const Arguments<Word>& arguments, Status* statuses,
                                             const PortionPass& pass, const Coding& coding,
                                             const Starts& starts_of_digits) {
  constexpr int ValueBytes = Shared::value_bytes;
  using Value = typename Shared::Value;
  constexpr int items = Shared::items;
  // Words of narrow keys are held in whole registers, so that their other bits need no clearing.
  using Held = std::conditional_t<(sizeof(Word) < 4), std::uint32_t, Word>;
  Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  const Portion& portion = pass.portion;
  const int shift = pass.shift;
  const bool to_output = pass.to_output;
  const Word* const keys_from = in_global_memory(arguments.keys_of(pass.from)) + portion.begin;
  const Value* const values_from =
      in_global_memory(static_cast<const Value*>(arguments.values_of(pass.from))) + portion.begin;
  Word* const keys_to = in_global_memory(to_output ? arguments.keys_out : arguments.keys_scratch);
  Value* const values_to = in_global_memory(
      static_cast<Value*>(to_output ? arguments.values_out : arguments.values_scratch));
  const auto thread = static_cast<int>(threadIdx.x);
  const int first = thread / 32 * 32 * items + thread % 32;
  // Thread d handles digit d.
  const bool has_digit = thread < static_cast<int>(digits);
  std::uint32_t* const counts = shared.counts()[thread / 32];
  const auto digit_of = [&](Held word) { return coding.digit(word, shift); };
  // Read before the block takes a tile, and thus before the last tile replaces them.
  if (has_digit)
    shared.starts_of_digits[thread] = starts_of_digits.load(static_cast<unsigned int>(thread));
  const auto tiles = static_cast<std::uint32_t>((portion.length - 1) / Shared::tile + 1);
  for (;;) {
    if (thread == 0) shared.tile_number = atomicAdd(pass.next_tile, 1);
    __syncthreads();
    const std::uint32_t tile = shared.tile_number;
    if (tile >= tiles) return;
    const std::uint64_t begin = std::uint64_t{tile} * Shared::tile;
    const bool is_full = portion.length - begin >= Shared::tile;
    const int length = is_full ? Shared::tile : static_cast<int>(portion.length - begin);

    Held words[items];
    if (is_full) {
#pragma unroll
      for (int r = 0; r < items; ++r) words[r] = keys_from[begin + first + 32 * r];
    } else {
      // The last key in place of none: the search for the rank of a key that is in no slot takes
      // long.
#pragma unroll
      for (int r = 0; r < items; ++r) words[r] = keys_from[begin + min(first + 32 * r, length - 1)];
    }
#pragma unroll
    for (unsigned int i = thread % 32; i < digits / 4; i += 32)
      reinterpret_cast<uint4*>(counts)[i] = uint4{0, 0, 0, 0};
    coding.choose([&](const auto& chosen) {
#pragma unroll
      for (int r = 0; r < items; ++r) words[r] = chosen.encode(static_cast<Word>(words[r]));
    });
    if (!is_full) {
#pragma unroll
      for (int r = 0; r < items; ++r)
        if (first + 32 * r >= length) words[r] = static_cast<Word>(~Word{0});
    }
    if constexpr (Shared::has_masks) {
      std::uint32_t* const masks = shared.masks(thread / 32);
#pragma unroll
      for (unsigned int i = thread % 32; i < mask_tables<Word> * digits / 4; i += 32)
        reinterpret_cast<uint4*>(masks)[i] = uint4{0, 0, 0, 0};
    }
    __syncwarp();
    ShortNumbers<items, 16> in_order;  // positions of the thread's items in the tile
    // Counted before they are ranked, so that the blocks of later tiles wait less, and a rank is a
    // place at once.
#pragma unroll
    for (int r = 0; r < items; ++r) atomicAdd(&counts[digit_of(words[r])], 1);
    __syncthreads();
    // Otherwise the compiler keeps all digits in registers until they are used again.
#pragma unroll
    for (int r = 0; r < items; ++r) forget(words[r]);
    std::uint32_t in_tile = 0;
    if (has_digit) {
#pragma unroll
      for (int w = 0; w < Shared::warps; ++w) {
        const std::uint32_t count = shared.counts()[w][thread];
        shared.counts()[w][thread] = in_tile;
        in_tile += count;
      }
      publish(in_global_memory(statuses) + thread, tile, in_tile, portion.number);
    }
    const std::uint32_t start =
        prefix_sum_in_block<Shared::warps>(in_tile, shared.warp_sums).before;
    if (has_digit) {
#pragma unroll
      for (int w = 0; w < Shared::warps; ++w) shared.counts()[w][thread] += start;
    }
    // The number of the thread's digit in the tiles before.
    const auto look_back = [&] {
      const std::uint32_t before =
          items_before(in_global_memory(statuses) + thread, tile, in_tile, portion.number);
      // The last tile of the portion knows where the next one begins.
      if (tile == tiles - 1)
        starts_of_digits.store(static_cast<unsigned int>(thread),
                               shared.starts_of_digits[thread] + before + in_tile);
      return before;
    };
    const bool has_whole_tile = is_full && in_tile == Shared::tile;
    if (__syncthreads_or(has_whole_tile ? 1 : 0) != 0) {
      // All items have one digit, as often in passes over high digits: they are copied.
      if (has_digit) {
        const std::uint32_t before = look_back();
        if (has_whole_tile)
          shared.set_place(0, shared.starts_of_digits[thread] + before, keys_to, values_to);
      }
      __syncthreads();
      if constexpr (Coding::writes_keys) {
#pragma unroll
        for (int r = 0; r < items; ++r)
          *shared.key_at(0, first + 32 * r) = coding.decode(static_cast<Word>(words[r]));
      }
      if constexpr (ValueBytes != 0) {
        // Few at once: more registers would be spilled for all tiles.
#pragma unroll 4
        for (int r = 0; r < items; ++r)
          *shared.value_at(0, first + 32 * r) = values_from[begin + first + 32 * r];
      }
      __syncthreads();
      continue;
    }
    const auto rank_by_votes = [&] {
#pragma unroll
      for (int r = 0; r < items; ++r) {
        const std::uint32_t digit = digit_of(words[r]);
        in_order.set(r, take_place(counts, digit, peers_by_votes<true>(digit, true), true));
      }
    };
    if constexpr (Shared::has_masks) {
      // Lanes with one digit wait for each other when they set their masks, unless it is frequent.
      const auto has_heavy_hitter = [&](int r) {
        const std::uint32_t digit = digit_of(words[r]);
        return lanes_of(__ballot_sync(full_warp, digit == from_lane(digit, 0))) >=
               least_heavy_lanes;
      };
      const bool is_heavy = has_heavy_hitter(0) || has_heavy_hitter(items / 2);
      if constexpr (ranks_by_loads<Word>) {
        std::uint32_t* const masks = shared.masks(thread / 32);
#pragma unroll
        for (int r = 0; r < items; ++r) {
          const std::uint32_t digit = digit_of(words[r]);
          unsigned int peers =
              is_heavy ? __ballot_sync(full_warp, digit == from_lane(digit, 0)) : 0;
          const bool is_frequent = (peers >> (thread % 32) & 1) != 0;
          if (!is_frequent) atomicOr(masks + digit, 1u << (thread % 32));
          __syncwarp();
          if (!is_frequent) peers = masks[digit];
          const std::uint32_t next = counts[digit];
          __syncwarp();
          const std::uint32_t before = rank_among(peers);
          if (before == 0) {
            masks[digit] = 0;
            counts[digit] = next + lanes_of(peers);
          }
          in_order.set(r, next + before);
          __syncwarp();
        }
      } else {
        std::uint32_t* const masks = shared.masks(thread / 32);
        const auto rank_by_masks = [&]<bool HasFrequent>(std::bool_constant<HasFrequent>) {
          const std::uint32_t frequent =
              from_lane(digit_of(has_heavy_hitter(0) ? words[0] : words[items / 2]), 0);
          bool clears = false;  // the lane clears the mask of its digit in the row before
#pragma unroll
          for (int r = 0; r < items; ++r) {
            const std::uint32_t digit = digit_of(words[r]);
            std::uint32_t* const mask = masks + r % mask_tables<Word> * digits + digit;
            const bool is_frequent = HasFrequent && digit == frequent;
            unsigned int peers = HasFrequent ? __ballot_sync(full_warp, is_frequent) : 0;
            if (!is_frequent) atomicOr(mask, 1u << (thread % 32));
            __syncwarp();
            if (!is_frequent) peers = *mask;
            if (clears)
              masks[(r + mask_tables<Word> - 1) % mask_tables<Word> * digits +
                    digit_of(words[r == 0 ? 0 : r - 1])] = 0;
            clears = rank_among(peers) == 0;
            in_order.set(r, take_place(counts, digit, peers, true));
          }
        };
        if (is_heavy) {
          rank_by_masks(std::true_type{});
        } else {
          rank_by_masks(std::false_type{});
        }
      }
    } else {
      rank_by_votes();
    }
    __syncthreads();  // the words take the place of the counters
#pragma unroll
    for (int r = 0; r < items; ++r) shared.words()[in_order[r]] = static_cast<Word>(words[r]);
    if (has_digit)
      shared.set_place(static_cast<unsigned int>(thread),
                       shared.starts_of_digits[thread] + look_back() - start, keys_to, values_to);
    __syncthreads();
    ShortNumbers<items, 8> found;
    const auto write_keys = [&](const auto& chosen, const auto& is_item) {
#pragma unroll
      for (int r = 0; r < items; ++r) {
        const int place = r * Shared::threads + thread;
        const Word word = shared.words()[place];
        const std::uint32_t digit = digit_of(word);
        if constexpr (ValueBytes != 0) found.set(r, digit);
        if constexpr (Coding::writes_keys)
          if (is_item(place)) *shared.key_at(digit, place) = chosen.decode(word);
      }
    };
    coding.choose([&](const auto& chosen) {
      if (is_full) {
        write_keys(chosen, [](int) { return true; });
      } else {
        write_keys(chosen, [&](int place) { return place < length; });
      }
    });
    if constexpr (ValueBytes != 0) {
      Value values[items];
      if (is_full) {
#pragma unroll
        for (int r = 0; r < items; ++r) values[r] = values_from[begin + first + 32 * r];
      } else {
#pragma unroll
        for (int r = 0; r < items; ++r)
          values[r] = first + 32 * r < length ? values_from[begin + first + 32 * r] : Value{0};
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < items; ++r) shared.values()[in_order[r]] = values[r];
      __syncthreads();
#pragma unroll
      for (int r = 0; r < items; ++r) {
        const int place = r * Shared::threads + thread;
        if (is_full || place < length) *shared.value_at(found[r], place) = shared.values()[place];
      }
    }
    __syncthreads();
  }
}

/// The portion of a pass of a sort whose digits have been counted.
/// \param first  the lowest of the counted digits
template <class Word>
__device__ PortionPass pass_of(const Arguments<Word>& arguments, Passes* passes,
                               const Portion& portion, int first = 0) {
  const bool to_output = (passes->count - portion.pass) % 2 == 1;
  return {portion,
          arguments.codec.ignored_bits +
              digit_bits * (first + static_cast<int>(passes->order[portion.pass])),
          portion.pass == 0 ? Buffer::input
          : to_output       ? Buffer::scratch
                            : Buffer::output,
          to_output, &passes->next_tile[portion.number]};
}

/// A portion of a pass, if there are so many passes.
/// \tparam IsPlain  the keys need no encoding
template <class Word, int ValueBytes, bool IsPlain>
__global__ void __launch_bounds__(radix_shape<Word, ValueBytes>.threads,
                                  radix_shape<Word, ValueBytes>.resident_blocks)
    pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision, Passes* passes,
                Status* statuses, Portion portion) {
  using Shared = PassShared<Word, ValueBytes>;
  wait_for_preceding_kernels();
  if ((decision != nullptr && !decision->is_due(ArrayMethod::digits)) ||
      portion.pass >= passes->count)
    return;
  restrict_to_segment(arguments, portion.begin, portion.length);
  if (portion.length == 0) return;
  const PortionPass pass = pass_of(arguments, passes, portion);
  const StartsOfPass starts(passes, passes->order[portion.pass], portion.has_wide_starts);
  if constexpr (IsPlain) {
    move_portion<Shared>(arguments, statuses, pass, PlainKeys<Word>{}, starts);
  } else {
    move_portion<Shared>(arguments, statuses, pass, EncodedKeys<Word>(arguments.codec), starts);
  }
}

/// Whether one kernel passes over buckets of either kind: one launch less for short arrays.
/// Registers do not suffice for both with keys of 4 bytes: on an H100, 2^26 f32 of a density of 1/x
/// with u32 values take 2.28 ms, by two kernels 2.02.
template <class Word>
inline constexpr bool shares_bucket_passes = sizeof(Word) == 8;

/// A portion of a pass of a sort by magnitudes.
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(radix_shape<Word, ValueBytes>.threads,
                                  radix_shape<Word, ValueBytes>.resident_blocks)
    magnitude_pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision, Passes* passes,
                          Status* statuses, Portion portion) {
  wait_for_preceding_kernels();
  if (!decision->is_due(ArrayMethod::magnitudes) || portion.pass >= passes->count) return;
  move_portion<PassShared<Word, ValueBytes>>(
      arguments, statuses, pass_of(arguments, passes, portion, all_passes<Word> - bucket_passes),
      MagnitudeKeys<Word>{arguments.codec},
      StartsOfPass(passes, passes->order[portion.pass], portion.has_wide_starts));
}

/// A portion of a pass of a sort by buckets, or by magnitudes if they share it.
/// \tparam IsPlain  the keys need no encoding
template <class Word, int ValueBytes, bool IsPlain>
__global__ void __launch_bounds__(radix_shape<Word, ValueBytes>.threads,
                                  radix_shape<Word, ValueBytes>.resident_blocks)
    bucket_pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision, Passes* passes,
                       Status* statuses, Portion portion) {
  using Shared = PassShared<Word, ValueBytes>;
  wait_for_preceding_kernels();
  if (!decision->takes_kernels_of(ArrayMethod::buckets) || portion.pass >= passes->count) return;
  const PortionPass pass =
      pass_of(arguments, passes, portion, passes_of(arguments.codec) - bucket_passes);
  const StartsOfPass starts(passes, passes->order[portion.pass], portion.has_wide_starts);
  if (decision->method == ArrayMethod::magnitudes) {
    if constexpr (shares_bucket_passes<Word>)
      move_portion<Shared>(arguments, statuses, pass, MagnitudeKeys<Word>{arguments.codec}, starts);
  } else if constexpr (IsPlain) {
    move_portion<Shared>(arguments, statuses, pass, PlainKeys<Word>{}, starts);
  } else {
    move_portion<Shared>(arguments, statuses, pass, EncodedKeys<Word>(arguments.codec), starts);
  }
}

/// Shared memory of a block of the pass over ranks.
template <class Word, int ValueBytes>
struct RankPassShared {
  PassShared<Word, ValueBytes> pass;
  few::Ranks<Word> ranks;
};

/// A portion of the only pass over items whose few distinct keys have been counted.
/// \tparam WritesKeys  otherwise the values are moved to the scratch buffer, and the keys not at all
template <class Word, int ValueBytes, bool WritesKeys = true>
__global__ void __launch_bounds__(radix_shape<Word, ValueBytes>.threads,
                                  radix_shape<Word, ValueBytes>.resident_blocks)
    rank_pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                     const few::FewKeys* few_keys, Passes* passes, Status* statuses,
                     Portion portion) {
  wait_for_preceding_kernels();
  if (!decision->has_few_keys()) return;
  auto& shared = *reinterpret_cast<RankPassShared<Word, ValueBytes>*>(dynamic_shared_memory());
  shared.ranks.load(*few_keys, arguments.codec);
  PortionPass pass = pass_of(arguments, passes, portion);
  pass.to_output = WritesKeys;
  move_portion<PassShared<Word, ValueBytes>>(
      arguments, statuses, pass, RankedKeys<Word, WritesKeys>(shared.ranks),
      StartsOfPass(passes, passes->order[portion.pass], portion.has_wide_starts));
}

}  // namespace sortie::segsort::radix
