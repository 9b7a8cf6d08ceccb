// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/row_bitmap.cuh"

/// Counts the entries of large rows of C and stores their bitmaps: the kernel and its launches.
namespace sortie::spgemm::cuda {

/// The range of column blocks from the smallest to the largest column of a row of C. Called by all
/// threads, which are synchronised before and after.
template <int Warps, class Value>
__device__ __forceinline__ ColumnRange blocks_of_row(const LargeRowArguments<Value>& args,
                                                     std::uint32_t row,
                                                     ColumnRange (&of_warps)[Warps]) {
  ColumnRange range{~0u, 0};
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

/// True if row `number` of the list has the same columns of A, and therefore of C, as its
/// predecessor. Called by all threads.
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

/// The bitmap of a row of C in the shared memory of its block.
///
///   words[i]   column block i; bit b is set if the row has column b of the block
///   upper[g]   column group g; bits: its non-empty column blocks; before: the number of non-empty
///              column blocks in groups before g
///
/// One level: if C has few column blocks, or the columns of the row lie within few blocks, `words`
/// covers all blocks of that range and there is no upper level.
/// Two levels: `words` covers non-empty blocks only. If shared memory holds all blocks of C, empty
/// blocks are removed after marking. Otherwise one pass over the products builds the upper level,
/// and one further pass is made for each part of `words` that fits shared memory.
///
/// All functions are called by all threads.
template <int Warps, class Value>
class CountedBitmap {
 public:
  using Entries = BlockEntries<Value, Warps>;

  /// Shared memory beside the dynamic one.
  struct Shared {
    std::uint32_t warp_sums[Warps];
    unsigned long long place;  ///< of the stored bitmap, or kNoBitmap
    ColumnRange warp_ranges[Warps];
  };

  __device__ __forceinline__ CountedBitmap(const LargeRowArguments<Value>& args, Shared& shared,
                                           std::uint32_t number, std::uint32_t row)
      : args_(args),
        shared_(shared),
        number_(number),
        row_(row),
        entries_(*reinterpret_cast<Entries*>(dynamic_shared_memory())),
        upper_(reinterpret_cast<RankedWord*>(dynamic_shared_memory() + sizeof(Entries))),
        words_(reinterpret_cast<std::uint32_t*>(upper_ + args.layout.upper)),
        has_upper_(args.layout.upper != 0),
        blocks_(args.column_blocks()) {
    if (has_upper_) {
      const ColumnRange near = blocks_of_row<Warps>(args, row, shared.warp_ranges);
      if (near.end - near.begin <= args.layout.near_blocks) {
        has_upper_ = false;
        base_ = near.begin;
        blocks_ = near.end - near.begin;
      }
    }
    compacts_afterwards_ = has_upper_ && args.column_blocks() <= args.layout.lower;
    if (has_upper_ && !compacts_afterwards_) mark_upper();
  }

  /// Also stores the bitmap and the starts of the panels.
  __device__ __forceinline__ std::uint32_t count() {
    const bool has_panels = number_ >= args_.first_panel_row;
    std::uint32_t count = 0;
    const std::uint32_t to_set = blocks_;
    for (std::uint32_t first = 0; first < to_set; first += args_.layout.lower) {
      const std::uint32_t held = min(to_set - first, args_.layout.lower);
      mark_words(first, held);
      const CountedWords<Warps> counted(words_, held, entries_.head, shared_.warp_sums);
      if (has_panels) store_panel_starts(counted, first, held, count);
      count += counted.total;
      if (compacts_afterwards_) find_upper();
      if (first == 0) allocate();
      if (shared_.place != kNoBitmap) store(first, held);
      __syncthreads();
    }
    return count;
  }

 private:
  /// Index of the word of a column block.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t index_of(std::uint32_t block) const {
    return has_upper_ && !compacts_afterwards_ ? rank_of(upper_[block / 32], block % 32)
                                               : block - base_;
  }
  /// Index of the first word of column group `group` or a later one.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t first_word_of(std::uint32_t group) const {
    if (has_upper_ && !compacts_afterwards_)
      return group == args_.column_groups() ? blocks_ : upper_[group].before;
    return min(group * 32 - min(group * 32, base_), blocks_);
  }

