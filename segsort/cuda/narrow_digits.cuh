// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/narrow_tiles.cuh"
#include "segsort/cuda/radix_passes.cuh"

/// Segments of keys of 1 or 2 bytes that exceed the tile of a warp: a team of warps sorts one by
/// the digits of its keys in shared memory, least digit first. Keys of 1 byte take one pass, those
/// of 2 bytes two. Values are moved once, to the places that the passes give.
namespace sortie::segsort {

/// Digits of a pass.
inline constexpr int narrow_digits = static_cast<int>(radix::digits);
inline constexpr int digit_rows = 16;  ///< items of a thread

/// Shared memory of a team.
template <int Warps>
struct DigitTile {
  static constexpr int warps = Warps;
  static constexpr int threads = 32 * Warps;
  static constexpr int capacity = threads * digit_rows;
  static_assert(capacity <= 1 << 16, "places have 16 bits");

  /// Items of each digit in each warp; then the place of the next of them.
  alignas(16) std::uint32_t counts[Warps][narrow_digits];
  std::uint32_t warp_sums[Warps];
  /// One after the other: keys with their items between two passes; keys in order; values.
  alignas(16) std::uint32_t words[capacity];
  alignas(16) std::uint16_t places[capacity];  ///< of the items, after two passes

  __device__ static int thread() { return static_cast<int>(threadIdx.x) % threads; }
  __device__ static int team() { return static_cast<int>(threadIdx.x) / threads; }
  __device__ static void synchronise() {
    if constexpr (threads == 32 * digit_block_warps) {
      __syncthreads();
    } else {
      wait_for_team<threads>(team());
    }
  }
};

/// The ranks of the items among the items of their digit in the warp, and the number of items of
/// each digit in the warp. Uses the warp's share of words and places, as tables that hold, for each
/// digit, the mask of the lanes whose items have it; row r uses table r % 3, so that a table can be
/// cleared while the next one is filled.
template <class T, class DigitOf>
__device__ __forceinline__ void rank_in_warp(T& tile, int length, const DigitOf& digit_of,
                                             ShortNumbers<digit_rows, 16>& ranks) {
  constexpr int tables = 3;
  const int warp = T::thread() / 32;
  const int first = warp * 32 * digit_rows + static_cast<int>(lane());
  std::uint32_t* const counts = tile.counts[warp];
  std::uint32_t* const masks[tables] = {
      tile.words + warp * 2 * narrow_digits, tile.words + (warp * 2 + 1) * narrow_digits,
      reinterpret_cast<std::uint32_t*>(tile.places) + warp * narrow_digits};
  static_assert(32 * digit_rows == 2 * narrow_digits);
  __syncwarp();  // the warp has read its share
#pragma unroll
  for (int i = static_cast<int>(lane()); i < narrow_digits / 4; i += 32) {
    reinterpret_cast<uint4*>(counts)[i] = uint4{0, 0, 0, 0};
#pragma unroll
    for (int t = 0; t < tables; ++t) reinterpret_cast<uint4*>(masks[t])[i] = uint4{0, 0, 0, 0};
  }
  __syncwarp();
  // Lanes with one digit wait for each other when they set their masks, unless it is frequent.
  const auto has_heavy_hitter = [&](int r) {
    const std::uint32_t digit = digit_of(r);
    return lanes_of(__ballot_sync(full_warp, digit == from_lane(digit, 0))) >= least_heavy_lanes;
  };
  if (has_heavy_hitter(0) || has_heavy_hitter(digit_rows / 2)) {
#pragma unroll
    for (int r = 0; r < digit_rows; ++r) {
      const bool valid = first + 32 * r < length;
      const std::uint32_t digit = digit_of(r);
      ranks.set(
          r, radix::take_place(counts, digit, radix::peers_by_votes<false>(digit, valid), valid));
    }
    return;
  }
  bool clears = false;  // the lane clears the mask of its digit in the row before
#pragma unroll
  for (int r = 0; r < digit_rows; ++r) {
    const bool valid = first + 32 * r < length;
    const std::uint32_t digit = digit_of(r);
    std::uint32_t* const mask = masks[r % tables] + digit;
    if (valid) atomicOr(mask, 1u << lane());
    __syncwarp();
    const unsigned int peers = valid ? *mask : 1u << lane();
    if (clears) masks[(r + tables - 1) % tables][digit_of(r == 0 ? 0 : r - 1)] = 0;
    clears = valid && rank_among(peers) == 0;
    ranks.set(r, radix::take_place(counts, digit, peers, valid));
  }
}

/// The places of the items by digit, equal digits in the order of the items. Item e = 512 w + 32 r
/// + l is in register r of lane l of warp w. Contains barriers; before the first, each warp
/// overwrites its share of words and places.
template <class T, class DigitOf>
__device__ __forceinline__ void place_by_digit(T& tile, int length, const DigitOf& digit_of,
                                               ShortNumbers<digit_rows, 16>& places) {
  const int warp = T::thread() / 32;
  const int first = warp * 32 * digit_rows + static_cast<int>(lane());
  std::uint32_t* const counts = tile.counts[warp];
  ShortNumbers<digit_rows, 16> ranks;
  rank_in_warp(tile, length, digit_of, ranks);
  T::synchronise();
  // Each thread handles neighbouring digits.
  constexpr int digits_each = T::threads >= narrow_digits ? 1 : narrow_digits / T::threads;
  const int first_digit = T::thread() * digits_each;
  std::uint32_t sums[digits_each];
  std::uint32_t sum = 0;
#pragma unroll
  for (int d = 0; d < digits_each; ++d) {
    sums[d] = 0;
    if (first_digit >= narrow_digits) continue;
#pragma unroll
    for (int w = 0; w < T::warps; ++w) {
      const std::uint32_t count = tile.counts[w][first_digit + d];
      tile.counts[w][first_digit + d] = sums[d];
      sums[d] += count;
    }
    sum += sums[d];
  }
  const std::uint32_t up_to = inclusive_sum_in_warp(sum);
  if (lane() == 31) tile.warp_sums[warp] = up_to;
  T::synchronise();
  std::uint32_t before = up_to - sum;
#pragma unroll
  for (int w = 0; w < T::warps; ++w)
    if (w < warp) before += tile.warp_sums[w];
#pragma unroll
  for (int d = 0; d < digits_each; ++d) {
    if (first_digit >= narrow_digits) continue;
#pragma unroll
    for (int w = 0; w < T::warps; ++w) tile.counts[w][first_digit + d] += before;
    before += sums[d];
  }
  T::synchronise();
#pragma unroll
  for (int r = 0; r < digit_rows; ++r)
    places.set(r, first + 32 * r < length ? ranks[r] + counts[digit_of(r)] : 0);
}

/// Moves one 4-byte word of each item, with `stride` words between items, from `from` to `to`.
template <class T>
__device__ __forceinline__ void move_words(T& tile, const std::uint32_t* from, std::uint32_t* to,
                                           int stride, int length,
                                           const ShortNumbers<digit_rows, 16>& places) {
  const int warp = T::thread() / 32;
  const int first = warp * 32 * digit_rows + static_cast<int>(lane());
  std::uint32_t words[digit_rows];
#pragma unroll
  for (int r = 0; r < digit_rows; ++r)
    words[r] = first + 32 * r < length ? from[(first + 32 * r) * stride] : 0;
  T::synchronise();
#pragma unroll
  for (int r = 0; r < digit_rows; ++r)
    if (first + 32 * r < length) tile.words[places[r]] = words[r];
  T::synchronise();
#pragma unroll
  for (int r = 0; r < digit_rows; ++r) {
    const int p = r * T::threads + T::thread();
    if (p < length) to[p * stride] = tile.words[p];
  }
}

/// Sorts a segment of up to T::capacity items.
template <class T, class Narrow>
__device__ __forceinline__ void sort_by_narrow_digits(T& tile,
                                                      const NarrowArguments<Narrow>& arguments,
                                                      const SegmentExtent& segment) {
  const auto length = static_cast<int>(segment.length);
  const int thread = T::thread();
  const int first = thread / 32 * 32 * digit_rows + static_cast<int>(lane());
  const Narrow* const keys_in = arguments.keys_in + segment.begin;
  std::uint32_t keys[digit_rows];
#pragma unroll
  for (int r = 0; r < digit_rows; ++r) {
    const int e = first + 32 * r;
    keys[r] = e < length ? arguments.codec.encoded(keys_in[e]) : 0;
  }
  if (arguments.value_bytes != 0) {
    const auto bytes = static_cast<std::uint64_t>(arguments.value_bytes);
    prefetch_lines(static_cast<const char*>(arguments.values_in) + segment.begin * bytes,
                   segment.length * bytes, static_cast<unsigned int>(thread), T::threads);
  }
  ShortNumbers<digit_rows, 16> places;
  place_by_digit(
      tile, length, [&](int r) { return keys[r] % narrow_digits; }, places);
  if constexpr (sizeof(Narrow) == 2) {
#pragma unroll
    for (int r = 0; r < digit_rows; ++r)
      if (first + 32 * r < length)
        tile.words[places[r]] = keys[r] << 16 | static_cast<std::uint32_t>(first + 32 * r);
    T::synchronise();
#pragma unroll
    for (int r = 0; r < digit_rows; ++r)
      keys[r] = first + 32 * r < length ? tile.words[first + 32 * r] : 0;
    place_by_digit(
        tile, length, [&](int r) { return keys[r] >> 24; }, places);
#pragma unroll
    for (int r = 0; r < digit_rows; ++r)
      if (first + 32 * r < length)
        tile.places[keys[r] & 0xffff] = static_cast<std::uint16_t>(places[r]);
  }
  auto* const in_order = reinterpret_cast<Narrow*>(tile.words);
#pragma unroll
  for (int r = 0; r < digit_rows; ++r)
    if (first + 32 * r < length)
      in_order[places[r]] = static_cast<Narrow>(sizeof(Narrow) == 2 ? keys[r] >> 16 : keys[r]);
  T::synchronise();
  Narrow* const keys_out = arguments.keys_out + segment.begin;
#pragma unroll
  for (int r = 0; r < digit_rows; ++r) {
    const int p = r * T::threads + thread;
    if (p < length) keys_out[p] = arguments.codec.decoded(in_order[p]);
  }
  if (arguments.value_bytes != 0) {
    if constexpr (sizeof(Narrow) == 2) {
      ShortNumbers<digit_rows, 16> of_items;
#pragma unroll
      for (int r = 0; r < digit_rows; ++r)
        of_items.set(r, first + 32 * r < length ? tile.places[first + 32 * r] : 0);
      places = of_items;
    }
    const int stride = arguments.value_bytes / 4;
    for (int half = 0; half < stride; ++half) {
      const std::uint64_t begin = segment.begin * stride + half;
      move_words(tile, static_cast<const std::uint32_t*>(arguments.values_in) + begin,
                 static_cast<std::uint32_t*>(arguments.values_out) + begin, stride, length, places);
    }
  }
  T::synchronise();
}

/// Sorts the segments listed for teams of Warps warps, one by one.
///
///   shared memory           the tiles of the teams of the block (DigitTile)
///   registers of thread l   of warp w: items 512 w + 32 r + l of the team's segment
template <class Narrow, int Warps>
__global__ void __launch_bounds__(32 * digit_block_warps, 2)
    narrow_digits_kernel(const NarrowArguments<Narrow> arguments, int list) {
  using T = DigitTile<Warps>;
  constexpr unsigned int teams = digit_block_warps / Warps;
  T& tile = reinterpret_cast<T*>(dynamic_shared_memory())[T::team()];
  const std::uint64_t count = arguments.lists.counters->of_team[list];
  const SegmentExtent* const segments = arguments.lists.of_team[list];
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * teams + T::team(); i < count;
       i += std::uint64_t{gridDim.x} * teams)
    sort_by_narrow_digits(tile, arguments, segments[i]);
}

}  // namespace sortie::segsort
