// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/row_kernels.hpp"
#include "apps/spgemm/cuda/fused/row_walk.cuh"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Row bitmaps and arguments of the kernels for large rows: rows of C with more products than the
/// sorting kernels take (count_large_rows.cuh, make_large_rows.cuh).
///
/// Terms of this file:
///   column block   32 neighbouring columns of C: one word of a bitmap, one bit per column
///   column group   32 column blocks, 1024 columns: one word of the upper level, one bit per block
///   column panel   consecutive column groups; a very large row is computed panel by panel
///   row bitmap     the columns of a row of C as bits, kept in device memory from counting to
///                  computing. One level: a word per column block of a range. Two levels: an upper
///                  level of a word per column group, and lower words of non-empty blocks only
namespace sortie::spgemm::cuda {

/// A word of a bitmap, and the number of set bits in the words before it.
struct alignas(8) RankedWord {
  std::uint32_t bits;
  std::uint32_t before;
};

/// Sizes of the arrays of a thread block in shared memory, which follow BlockEntries.
struct LargeRowLayout {
  std::uint32_t upper;  ///< words of the upper level; 0: the bitmap has one level
  std::uint32_t lower;  ///< capacity of the lower level in words
  std::uint32_t sums;   ///< capacity in entries of C; 0 in the counting kernel
  /// Counting with two levels: rows whose columns lie within this many column blocks use one level.
  std::uint32_t near_blocks = 0;

  [[nodiscard]] static LargeRowLayout of(const BitmapMemory& memory, std::int64_t columns,
                                         std::uint32_t sums) {
    const auto blocks = static_cast<std::uint32_t>((columns + 31) / 32);
    if (blocks <= memory.one_level_blocks) return {0, blocks, sums};
    const std::uint32_t upper = (blocks + 31) / 32;
    const std::uint32_t lower = memory.lower_blocks;
    return {upper, lower, sums, std::min(lower, upper + memory.near_blocks)};
  }

  [[nodiscard]] std::size_t bytes_to_count() const {
    return sizeof(RankedWord) * std::size_t{upper} + sizeof(std::uint32_t) * std::size_t{lower};
  }
  /// Bytes of the two levels in the computing kernel, where both have ranked words.
  [[nodiscard]] __host__ __device__ std::size_t bitmap_bytes() const {
    return sizeof(RankedWord) * (std::size_t{upper} + lower) / 16 * 16 + 16;
  }
  template <class Value>
  [[nodiscard]] std::size_t bytes_to_make() const {
    return bitmap_bytes() + (sizeof(Value) + sizeof(std::uint32_t)) * (std::size_t{sums} + 32);
  }
};

/// Sets `before` of `count` words and returns the number of set bits. Called by all threads, which
/// are synchronised before and after.
template <int Warps>
__device__ __forceinline__ std::uint32_t rank_words(RankedWord* words, std::uint32_t count,
                                                    std::uint32_t* warp_sums) {
  // Each thread takes an odd number of consecutive words, so that lanes access different banks.
  const std::uint32_t own = (count + 32 * Warps - 1) / (32 * Warps) | 1;
  const std::uint32_t begin = min(threadIdx.x * own, count);
  const std::uint32_t end = min(begin + own, count);
  std::uint32_t bits = 0;
  for (std::uint32_t i = begin; i < end; ++i) bits += __popc(words[i].bits);
  const BlockPrefix<std::uint32_t> sum = prefix_sum_in_block<Warps>(bits, warp_sums);
  std::uint32_t before = sum.before;
  for (std::uint32_t i = begin; i < end; ++i) {
    words[i].before = before;
    before += __popc(words[i].bits);
  }
  __syncthreads();
  return sum.total;
}

__device__ __forceinline__ void set_bit(std::uint32_t& bits, std::uint32_t bit) {
  const std::uint32_t mask = 1u << bit;
  if ((read_shared_word(bits) & mask) == 0) atomicOr(&bits, mask);
}

__device__ __forceinline__ std::uint32_t rank_of(RankedWord word, std::uint32_t bit) {
  return word.before + __popc(word.bits & ((1u << bit) - 1));
}

/// Zeroes words. Called by all threads, which are synchronised after it.
template <int Warps, class T>
__device__ __forceinline__ void clear(T* items, std::uint32_t count) {
  for (std::uint32_t i = threadIdx.x; i < count; i += 32 * Warps) items[i] = T{};
  __syncthreads();
}

template <class Value>
struct LargeRowArguments : LargeRowArrays {
  DeviceCsrView<Value> a;
  DeviceCsrView<Value> b;
  LargeRowLayout layout{};
  std::uint32_t columns{};  ///< of C
  std::uint32_t* bitmaps{};

  // Counting:
  std::uint32_t first_row{};  ///< number of the row of block 0
  std::uint64_t bitmap_capacity{};
  std::int64_t* counts{};  ///< entries of each row of C

  // Computing:
  ProductRows<Value> c{};

  [[nodiscard]] __device__ std::uint32_t column_blocks() const { return (columns + 31) / 32; }
  [[nodiscard]] __device__ std::uint32_t column_groups() const { return (columns + 1023) / 1024; }
};

/// A stored row bitmap: two header words (number of its first column block, number of lower words),
/// the upper level if there is one, and the lower words.
constexpr std::uint64_t kNoBitmap = ~std::uint64_t{0};
constexpr std::uint64_t kBitmapHasUpper = std::uint64_t{1} << 63;
/// The row has the same columns as its predecessor in the list and shares the predecessor's count,
/// bitmap and panel starts.
constexpr std::uint64_t kSameAsPreviousRow = ~std::uint64_t{0} - 1;
constexpr std::uint32_t kBitmapHeader = 2;

constexpr int kSteps = 4;

template <int Warps, bool IsRanged, class Value, class Set>
__device__ __forceinline__ void for_each_column(const LargeRowArguments<Value>& args,
                                                std::uint32_t row, ColumnRange range,
                                                BlockEntries<Value, Warps>& entries,
                                                const Set& set) {
  walk_row_by_block<Warps, false, IsRanged, kSteps>(
      args.a, args.b, row, range, entries,
      [&](const ProductSlice<Value, kSteps>& slice, std::uint32_t, bool) {
#pragma unroll
        for (int i = 0; i < kSteps; ++i)
          if ((slice.is_product >> i & 1) != 0) set(slice.columns[i]);
      });
}

/// Every 48th row of the list is counted even if it equals its predecessor, which bounds the search
/// of counted_row(). A multiple of common numbers of unknowns per grid point.
constexpr std::uint32_t kMaxSharedRows = 48;

/// Number of the row, `number` or an earlier one, that holds the count and bitmap of row `number`.
__device__ __forceinline__ std::uint32_t counted_row(const std::uint64_t* bitmap_at,
                                                     std::uint32_t number) {
  while (bitmap_at[number] == kSameAsPreviousRow) --number;
  return number;
}

template <class Value>
LargeRowArguments<Value> arguments_for(const ProductOperands<Value>& operands,
                                       const LargeRows& rows) {
  LargeRowArguments<Value> args{rows, operands.a, operands.b};
  args.columns = static_cast<std::uint32_t>(operands.b.cols);
  args.bitmaps = const_cast<std::uint32_t*>(rows.bitmaps.data());
  return args;
}

}  // namespace sortie::spgemm::cuda