  __device__ __forceinline__ void mark_upper() {
    clear<Warps>(upper_, args_.layout.upper);
    for_each_column<Warps, false>(args_, row_, ColumnRange{}, entries_, [&](std::uint32_t column) {
      set_bit(upper_[column / 1024].bits, column / 32 % 32);
    });
    blocks_ = rank_words<Warps>(upper_, args_.layout.upper, shared_.warp_sums);
  }
  /// Builds `held` words from word `first` on from the products.
  __device__ __forceinline__ void mark_words(std::uint32_t first, std::uint32_t held) {
    clear<Warps>(words_, held);
    for_each_column<Warps, false>(args_, row_, ColumnRange{}, entries_, [&](std::uint32_t column) {
      const std::uint32_t index = index_of(column / 32) - first;
      if (index < held) set_bit(words_[index], column % 32);
    });
  }
  /// Builds the upper level from the words of all column blocks.
  __device__ __forceinline__ void find_upper() {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t s = threadIdx.x / 32; s < args_.layout.upper; s += Warps) {
      const std::uint32_t block = s * 32 + lane;
      const unsigned with_entries =
          __ballot_sync(full_warp, block < args_.column_blocks() && words_[block] != 0);
      if (lane == 0) upper_[s].bits = with_entries;
    }
    __syncthreads();
    blocks_ = rank_words<Warps>(upper_, args_.layout.upper, shared_.warp_sums);
  }

  /// Stores the number of entries before each panel that begins in the held words.
  __device__ __forceinline__ void store_panel_starts(const CountedWords<Warps>& counted,
                                                     std::uint32_t first, std::uint32_t held,
                                                     std::uint32_t count) const {
    for (int w = static_cast<int>(threadIdx.x); w <= column_panels; w += 32 * Warps) {
      const std::uint32_t index = first_word_of(args_.panel_bounds[w]) - first;
      if (index < held) args_.starts_of(number_)[w] = count + counted.before(index);
      if (index == held) args_.starts_of(number_)[w] = count + counted.total;
    }
  }
  /// Allocates the stored bitmap and writes its header.
  __device__ __forceinline__ void allocate() {
    if (threadIdx.x == 0) {
      const std::uint64_t size =
          std::uint64_t{kBitmapHeader} + blocks_ +
          (has_upper_ ? std::uint64_t{args_.layout.upper} : std::uint64_t{0});
      shared_.place = kNoBitmap;
      const std::uint64_t place =
          atomicAdd(&args_.counters->bitmap_words, static_cast<unsigned long long>(size));
      if (place + size <= args_.bitmap_capacity) shared_.place = place;
      args_.bitmap_at[number_] = shared_.place == kNoBitmap || !has_upper_
                                     ? shared_.place
                                     : shared_.place | kBitmapHasUpper;
      if (shared_.place != kNoBitmap) {
        args_.bitmaps[shared_.place] = base_;
        args_.bitmaps[shared_.place + 1] = blocks_;
      }
    }
    __syncthreads();
  }
  /// Stores the held words and, with the first of them, the upper level.
  __device__ __forceinline__ void store(std::uint32_t first, std::uint32_t held) const {
    std::uint32_t* const bitmap = args_.bitmaps + shared_.place + kBitmapHeader;
    const std::uint32_t upper_words = has_upper_ ? args_.layout.upper : 0;
    if (first == 0) {
      for (std::uint32_t i = threadIdx.x; i < upper_words; i += 32 * Warps)
        bitmap[i] = upper_[i].bits;
    }
    if (compacts_afterwards_) {
      for (std::uint32_t block = threadIdx.x; block < args_.column_blocks(); block += 32 * Warps) {
        const std::uint32_t bits = words_[block];
        if (bits != 0) bitmap[upper_words + rank_of(upper_[block / 32], block % 32)] = bits;
      }
    } else {
      for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps)
        bitmap[upper_words + first + i] = words_[i];
    }
  }

  const LargeRowArguments<Value>& args_;
  Shared& shared_;
  std::uint32_t number_;
  std::uint32_t row_;
  Entries& entries_;
  RankedWord* upper_;
  std::uint32_t* words_;
  bool has_upper_;
  bool compacts_afterwards_;
  std::uint32_t base_ = 0;  ///< column block of word 0
  std::uint32_t blocks_;    ///< number of words of the row
};

