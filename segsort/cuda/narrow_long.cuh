// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/narrow_digits.cuh"

/// Segments of keys of 1 or 2 bytes that exceed all teams: all blocks sort them by digits, in
/// pieces of narrow_piece items. One kernel counts the digits of each segment, one turns the
/// numbers into positions, and one per digit moves the items, least digit first. As in
/// radix_passes.cuh, a piece learns from the pieces before it where its items of each digit go.
/// Keys of 1 byte alone are written from their numbers instead.
namespace sortie::segsort {

inline constexpr unsigned int narrow_block = 32 * digit_block_warps;

/// Counters of a digit in shared memory, chosen by the lane, so that lanes rarely wait for each
/// other.
template <class Narrow>
inline constexpr unsigned int digit_copies = sizeof(Narrow) == 1 ? 8 : 4;

/// A piece of a listed segment.
struct NarrowPiece {
  std::uint32_t index;   ///< of the segment in the lists
  std::uint64_t number;  ///< in the segment
  std::uint64_t segment_begin;
  std::uint64_t begin;
  int length;
};

template <class Narrow>
__device__ __forceinline__ NarrowPiece piece_of(const NarrowArguments<Narrow>& arguments,
                                                std::uint64_t piece) {
  const NarrowLists& lists = arguments.lists;
  NarrowPiece found{};
  found.index = lists.owner[piece];
  found.number = piece - lists.first_piece[found.index];
  found.segment_begin = lists.begins[found.index];
  found.begin = found.segment_begin + found.number * narrow_piece;
  found.length = static_cast<int>(min(narrow_piece, lists.ends[found.index] - found.begin));
  return found;
}

/// Counts all digits of the listed segments. A block takes consecutive pieces, and adds its numbers
/// when the segment changes.
///
///   shared memory   digit_copies counters of each digit
template <class Narrow>
__global__ void __launch_bounds__(narrow_block)
    count_narrow_kernel(const NarrowArguments<Narrow> arguments) {
  constexpr unsigned int passes = sizeof(Narrow);
  constexpr unsigned int copies = digit_copies<Narrow>;
  constexpr unsigned int counters = passes * narrow_digits;
  __shared__ unsigned int counts[counters * copies];
  const NarrowLists& lists = arguments.lists;
  const std::uint64_t pieces = lists.counters->pieces;
  const std::uint64_t each = (pieces + gridDim.x - 1) / gridDim.x;
  const std::uint64_t first = blockIdx.x * each;
  const std::uint64_t last = min(first + each, pieces);
  for (unsigned int i = threadIdx.x; i < counters * copies; i += narrow_block) counts[i] = 0;
  __syncthreads();
  for (std::uint64_t p = first; p < last; ++p) {
    const NarrowPiece piece = piece_of(arguments, p);
    const Narrow* const keys = arguments.keys_in + piece.begin;
    Narrow loaded[digit_rows];
#pragma unroll
    for (int r = 0; r < digit_rows; ++r) {
      const int i = r * static_cast<int>(narrow_block) + static_cast<int>(threadIdx.x);
      loaded[r] = i < piece.length ? keys[i] : Narrow{0};
    }
#pragma unroll
    for (int r = 0; r < digit_rows; ++r) {
      const int i = r * static_cast<int>(narrow_block) + static_cast<int>(threadIdx.x);
      if (i >= piece.length) continue;
      const std::uint32_t key = arguments.codec.encoded(loaded[r]);
#pragma unroll
      for (unsigned int pass = 0; pass < passes; ++pass) {
        const std::uint32_t digit = key >> (8 * pass) & (narrow_digits - 1);
        atomicAdd(&counts[(pass * narrow_digits + digit) * copies + lane() % copies], 1);
      }
    }
    if (p + 1 < last && lists.owner[p + 1] == piece.index) continue;
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < counters; i += narrow_block) {
      unsigned int sum = 0;
      for (unsigned int copy = 0; copy < copies; ++copy) {
        sum += counts[i * copies + copy];
        counts[i * copies + copy] = 0;
      }
      if (sum != 0)
        atomicAdd(&lists.starts[std::uint64_t{piece.index} * counters + i],
                  static_cast<unsigned long long>(sum));
    }
    __syncthreads();
  }
}

