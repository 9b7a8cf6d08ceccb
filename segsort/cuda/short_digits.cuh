// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/relaxed_access.cuh"

/// Sort of one short array by the digits of its keys in one kernel, whose blocks take all passes,
/// with grid barriers between them. Below some million items, the launches of a kernel for each
/// pass would take longer than the passes.
namespace sortie::segsort::radix {

/// Shape of a block. Tiles are at least as large as those of cub::DeviceRadixSort for numbers of
/// items of 64 bits, and but for values of 1, 2 and 4 bytes for those of 32 bits, so that the table
/// of statuses takes at most as much storage; larger for pairs of 8 bytes, which have lists beside
/// it. Larger tiles leave multiprocessors without any: pairs of u32 with tiles of 9216 took 1.2 to
/// 1.3 times as long for 2^16 and 2^18 items, and 1.5 million with values of 2 bytes 0.126 ms, with
/// those of 4 bytes in tiles of 6656 0.092 ms (H100).
template <class Word, int ValueBytes>
constexpr PartitionShape make_short_shape() {
  // Items of a thread by bytes of a value: 0, 1, 2, 4, 8.
  constexpr int value = ValueBytes == 0   ? 0
                        : ValueBytes == 1 ? 1
                        : ValueBytes == 2 ? 2
                        : ValueBytes == 4 ? 3
                                          : 4;
  constexpr int of_1_byte[] = {20, 15, 17, 14, 12};
  constexpr int of_2_bytes[] = {20, 12, 14, 12, 12};
  constexpr int of_4_bytes[] = {15, 13, 13, 13, 12};
  constexpr int of_8_bytes[] = {12, 12, 12, 12, 10};
  if (ValueBytes == 16) return {512, 6, 2};
  if (sizeof(Word) == 1) return {512, of_1_byte[value], 2};
  if (sizeof(Word) == 2) return {512, of_2_bytes[value], 2};
  if (sizeof(Word) == 4) return {512, of_4_bytes[value], 2};
  return {512, of_8_bytes[value], 2};
}
template <class Word, int ValueBytes>
inline constexpr PartitionShape short_shape = make_short_shape<Word, ValueBytes>();

/// Large tiles are as large as CUB's for numbers of items of 32 bits, for less temporary storage:
/// with one block for each multiprocessor, or (in_twos) with two.
enum class ShortTiles { usual, large, large_in_twos };
template <class Word, int ValueBytes, ShortTiles Tiles>
inline constexpr PartitionShape short_shape_of =
    Tiles == ShortTiles::large           ? PartitionShape{1024, 9, 1}
    : Tiles == ShortTiles::large_in_twos ? PartitionShape{384, 23, 2}
                                         : short_shape<Word, ValueBytes>;
/// Whether arrays with more large tiles than there are multiprocessors take those for two blocks.
template <class Word>
inline constexpr bool has_tiles_in_twos = sizeof(Word) == 4;

/// In temporary storage. The kernel clears it.
template <class Word>
struct ShortPasses {
  std::uint32_t next_tile[all_passes<Word>];
  std::uint32_t does_not_ascend;   ///< not 0 if a key is followed by a lesser one
  std::uint32_t does_not_descend;  ///< see OrderCheck
  std::uint32_t counts[all_passes<Word>]
                      [digits];  ///< of the items of each digit; rows for the passes
};
/// Bytes of ShortPasses for a sort with this number of passes.
template <class Word>
__host__ __device__ constexpr std::uint32_t short_passes_bytes(int passes) {
  return static_cast<std::uint32_t>(sizeof(ShortPasses<Word>)) -
         static_cast<std::uint32_t>(all_passes<Word> - passes) * digits * 4;
}

/// Statuses of a table of all digits of all tiles.
template <class Word, int ValueBytes, ShortTiles Tiles>
constexpr std::uint64_t short_status_words_of(std::uint64_t items) {
  return ((items - 1) / short_shape_of<Word, ValueBytes, Tiles>.tile() + 1) * digits;
}
/// The most statuses that a sort needs, whichever of the large tiles it takes.
template <class Word, int ValueBytes, bool IsLarge = false>
constexpr std::uint64_t short_status_words(std::uint64_t items) {
  constexpr ShortTiles large =
      has_tiles_in_twos<Word> ? ShortTiles::large_in_twos : ShortTiles::large;
  constexpr ShortTiles tiles = IsLarge ? large : ShortTiles::usual;
  return short_status_words_of<Word, ValueBytes, tiles>(items);
}

/// The first position of the items of the thread's digit.
struct StartOfThread {
  std::uint32_t start;

