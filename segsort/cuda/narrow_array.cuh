// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/packed_field.cuh"
#include "segsort/cuda/radix_passes.cuh"

/// Sort of one array of keys of 1 or 2 bytes that fits a block: one kernel without temporary
/// storage, by the digits of the keys in shared memory, lowest digit first.
namespace sortie::segsort {

inline constexpr int narrow_array_warps = 16;

/// Shared memory of the block; each thread has Rows items.
template <int Rows>
struct NarrowArrayShared {
  static constexpr int warps = narrow_array_warps;
  static constexpr int threads = 32 * warps;
  static constexpr int capacity = threads * Rows;

  /// Items of each digit in each warp; then the place of the next of them.
  alignas(16) std::uint32_t counts[warps][radix::digits];
  std::uint32_t words[capacity];  ///< in the order of the digits so far
  std::uint32_t warp_sums[warps];
};

/// Brings words into the order of one of their digits, equal digits in the order of the items.
/// Contains barriers; the last one follows the writes to shared.words.
template <int Rows, class DigitOf>
__device__ __forceinline__ void sort_by_digit(NarrowArrayShared<Rows>& shared,
                                              const std::uint32_t (&words)[Rows],
                                              const DigitOf& digit_of) {
  using Shared = NarrowArrayShared<Rows>;
  const unsigned int thread = threadIdx.x;
  std::uint32_t* const counts = shared.counts[thread / 32];
#pragma unroll
  for (unsigned int i = lane(); i < radix::digits / 4; i += 32)
    reinterpret_cast<uint4*>(counts)[i] = uint4{0, 0, 0, 0};
  __syncwarp();
  std::uint32_t places[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::uint32_t digit = digit_of(words[r]);
    places[r] = radix::take_place(counts, digit, radix::peers_by_votes<true>(digit, true), true);
  }
  __syncthreads();
  // Thread d handles digit d.
  std::uint32_t before[Shared::warps];
  std::uint32_t count = 0;
  if (thread < radix::digits) {
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) {
      before[w] = count;
      count += shared.counts[w][thread];
    }
  }
  const std::uint32_t start = prefix_sum_in_block<Shared::warps>(count, shared.warp_sums).before;
  if (thread < radix::digits) {
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) shared.counts[w][thread] = start + before[w];
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < Rows; ++r) shared.words[places[r] + counts[digit_of(words[r])]] = words[r];
  __syncthreads();
}

/// Sorts an array in one block. Values are gathered when the keys are in order.
///
///   registers of lane l   of warp w: the words of items 32 Rows w + 32 r + l, the encoded key above
///                         the number of the item; after a pass those of these positions. Padding is
///                         last.
///   shared memory         NarrowArrayShared
///
/// \param values  `units` units for each item, none if that is 0; without `in`, the values are
///                positions
/// \pre arguments.keys_out is null, or holds the keys; values.in is not values.out
template <class Narrow, int Rows>
__global__ void __launch_bounds__(NarrowArrayShared<Rows>::threads, 1)
    narrow_array_kernel(Arguments<Narrow> arguments, PackedField values, std::uint32_t items) {
  using Shared = NarrowArrayShared<Rows>;
  constexpr int item_bits = 16;
  static_assert(Shared::capacity <= 1 << item_bits && 8 * sizeof(Narrow) <= 32 - item_bits);
  auto& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  const auto& codec = arguments.codec;
  const unsigned int thread = threadIdx.x;
  const unsigned int first = thread / 32 * 32 * Rows + lane();
  Narrow keys[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) keys[r] = arguments.keys_in[min(first + 32 * r, items - 1)];
  if (values.in != nullptr)
    prefetch_lines(values.in, std::uint64_t{items} * values.unit * values.units, thread,
                   Shared::threads);
  std::uint32_t words[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const unsigned int item = first + 32 * r;
    const Narrow word = item < items ? codec.encode(keys[r]) : static_cast<Narrow>(~Narrow{0});
    words[r] = std::uint32_t{word} << item_bits | item;
  }
  const std::uint32_t compared = std::uint32_t{codec.compare_mask} << item_bits;
#pragma unroll
  for (int shift = item_bits; shift < item_bits + 8 * static_cast<int>(sizeof(Narrow));
       shift += radix::digit_bits) {
    // Without a compared bit in it, a digit changes nothing. The last one has some.
    if (sizeof(Narrow) > 1 && (compared >> shift & (radix::digits - 1)) == 0) continue;
    sort_by_digit(shared, words, [&](std::uint32_t word) {
      return (word & compared) >> shift & (radix::digits - 1);
    });
    if (shift + radix::digit_bits < item_bits + 8 * static_cast<int>(sizeof(Narrow))) {
#pragma unroll
      for (int r = 0; r < Rows; ++r) words[r] = shared.words[first + 32 * r];
    }
  }
  if (arguments.keys_out != nullptr) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const unsigned int p = r * Shared::threads + thread;
      if (p < items)
        arguments.keys_out[p] = codec.decode(static_cast<Narrow>(shared.words[p] >> item_bits));
    }
  }
  const auto item_at = [&](unsigned int p) { return shared.words[p] & ((1u << item_bits) - 1); };
  with_unit_of(values.unit, [&]<class Unit>() {
    auto* const out = static_cast<Unit*>(values.out);
    const auto* const in = static_cast<const Unit*>(values.in);
    if (in == nullptr || values.units == 1) {
      Unit moved[Rows];
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        const unsigned int item = item_at(r * Shared::threads + thread);
        moved[r] = in == nullptr ? static_cast<Unit>(item) : in[min(item, items - 1)];
      }
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        const unsigned int p = r * Shared::threads + thread;
        if (p < items) out[p] = moved[r];
      }
      return;
    }
    for (unsigned int i = thread; i < items * values.units; i += Shared::threads)
      out[i] = in[item_at(i / values.units) * values.units + i % values.units];
  });
}

}  // namespace sortie::segsort