/// Turns the numbers of the digits of each listed segment into the positions, in the segment, of
/// the first of each. Thread d has digit d.
template <class Narrow>
__global__ void __launch_bounds__(narrow_digits)
    narrow_starts_kernel(const NarrowArguments<Narrow> arguments) {
  constexpr int warps = narrow_digits / 32;
  __shared__ std::uint64_t sums[warps];
  const NarrowLists& lists = arguments.lists;
  const std::uint64_t rows = lists.counters->segments * sizeof(Narrow);
  for (std::uint64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    unsigned long long& start = lists.starts[row * narrow_digits + threadIdx.x];
    start = prefix_sum_in_block<warps>(std::uint64_t{start}, sums).before;
  }
}

/// Arrays of a pass.
template <class Narrow>
struct NarrowPass {
  std::uint32_t number;
  const Narrow* keys_from;
  Narrow* keys_to;
  const void* values_from;
  void* values_to;
};

/// Moves the items of all listed segments by one digit.
///
///   shared memory           the tile of the block (DigitTile), and where its items of each digit
///                           go
///   registers of thread l   of warp w: items 512 w + 32 r + l of the piece
template <class Narrow>
__global__ void __launch_bounds__(narrow_block, 2)
    narrow_pass_kernel(const NarrowArguments<Narrow> arguments, const NarrowPass<Narrow> pass) {
  using T = DigitTile<digit_block_warps>;
  static_assert(T::capacity == narrow_piece);
  __shared__ std::uint64_t destinations[narrow_digits];
  __shared__ unsigned long long task;
  T& tile = *reinterpret_cast<T*>(dynamic_shared_memory());
  const NarrowLists& lists = arguments.lists;
  const std::uint64_t pieces = lists.counters->pieces;
  const auto thread = static_cast<int>(threadIdx.x);
  const int first = thread / 32 * 32 * digit_rows + static_cast<int>(lane());
  const int shift = 8 * static_cast<int>(pass.number);
  for (;;) {
    if (thread == 0) task = atomicAdd(&lists.counters->next_piece[pass.number], 1);
    __syncthreads();
    const std::uint64_t own = task;
    if (own >= pieces) return;
    const NarrowPiece piece = piece_of(arguments, own);
    const int length = piece.length;
    const Narrow* const keys_from = pass.keys_from + piece.begin;
    std::uint32_t keys[digit_rows];
#pragma unroll
    for (int r = 0; r < digit_rows; ++r) {
      const int e = first + 32 * r;
      keys[r] = e < length ? arguments.codec.encoded(keys_from[e]) : 0;
    }
    const auto bytes = static_cast<std::uint64_t>(arguments.value_bytes);
    if (bytes != 0)
      prefetch_lines(static_cast<const char*>(pass.values_from) + piece.begin * bytes,
                     static_cast<std::uint64_t>(length) * bytes, threadIdx.x, narrow_block);
    ShortNumbers<digit_rows, 16> places;
    place_by_digit(
        tile, length, [&](int r) { return keys[r] >> shift & (narrow_digits - 1); }, places);
    if (thread < narrow_digits) {
      const std::uint32_t start = tile.counts[0][thread];
      const std::uint32_t end = thread + 1 < narrow_digits ? tile.counts[0][thread + 1]
                                                           : static_cast<std::uint32_t>(length);
      unsigned long long* const column =
          lists.statuses + lists.first_piece[piece.index] * narrow_digits + thread;
      radix::publish(column, piece.number, end - start, pass.number);
      const std::uint64_t before =
          radix::items_before(column, piece.number, end - start, pass.number);
      const std::uint64_t row = piece.index * sizeof(Narrow) + pass.number;
      destinations[thread] =
          piece.segment_begin + lists.starts[row * narrow_digits + thread] + before - start;
    }
    auto* const in_order = reinterpret_cast<Narrow*>(tile.words);
#pragma unroll
    for (int r = 0; r < digit_rows; ++r)
      if (first + 32 * r < length) in_order[places[r]] = static_cast<Narrow>(keys[r]);
    __syncthreads();
    ShortNumbers<digit_rows, 8> found;
#pragma unroll
    for (int r = 0; r < digit_rows; ++r) {
      const int p = r * T::threads + thread;
      const Narrow key = p < length ? in_order[p] : Narrow{0};
      const std::uint32_t digit = std::uint32_t{key} >> shift & (narrow_digits - 1);
      found.set(r, digit);
      if (p < length) pass.keys_to[destinations[digit] + p] = arguments.codec.decoded(key);
    }
    const int stride = arguments.value_bytes / 4;
    for (int half = 0; half < stride; ++half) {
      const std::uint32_t* const from =
          static_cast<const std::uint32_t*>(pass.values_from) + piece.begin * stride + half;
      std::uint32_t* const to = static_cast<std::uint32_t*>(pass.values_to) + half;
      std::uint32_t words[digit_rows];
#pragma unroll
      for (int r = 0; r < digit_rows; ++r)
        words[r] = first + 32 * r < length ? from[(first + 32 * r) * stride] : 0;
      __syncthreads();
#pragma unroll
      for (int r = 0; r < digit_rows; ++r)
        if (first + 32 * r < length) tile.words[places[r]] = words[r];
      __syncthreads();
#pragma unroll
      for (int r = 0; r < digit_rows; ++r) {
        const int p = r * T::threads + thread;
        if (p < length) to[(destinations[found[r]] + p) * stride] = tile.words[p];
      }
    }
    __syncthreads();
  }
}