  [[nodiscard]] __device__ std::uint64_t load(unsigned int) const { return start; }
  __device__ void store(unsigned int, std::uint64_t) const {}
};

/// Copies an array, or writes it in reverse. Called by the whole grid.
template <class Item>
__device__ __forceinline__ void copy_array(const Item* from, Item* to, std::uint32_t length,
                                           bool in_reverse) {
  constexpr int at_once = 8;
  const std::uint32_t all_threads = gridDim.x * blockDim.x;
  for (std::uint32_t begin = blockIdx.x * blockDim.x + threadIdx.x; begin < length;
       begin += at_once * all_threads) {
    Item items[at_once];
#pragma unroll
    for (int r = 0; r < at_once; ++r) items[r] = from[min(begin + r * all_threads, length - 1)];
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
      const std::uint32_t place = begin + r * all_threads;
      if (place < length) to[in_reverse ? length - 1 - place : place] = items[r];
    }
  }
}

/// Checks, while the digits of all keys are counted, whether the keys ascend, and whether they
/// descend: each key followed by a lesser one or, without values, by the same one.
template <class Word, bool HasValues>
struct OrderCheck {
  const Arguments<Word>& arguments;
  std::uint32_t length;
  bool ascends = true;   ///< as far as the warp has looked
  bool descends = true;  ///< the same; a reversed copy would not keep the order of equal keys

  /// \param keys   of the thread, in a tile
  /// \param first  place of the first of them
  template <int Items>
  __device__ __forceinline__ void operator()(const Word (&keys)[Items], std::uint64_t first) {
    // One row of a tile is enough to see that most arrays are in neither order.
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      if (!ascends && !descends) return;
      const std::uint64_t place = first + r * blockDim.x;
      const Word next = arguments.keys_in[min(place + 1, std::uint64_t{length} - 1)];
      const Word bits = compared_bits(arguments.codec, keys[r]);
      const Word bits_of_next = compared_bits(arguments.codec, next);
      const bool is_last = place + 1 >= length;
      if (ascends) ascends = __all_sync(full_warp, is_last || bits <= bits_of_next) != 0;
      if (descends)
        descends = __all_sync(full_warp, is_last || bits > bits_of_next ||
                                             (!HasValues && keys[r] == next)) != 0;
    }
  }
};