/// Minimum resident blocks per multiprocessor of the counting kernel. Limits its registers.
constexpr int min_counting_blocks(int warps) {
  return warps <= 2 ? 18 : warps <= 4 ? 10 : warps <= 8 ? 5 : 1;
}

// Counts the entries of a large row of C; one thread block per row. The block stores the row bitmap
// for make_large_rows_kernel. For rows that may be split it also stores the number of entries
// before each column panel. A row with the same columns of A as its predecessor, as for several
// unknowns per grid point, is only marked kSameAsPreviousRow.
template <int Warps, class Value>
__global__ void __launch_bounds__(32 * Warps, min_counting_blocks(Warps))
    count_large_rows_kernel(const LargeRowArguments<Value> args) {
  __shared__ typename CountedBitmap<Warps, Value>::Shared shared;
  trigger_dependent_launch();
  const std::uint32_t number = args.first_row + blockIdx.x;
  const std::uint32_t row = args.rows[number];
  if (matches_previous_row<Warps>(args, number, row)) {
    if (threadIdx.x == 0) args.bitmap_at[number] = kSameAsPreviousRow;
    return;  // never block 0, which waits for the prior kernels
  }
  CountedBitmap<Warps, Value> bitmap(args, shared, number, row);
  const std::uint32_t count = bitmap.count();
  if (threadIdx.x == 0) {
    args.entries[number] = count;
    args.counts[row] = count;
  }
  wait_for_prior_kernels();
}

/// Layout of the counting kernel for a bin.
/// \param available  bytes of shared memory. The last bin uses them to cover all column blocks of
///                   C, which saves further passes over the products of a large row
inline LargeRowLayout layout_to_count(int bin, std::int64_t columns, std::size_t available) {
  const LargeRowLayout layout = LargeRowLayout::of(row_bins[bin].memory, columns, 0);
  const auto blocks = static_cast<std::uint32_t>((columns + 31) / 32);
  if (bin + 1 == RowBins::count && blocks > layout.lower) {
    LargeRowLayout all = layout;
    all.lower = blocks;
    if (all.bytes_to_count() <= available) return all;
  }
  return layout;
}

template <int Bin, class Value>
std::size_t bytes_to_count(const LargeRowLayout& layout) {
  return sizeof(BlockEntries<Value, row_bins[Bin].warps>) + layout.bytes_to_count();
}

template <class Value>
void count_large_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const LargeRows& rows, std::int64_t* counts, KernelGroup& group) {
  if (rows.count == 0) return;
  LargeRowArguments<Value> args = arguments_for(operands, rows);
  args.bitmap_capacity = rows.bitmaps.size();
  args.counts = counts;
  for_each_descending<RowBins::count - first_large_bin>([&]<int I> {
    constexpr int bin = first_large_bin + I;
    constexpr int warps = row_bins[bin].warps;
    if (bins.size(bin) == 0) return;
    args.layout = layout_to_count(bin, args.columns,
                                  max_dynamic_shared_memory() - bytes_to_count<bin, Value>({}));
    args.first_row = bins.begin[bin] - bins.begin[first_large_bin];
    group.launch(count_large_rows_kernel<warps, Value>, bins.size(bin), 32 * warps,
                 bytes_to_count<bin, Value>(args.layout), args);
  });
}

}  // namespace sortie::spgemm::cuda
