// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/block_walk.cuh"
#include "apps/spgemm/cuda/fused/large_row_task.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "primitives/cuda/block_scan.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Kernels for large rows: rows of C with more products than the sorting kernels take.
///
/// Terms of this file:
///   column block   32 neighbouring columns of C: one word of a bitmap, one bit per column
///   column group   32 column blocks, 1024 columns: one word of the upper level, one bit per block
///   column panel   consecutive column groups; a very large row is computed panel by panel
///   row bitmap     the columns of a row of C as bits, kept in device memory from counting to
///                  computing. One level: a word per column block of a range. Two levels: an upper
///                  level of a word per column group, and lower words of non-empty blocks only
namespace sortie::spgemm::cuda {

// --- Bitmaps -------------------------------------------------------------------------------------

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

  [[nodiscard]] std::size_t bytes_to_count() const {
    return sizeof(RankedWord) * std::size_t{upper} + sizeof(std::uint32_t) * std::size_t{lower};
  }
  template <class Value>
  [[nodiscard]] std::size_t bytes_to_make() const {
    return sizeof(RankedWord) * (std::size_t{upper} + lower) / 16 * 16 + 16 +
           (sizeof(Value) + sizeof(std::uint32_t)) * (std::size_t{sums} + 32);
  }
};

/// Sets `before` of `count` words. Returns the number of set bits. Called by all threads, which are
/// synchronised before and after.
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

/// Kernel arguments: operands, and arrays indexed by row number in the list of large rows.
template <class Value>
struct LargeRowArguments {
  MatrixArrays<Value> a;
  MatrixArrays<Value> b;
  LargeRowLayout layout{};
  const std::uint32_t* rows{};  ///< row of C of each listed row
  const std::uint32_t* panel_bounds{};
  std::uint32_t columns{};  ///< of C
  std::uint32_t first_panel_row{};
  std::uint32_t* panel_starts{};
  std::uint64_t* bitmap_at{};
  std::uint32_t* bitmaps{};

  // Counting:
  std::uint32_t first_row{};
  std::uint64_t bitmap_capacity{};
  LargeRowCounters* counters{};
  std::uint32_t* entries{};  ///< entries of each listed row
  std::int64_t* counts{};    ///< entries of each row of C

  // Computing:
  const PanelTask* tasks{};
  const std::int64_t* c_row_ptr{};
  std::uint32_t* c_col_idx{};
  Value* c_values{};

  [[nodiscard]] __device__ std::uint32_t column_blocks() const { return (columns + 31) / 32; }
  [[nodiscard]] __device__ std::uint32_t column_groups() const { return (columns + 1023) / 1024; }
  [[nodiscard]] __device__ std::uint32_t* starts_of(std::uint32_t row) const {
    return panel_starts + std::size_t{row - first_panel_row} * (column_panels + 1);
  }
};

/// A stored row bitmap: two header words (number of its first column block, number of lower words),
/// the upper level if there is one, and the lower words.
constexpr std::uint64_t kNoBitmap = ~std::uint64_t{0};
constexpr std::uint64_t kBitmapHasUpper = std::uint64_t{1} << 63;
/// The row has the same columns as its predecessor in the list and shares the predecessor's count,
/// bitmap and panel starts.
constexpr std::uint64_t kSameAsPreviousRow = ~std::uint64_t{0} - 1;
constexpr std::uint32_t kBitmapHeader = 2;

/// Sums the products of all lanes with the same rank, in lane order. Returns true on the first lane
/// of each rank, which receives the sum. On other lanes `product` is unspecified afterwards.
template <class Value>
__device__ __forceinline__ bool sum_equal_ranks(std::uint32_t rank, Value& product) {
  unsigned others = __match_any_sync(full_warp, rank);
  const bool is_first = rank_among(others) == 0;
  others &= others - 1;
  if (!is_first || rank == ~0u) others = 0;
  const Value own = product;
  while (__any_sync(full_warp, others != 0) != 0) {
    const Value other = from_lane(own, first_lane(others | 1u << 31));
    if (others != 0) product = sum(product, other);
    others &= others - 1;
  }
  return is_first;
}