/// Sorts an array of less than 2^27 items. The blocks clear the tables, count all digits, and take
/// one pass after the other; digits in which all keys agree take none. An array in order is copied,
/// also in reverse order, unless the output is the input.
///
///   global memory   counts of all digits; statuses as in a pass of radix_passes.cuh
///   shared memory   the counters, then PassShared
///   thread d        knows the number of items of digit d, and computes where they begin
///
/// \param decision  whether there is anything to do; null: there is
/// \tparam IsPlain  the keys need no encoding
template <class Word, int ValueBytes, bool IsPlain, ShortTiles Tiles = ShortTiles::usual>
__global__ void __launch_bounds__(short_shape_of<Word, ValueBytes, Tiles>.threads,
                                  short_shape_of<Word, ValueBytes, Tiles>.resident_blocks)
    short_digits_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                        ShortPasses<Word>* passes, Status* statuses, std::uint32_t words,
                        std::uint32_t length) {
  using Shared = PassShared<Word, ValueBytes, short_shape_of<Word, ValueBytes, Tiles>>;
  static_assert(2 * all_passes<Word> * digits * 4 <= sizeof(Shared::area));
  constexpr unsigned int threads = Shared::threads;
  if (decision != nullptr && !decision->is_due(ArrayMethod::digits)) return;
  Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  const auto grid = cooperative_groups::this_grid();
  const unsigned int thread = threadIdx.x;
  const unsigned int first = blockIdx.x * threads + thread;
  const unsigned int all_threads = gridDim.x * threads;
  const int used_passes = passes_of(arguments.codec);
  for (unsigned int i = first; i < short_passes_bytes<Word>(used_passes) / 4; i += all_threads)
    reinterpret_cast<std::uint32_t*>(passes)[i] = 0;
  for (unsigned int i = first; i < words; i += all_threads) statuses[i] = 0;
  grid.sync();

  auto* const counts = reinterpret_cast<unsigned int*>(shared.area);
  OrderCheck<Word, ValueBytes != 0> check{arguments, length};
  count_digits_of_tiles<threads>(
      arguments, counts, 0, used_passes, false, length,
      [&](const auto& keys, std::uint64_t first) { check(keys, first); });
  if (!check.ascends && lane() == 0) store_relaxed(passes->does_not_ascend, 1u);
  if (!check.descends && lane() == 0) store_relaxed(passes->does_not_descend, 1u);
  constexpr unsigned int counters = all_passes<Word> * digits;
  for (unsigned int i = thread; i < static_cast<unsigned int>(used_passes) * digits; i += threads) {
    const unsigned int sum = counts[i] + counts[counters + i];
    if (sum != 0) atomicAdd(&passes->counts[i / digits][i % digits], sum);
  }
  grid.sync();
  const bool ascends = passes->does_not_ascend == 0;
  const bool is_in_place = arguments.keys_in == arguments.keys_out;
  if (ascends || (passes->does_not_descend == 0 && !is_in_place)) {
    if (is_in_place) return;
    copy_array(arguments.keys_in, arguments.keys_out, length, !ascends);
    if constexpr (ValueBytes != 0) {
      using Value = ValueWord<ValueBytes>;
      copy_array(static_cast<const Value*>(arguments.values_in),
                 static_cast<Value*>(arguments.values_out), length, !ascends);
    }
    return;
  }

  // Bit p: pass p is necessary.
  unsigned int necessary = 0;
  for (int p = 0; p < used_passes; ++p) {
    const bool agrees =
        __syncthreads_or(thread < digits && passes->counts[p][thread] == length ? 1 : 0) != 0;
    if (!agrees) necessary |= 1u << p;
  }
  // Without a pass nothing would be written; the order of equal words is kept by any.
  for (int p = 0; p < used_passes &&
                  (necessary == 0 ||
                   has_wrong_parity(arguments, static_cast<std::uint32_t>(lanes_of(necessary))));
       ++p)
    necessary |= 1u << p;
  const auto count = static_cast<std::uint32_t>(lanes_of(necessary));
  std::uint32_t number = 0;
  for (int p = 0; p < used_passes; ++p) {
    if ((necessary >> p & 1) == 0) continue;
    const std::uint32_t amount = thread < digits ? passes->counts[p][thread] : 0;
    const StartOfThread start{prefix_sum_in_block<Shared::warps>(amount, shared.warp_sums).before};
    const bool to_output = (count - number) % 2 == 1;
    const PortionPass pass{{static_cast<std::uint32_t>(p), number, 0, length},
                           arguments.codec.ignored_bits + digit_bits * p,
                           number == 0 ? Buffer::input
                           : to_output ? Buffer::scratch
                                       : Buffer::output,
                           to_output,
                           &passes->next_tile[p]};
    if constexpr (IsPlain) {
      move_portion<Shared>(arguments, statuses, pass, PlainKeys<Word>{}, start);
    } else {
      move_portion<Shared>(arguments, statuses, pass, EncodedKeys<Word>(arguments.codec), start);
    }
    if (++number < count) grid.sync();
  }
}

}  // namespace sortie::segsort::radix