/// Writes listed segments of keys of 1 byte alone. Each thread writes 16 neighbouring keys; it
/// finds the first by a binary search.
template <class Narrow>
__global__ void __launch_bounds__(narrow_block)
    fill_narrow_kernel(const NarrowArguments<Narrow> arguments) {
  static_assert(sizeof(Narrow) == 1);
  constexpr int each = static_cast<int>(narrow_piece / narrow_block);
  __shared__ std::uint64_t starts[narrow_digits + 1];
  const NarrowLists& lists = arguments.lists;
  const std::uint64_t pieces = lists.counters->pieces;
  for (std::uint64_t p = blockIdx.x; p < pieces; p += gridDim.x) {
    const NarrowPiece piece = piece_of(arguments, p);
    __syncthreads();
    if (threadIdx.x < narrow_digits)
      starts[threadIdx.x] = lists.starts[std::uint64_t{piece.index} * narrow_digits + threadIdx.x];
    if (threadIdx.x == 0) starts[narrow_digits] = ~std::uint64_t{0};
    __syncthreads();
    const int from = static_cast<int>(threadIdx.x) * each;
    if (from >= piece.length) continue;
    const std::uint64_t place = piece.number * narrow_piece + static_cast<std::uint64_t>(from);
    // The last digit that begins at or before the place.
    int digit = 0;
#pragma unroll
    for (int step = narrow_digits / 2; step > 0; step /= 2)
      if (starts[digit + step] <= place) digit += step;
    Narrow* const to = arguments.keys_out + piece.begin + from;
    alignas(16) Narrow keys[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      while (starts[digit + 1] <= place + i) ++digit;
      keys[i] = arguments.codec.decoded(static_cast<Narrow>(digit));
    }
    if (from + each <= piece.length && reinterpret_cast<std::uintptr_t>(to) % each == 0) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(keys);
    } else {
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (from + i < piece.length) to[i] = keys[i];
    }
  }
}

}  // namespace sortie::segsort