/// The additive identity: -0.0, since -0.0 + x has the bits of x for every x, including +0.0 and
/// -0.0.
template <class Value>
__device__ __forceinline__ Value additive_identity() {
  if constexpr (sizeof(Value) > sizeof(double)) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

constexpr int kSteps = 4;

/// Products of slices with at most this many entries of A are added entry by entry. For slices with
/// more entries, products of equal columns within a step are summed first, then added step by step.
constexpr int kMaxRounds = 3;

/// Calls set(column) for all products of a row.
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

/// Column blocks [begin, end).
struct BlockRange {
  std::uint32_t begin;
  std::uint32_t end;
};

/// The range of column blocks from the smallest to the largest column of a row of C. Called by all
/// threads, which are synchronised before and after.
template <int Warps, class Value>
__device__ __forceinline__ BlockRange blocks_of_row(const LargeRowArguments<Value>& args,
                                                    std::uint32_t row,
                                                    BlockRange (&of_warps)[Warps]) {
  BlockRange range{~0u, 0};
  const std::int64_t row_end = args.a.row_ptr[row + std::int64_t{1}];
  for (std::int64_t entry = args.a.row_ptr[row] + threadIdx.x; entry < row_end;
       entry += 32 * Warps) {
    const std::uint32_t k = args.a.col_idx[entry];
    const std::int64_t begin = args.b.row_ptr[k];
    const std::int64_t end = args.b.row_ptr[k + std::int64_t{1}];
    if (begin == end) continue;
    range.begin = min(range.begin, args.b.col_idx[begin] / 32);
    range.end = max(range.end, args.b.col_idx[end - 1] / 32 + 1);
  }
  range.begin = min_in_warp(range.begin);
  range.end = max_in_warp(range.end);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = range;
  __syncthreads();
#pragma unroll
  for (int warp = 0; warp < Warps; ++warp) {
    range.begin = min(range.begin, of_warps[warp].begin);
    range.end = max(range.end, of_warps[warp].end);
  }
  return range;
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

/// True if row `number` of the list has the same columns of A, and therefore of C, as its
/// predecessor. Called by all threads, which are synchronised after it.
template <int Warps, class Value>
__device__ __forceinline__ bool matches_previous_row(const LargeRowArguments<Value>& args,
                                                     std::uint32_t number, std::uint32_t row) {
  if (number == args.first_row || number % kMaxSharedRows == 0) return false;
  const std::uint32_t other = args.rows[number - 1];
  const std::int64_t begin = args.a.row_ptr[row];
  const std::int64_t length = args.a.row_ptr[row + std::int64_t{1}] - begin;
  const std::int64_t other_begin = args.a.row_ptr[other];
  if (args.a.row_ptr[other + std::int64_t{1}] - other_begin != length) return false;
  for (std::int64_t first = 0; first < length; first += 32 * Warps) {
    const std::int64_t i = first + threadIdx.x;
    const bool differs = i < length && args.a.col_idx[begin + i] != args.a.col_idx[other_begin + i];
    if (__syncthreads_or(differs ? 1 : 0) != 0) return false;
  }
  return true;
}

/// Set bits of an array of words, counted by a thread block; each thread owns consecutive words.
template <int Warps>
class CountedWords {
 public:
  /// \param before  one element per thread, written; must stay valid
  __device__ __forceinline__ CountedWords(const std::uint32_t* words, std::uint32_t count,
                                          std::uint32_t* before, std::uint32_t* warp_sums)
      // An odd number of words, so that lanes access different banks.
      : words_(words), before_(before), own_((count + 32 * Warps - 1) / (32 * Warps) | 1) {
    const std::uint32_t begin = min(threadIdx.x * own_, count);
    const std::uint32_t end = min(begin + own_, count);
    std::uint32_t bits = 0;
    for (std::uint32_t i = begin; i < end; ++i) bits += __popc(words[i]);
    const BlockPrefix<std::uint32_t> sum = prefix_sum_in_block<Warps>(bits, warp_sums);
    before[threadIdx.x] = sum.before;
    total = sum.total;
    __syncthreads();
  }

  /// Set bits in the words before word i. Callable by any thread. \pre i < count
  __device__ __forceinline__ std::uint32_t before(std::uint32_t i) const {
    const std::uint32_t thread = i / own_;
    std::uint32_t bits = before_[thread];
    for (std::uint32_t j = thread * own_; j < i; ++j) bits += __popc(words_[j]);
    return bits;
  }

  std::uint32_t total;

 private:
  const std::uint32_t* words_;
  const std::uint32_t* before_;
  std::uint32_t own_;
};

/// Minimum resident blocks per multiprocessor of the counting kernel. Limits its registers.
constexpr int min_counting_blocks(int warps) {
  return warps <= 2 ? 18 : warps <= 4 ? 10 : warps <= 8 ? 5 : 1;
}

// Counts the entries of a large row of C; one thread block per row.
//
//   words[i]   shared: column block i; bit b is set if the row has column b of the block
//   upper[g]   shared: column group g; bits: its non-empty column blocks; before: the number of
//              non-empty column blocks in groups before g
//
// One level: if C has few column blocks, or the columns of the row lie within few blocks, `words`
// covers all blocks of that range and there is no upper level.
// Two levels: `words` covers non-empty blocks only. If shared memory holds all blocks of C, empty
// blocks are removed after marking. Otherwise one pass over the products builds the upper level,
// and one further pass is made for each part of `words` that fits shared memory.
//
// The block stores the row bitmap for make_large_rows_kernel. For rows that may be split it also
// stores the number of entries before each column panel. A row with the same columns of A as its
// predecessor, as for several unknowns per grid point, is only marked kSameAsPreviousRow.
template <int Warps, class Value>
__global__ void __launch_bounds__(32 * Warps, min_counting_blocks(Warps))
    count_large_rows_kernel(const LargeRowArguments<Value> args) {
  using Entries = BlockEntries<Value, Warps>;
  unsigned char* const bytes = dynamic_shared_memory();
  __shared__ std::uint32_t warp_sums[Warps];
  __shared__ unsigned long long bitmap_place;
  __shared__ BlockRange warp_ranges[Warps];
  Entries& entries = *reinterpret_cast<Entries*>(bytes);
  auto* const upper = reinterpret_cast<RankedWord*>(bytes + sizeof(Entries));
  auto* const words = reinterpret_cast<std::uint32_t*>(upper + args.layout.upper);
  const std::uint32_t capacity = args.layout.lower;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x / 32;
  trigger_dependent_launch();
  const std::uint32_t number = args.first_row + blockIdx.x;
  const std::uint32_t row = args.rows[number];
  if (matches_previous_row<Warps>(args, number, row)) {
    if (threadIdx.x == 0) args.bitmap_at[number] = kSameAsPreviousRow;
    return;  // never block 0, which waits for the prior kernels
  }
  const ColumnRange range{};
  const bool has_panels = number >= args.first_panel_row;
  const std::uint32_t all = args.column_blocks();
  bool has_upper = args.layout.upper != 0;
  std::uint32_t base = 0;
  std::uint32_t blocks = all;  // number of words of the row
  if (has_upper) {
    const BlockRange near = blocks_of_row<Warps>(args, row, warp_ranges);
    if (near.end - near.begin <= args.layout.near_blocks) {
      has_upper = false;
      base = near.begin;
      blocks = near.end - near.begin;
    }
  }
  const bool compacts_afterwards = has_upper && all <= capacity;
  if (has_upper && !compacts_afterwards) {
    clear<Warps>(upper, args.layout.upper);
    for_each_column<Warps, false>(args, row, range, entries, [&](std::uint32_t column) {
      set_bit(upper[column / 1024].bits, column / 32 % 32);
    });
    blocks = rank_words<Warps>(upper, args.layout.upper, warp_sums);
  }
  const auto index_of = [&](std::uint32_t block) {
    return has_upper && !compacts_afterwards ? rank_of(upper[block / 32], block % 32)
                                             : block - base;
  };
  // Index of the first word of column group `group` or a later one.
  const auto word_of = [&](std::uint32_t group) {
    if (has_upper && !compacts_afterwards)
      return group == args.column_groups() ? blocks : upper[group].before;
    return min(group * 32 - min(group * 32, base), blocks);
  };
  const auto allocate_bitmap = [&] {
    if (threadIdx.x == 0) {
      const std::uint64_t size = std::uint64_t{kBitmapHeader} + blocks +
                                 (has_upper ? std::uint64_t{args.layout.upper} : std::uint64_t{0});
      bitmap_place = kNoBitmap;
      const std::uint64_t place =
          atomicAdd(&args.counters->bitmap_words, static_cast<unsigned long long>(size));
      if (place + size <= args.bitmap_capacity) bitmap_place = place;
      args.bitmap_at[number] =
          bitmap_place == kNoBitmap || !has_upper ? bitmap_place : bitmap_place | kBitmapHasUpper;
      if (bitmap_place != kNoBitmap) {
        args.bitmaps[bitmap_place] = base;
        args.bitmaps[bitmap_place + 1] = blocks;
      }
    }
    __syncthreads();
  };

  std::uint32_t count = 0;
  const std::uint32_t to_set = blocks;
  for (std::uint32_t first = 0; first < to_set; first += capacity) {
    const std::uint32_t held = min(to_set - first, capacity);
    clear<Warps>(words, held);
    for_each_column<Warps, false>(args, row, range, entries, [&](std::uint32_t column) {
      const std::uint32_t index = index_of(column / 32) - first;
      if (index < held) set_bit(words[index], column % 32);
    });
    const CountedWords<Warps> counted(words, held, entries.head, warp_sums);
    if (has_panels) {
      for (int w = static_cast<int>(threadIdx.x); w <= column_panels; w += 32 * Warps) {
        const std::uint32_t index = word_of(args.panel_bounds[w]) - first;
        if (index < held) args.starts_of(number)[w] = count + counted.before(index);
        if (index == held) args.starts_of(number)[w] = count + counted.total;
      }
    }
    count += counted.total;
    if (compacts_afterwards) {
      for (std::uint32_t s = warp; s < args.layout.upper; s += Warps) {
        const std::uint32_t block = s * 32 + lane;
        const unsigned with_entries = __ballot_sync(full_warp, block < all && words[block] != 0);
        if (lane == 0) upper[s].bits = with_entries;
      }
      __syncthreads();
      blocks = rank_words<Warps>(upper, args.layout.upper, warp_sums);
    }
    if (first == 0) allocate_bitmap();
    if (bitmap_place != kNoBitmap) {
      std::uint32_t* const bitmap = args.bitmaps + bitmap_place + kBitmapHeader;
      const std::uint32_t upper_words = has_upper ? args.layout.upper : 0;
      if (first == 0) {
        for (std::uint32_t i = threadIdx.x; i < upper_words; i += 32 * Warps)
          bitmap[i] = upper[i].bits;
      }
      if (compacts_afterwards) {
        for (std::uint32_t block = threadIdx.x; block < all; block += 32 * Warps) {
          const std::uint32_t bits = words[block];
          if (bits != 0) bitmap[upper_words + rank_of(upper[block / 32], block % 32)] = bits;
        }
      } else {
        for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps)
          bitmap[upper_words + first + i] = words[i];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    args.entries[number] = count;
    args.counts[row] = count;
  }
  wait_for_prior_kernels();
}

// Computes a row of C, or its entries in a range of column panels; one thread block per task.
//
//   upper, lower   shared: bitmap of the row as above, read from the stored row bitmap or, without
//                  one, built from the products; gives the rank of every column
//   sums[r]        shared: value of the entry of rank r
//   columns[r]     shared: column of the entry of rank r
//
// The warps process slices of products in parallel and add them to `sums` one warp at a time, in
// the order of the slices, so results are reproducible. While one warp adds, the others load their
// next products. If the words or the entries exceed shared memory, the products are traversed once
// for each part.
template <int Warps, bool IsRanged, class Value>
__global__ void __launch_bounds__(32 * Warps)
    make_large_rows_kernel(const LargeRowArguments<Value> args) {
  using Entries = BlockEntries<Value, Warps>;
  unsigned char* const bytes = dynamic_shared_memory();
  __shared__ std::uint32_t warp_sums[Warps];
  Entries& entries = *reinterpret_cast<Entries*>(bytes);
  auto* const upper = reinterpret_cast<RankedWord*>(bytes + sizeof(Entries));
  RankedWord* lower = upper + args.layout.upper;
  std::uint32_t capacity = args.layout.lower;
  const std::size_t set_bytes =
      (args.layout.upper + args.layout.lower) * sizeof(RankedWord) / 16 * 16 + 16;
  auto* const sums = reinterpret_cast<Value*>(bytes + sizeof(Entries) + set_bytes);
  // One element per lane after the sums, for additions whose result is discarded.
  const std::uint32_t discarded = args.layout.sums + threadIdx.x % 32;
  auto* const columns = reinterpret_cast<std::uint32_t*>(sums + args.layout.sums + 32);
  bool has_upper = args.layout.upper != 0;
  const int warp = static_cast<int>(threadIdx.x / 32);
  __shared__ WarpSignal signals[Warps];
  SliceOrder<Warps> order(signals);
  trigger_dependent_launch();

  const PanelTask task = args.tasks[blockIdx.x];
  const std::uint32_t row = args.rows[task.row];
  const std::uint32_t counted = counted_row(args.bitmap_at, task.row);
  std::int64_t at = args.c_row_ptr[row];
  std::uint32_t first_group = 0;
  std::uint32_t end_group = args.column_groups();
  if constexpr (IsRanged) {
    at += args.starts_of(counted)[task.first_panel];
    first_group = args.panel_bounds[task.first_panel];
    end_group = args.panel_bounds[task.end_panel];
  }
  const ColumnRange range{first_group * 1024, end_group * 1024};
  const std::uint64_t bitmap_at = args.bitmap_at[counted];
  const bool has_bitmap = bitmap_at != kNoBitmap;
  const bool bitmap_has_upper = has_bitmap && (bitmap_at & kBitmapHasUpper) != 0;
  const std::uint32_t* bitmap = args.bitmaps + (has_bitmap ? bitmap_at & ~kBitmapHasUpper : 0);
  // Column blocks of the task that the bitmap covers; without a bitmap, all blocks of the task.
  std::uint32_t bitmap_begin = 0;
  std::uint32_t bitmap_end = args.column_blocks();
  if (has_bitmap) {
    if (!bitmap_has_upper) {
      bitmap_begin = bitmap[0];
      bitmap_end = bitmap_begin + bitmap[1];
    }
    bitmap += kBitmapHeader;
  }
  const std::uint32_t base = max(first_group * 32, bitmap_begin);
  const std::uint32_t end_block = max(base, min(end_group * 32, bitmap_end));
  if (has_upper && has_bitmap && !bitmap_has_upper &&
      end_block - base <= args.layout.upper + args.layout.lower) {
    has_upper = false;
    lower = upper;
    capacity = args.layout.upper + args.layout.lower;
  }

  // Lower words before the task, and up to its end.
  std::uint32_t first_index = 0;
  std::uint32_t end_index = end_block - base;
  if (has_upper) {
    const std::uint32_t column_groups = args.column_groups();
    if (bitmap_has_upper) {
      for (std::uint32_t i = threadIdx.x; i < column_groups; i += 32 * Warps)
        upper[i].bits = bitmap[i];
      __syncthreads();
    } else if (has_bitmap) {
      for (std::uint32_t i = warp; i < column_groups; i += Warps) {
        const std::uint32_t block = i * 32 + threadIdx.x % 32;
        const unsigned bits = __ballot_sync(
            full_warp, block >= base && block < end_block && bitmap[block - bitmap_begin] != 0);
        if (threadIdx.x % 32 == 0) upper[i].bits = bits;
      }
      __syncthreads();
    } else {
      clear<Warps>(upper, column_groups);
      for_each_column<Warps, IsRanged>(args, row, range, entries, [&](std::uint32_t column) {
        set_bit(upper[column / 1024].bits, column / 32 % 32);
      });
    }
    const std::uint32_t all = rank_words<Warps>(upper, column_groups, warp_sums);
    first_index = first_group < column_groups ? upper[first_group].before : all;
    end_index = end_group < column_groups ? upper[end_group].before : all;
  }
  const auto index_of = [&](std::uint32_t block) {
    return has_upper ? rank_of(upper[block / 32], block % 32) : block - base;
  };

  for (std::uint32_t first = first_index; first < end_index; first += capacity) {
    const std::uint32_t held = min(end_index - first, capacity);
    if (has_bitmap && bitmap_has_upper == has_upper) {
      const std::uint32_t* const bits =
          bitmap + first + (has_upper ? args.layout.upper : base - bitmap_begin);
      for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps) lower[i].bits = bits[i];
      __syncthreads();
    } else if (has_bitmap) {
      for (std::uint32_t block = base + threadIdx.x; block < end_block; block += 32 * Warps) {
        const std::uint32_t bits = bitmap[block - bitmap_begin];
        const std::uint32_t index = bits != 0 ? index_of(block) - first : held;
        if (index < held) lower[index].bits = bits;
      }
      __syncthreads();
    } else {
      clear<Warps>(lower, held);
      for_each_column<Warps, IsRanged>(args, row, range, entries, [&](std::uint32_t column) {
        const std::uint32_t index = index_of(column / 32) - first;
        if (index < held) set_bit(lower[index].bits, column % 32);
      });
    }
    const std::uint32_t found = rank_words<Warps>(lower, held, warp_sums);
    for (std::uint32_t first_sum = 0; first_sum < found; first_sum += args.layout.sums) {
      const std::uint32_t sums_held = min(found - first_sum, args.layout.sums);
      for (std::uint32_t i = threadIdx.x; i < sums_held; i += 32 * Warps)
        sums[i] = additive_identity<Value>();
      __syncthreads();
      walk_row_by_block<Warps, true, IsRanged, kSteps>(
          args.a, args.b, row, range, entries,
          [&](const ProductSlice<Value, kSteps>& slice, std::uint32_t number, bool is_last) {
            std::uint32_t ranks[kSteps];
            Value products[kSteps];
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              ranks[i] = ~0u;
              products[i] = slice.products[i];
              if ((slice.is_product >> i & 1) != 0) {
                const std::uint32_t index = index_of(slice.columns[i] / 32) - first;
                if (index < held)
                  ranks[i] = rank_of(lower[index], slice.columns[i] % 32) - first_sum;
              }
              if (slice.entries > kMaxRounds && !sum_equal_ranks(ranks[i], products[i]))
                ranks[i] = ~0u;
            }
            // Addresses are computed before the wait, to keep the serialised section short. Lanes
            // without a product in a round add to their discarded element.
            SharedAddress addresses[kMaxRounds][kSteps];
            SharedAddress column_addresses[kSteps];
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              const std::uint32_t place = ranks[i] < sums_held ? ranks[i] : discarded;
              column_addresses[i] = shared_address(columns + place);
#pragma unroll
              for (int round = 0; round < kMaxRounds; ++round) {
                const bool is_of_round =
                    slice.entries > kMaxRounds ? round == 0 : slice.entry[i] == round;
                addresses[round][i] = shared_address(sums + (is_of_round ? place : discarded));
              }
            }
            const bool is_first = number == 0;
            if (!is_first) order.wait(warp);
            if (slice.entries > kMaxRounds) {
#pragma unroll
              for (int i = 0; i < kSteps; ++i) {
                Value before;
                load_shared(addresses[0][i], before);
                store_shared(addresses[0][i], sum(before, products[i]));
                __syncwarp();
              }
            } else {
          // The products of one entry of A have different columns.
#pragma unroll
              for (int round = 0; round < kMaxRounds; ++round) {
                if (round >= slice.entries) break;
                Value before[kSteps];
#pragma unroll
                for (int i = 0; i < kSteps; ++i) load_shared(addresses[round][i], before[i]);
#pragma unroll
                for (int i = 0; i < kSteps; ++i)
                  store_shared(addresses[round][i], sum(before[i], products[i]));
                __syncwarp();
              }
            }
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              store_shared(column_addresses[i], slice.columns[i]);
              __syncwarp();
            }
            if (!is_last) order.signal_next(warp);
          });
      for (std::uint32_t i = threadIdx.x; i < sums_held; i += 32 * Warps) {
        args.c_col_idx[at + i] = columns[i];
        args.c_values[at + i] = sums[i];
      }
      __syncthreads();
      at += sums_held;
    }
  }
  wait_for_prior_kernels();
}

}  // namespace sortie::spgemm::cuda
