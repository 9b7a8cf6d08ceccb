#pragma once

#include <cstddef>
#include <cstdint>

#include "sortie/apps/spgemm/cuda/fused/block_walk.cuh"
#include "sortie/apps/spgemm/cuda/fused/hardware.cuh"
#include "sortie/apps/spgemm/cuda/fused/operands.hpp"
#include "sortie/apps/spgemm/cuda/fused/value.cuh"
#include "sortie/apps/spgemm/cuda/fused/window_task.hpp"

/// The kernels that make rows of many products, in windows of columns.
namespace sortie::spgemm::cuda {

// --- Sets of columns -----------------------------------------------------------------------------

/// Columns or blocks of a stretch of 32, as bits, and how many there are in those before.
struct alignas(8) Stretch {
  std::uint32_t bits;
  std::uint32_t before;
};

/// Where a block keeps what in its shared memory, behind BlockEntries.
struct WindowLayout {
  std::uint32_t upper;  ///< stretches of the upper level of the set; 0: there is none
  std::uint32_t
      blocks;          ///< of the lower level, 32 columns each: stretches; to count, words of bits
  std::uint32_t sums;  ///< entries of C; none to count
  /// To count with an upper level: rows whose columns lie within so many blocks do without it.
  std::uint32_t near = 0;

  [[nodiscard]] std::size_t bytes_to_count() const {
    return sizeof(Stretch) * std::size_t{upper} + sizeof(std::uint32_t) * std::size_t{blocks};
  }
  template <class Value>
  [[nodiscard]] std::size_t bytes_to_make() const {
    return sizeof(Stretch) * (std::size_t{upper} + blocks) / 16 * 16 + 16 +
           (sizeof(Value) + sizeof(std::uint32_t)) * (std::size_t{sums} + 32);
  }
};

/// Sum of a number of each thread over the threads before, and over all.
template <int Warps>
struct BlockSum {
  std::uint32_t before;
  std::uint32_t total;

  __device__ __forceinline__ BlockSum(std::uint32_t value, std::uint32_t* warp_sums) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const std::uint32_t up_to = sum_up_to_lane(value);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = up_to;
    __syncthreads();
    before = up_to - value;
    total = 0;
#pragma unroll
    for (int w = 0; w < Warps; ++w) {
      if (w == warp) before += total;
      total += warp_sums[w];
    }
    __syncthreads();
  }
};

/// Fills in `before` of `count` stretches, and returns how many bits are set. All threads, which
/// are together before and after.
template <int Warps>
__device__ __forceinline__ std::uint32_t number_bits(Stretch* stretches, std::uint32_t count,
                                                     std::uint32_t* warp_sums) {
  // A thread takes neighbours, an odd number of them, for then the lanes meet different banks.
  const std::uint32_t own = (count + 32 * Warps - 1) / (32 * Warps) | 1;
  const std::uint32_t begin = min(threadIdx.x * own, count);
  const std::uint32_t end = min(begin + own, count);
  std::uint32_t bits = 0;
  for (std::uint32_t i = begin; i < end; ++i) bits += __popc(stretches[i].bits);
  const BlockSum<Warps> sum(bits, warp_sums);
  std::uint32_t before = sum.before;
  for (std::uint32_t i = begin; i < end; ++i) {
    stretches[i].before = before;
    before += __popc(stretches[i].bits);
  }
  __syncthreads();
  return sum.total;
}

__device__ __forceinline__ void set_bit(std::uint32_t& bits, std::uint32_t bit) {
  const std::uint32_t mask = 1u << bit;
  if ((read_shared_word(bits) & mask) == 0) atomicOr(&bits, mask);
}

__device__ __forceinline__ std::uint32_t rank_of(Stretch stretch, std::uint32_t bit) {
  return stretch.before + __popc(stretch.bits & ((1u << bit) - 1));
}

/// Stretches or words. All threads, which are together afterwards.
template <int Warps, class T>
__device__ __forceinline__ void clear(T* items, std::uint32_t count) {
  for (std::uint32_t i = threadIdx.x; i < count; i += 32 * Warps) items[i] = T{};
  __syncthreads();
}

/// What the kernels need of all rows.
template <class Value>
struct WindowArguments {
  MatrixArrays<Value> a;
  MatrixArrays<Value> b;
  WindowLayout layout{};
  const std::uint32_t* rows{};  ///< number of each row within C
  const std::uint32_t* bounds{};
  std::uint32_t columns{};  ///< of C
  std::uint32_t first_of_long{};
  std::uint32_t* window_starts{};
  std::uint64_t* image_at{};
  std::uint32_t* images{};

  // To count:
  std::uint32_t first_row{};
  std::uint64_t image_capacity{};
  WindowCounters* counters{};
  std::uint32_t* entries{};  ///< of each row
  std::int64_t* counts{};    ///< of each row of C

  // To make:
  const WindowTask* tasks{};
  const std::int64_t* c_row_ptr{};
  std::uint32_t* c_col_idx{};
  Value* c_values{};

  [[nodiscard]] __device__ std::uint32_t blocks() const { return (columns + 31) / 32; }
  [[nodiscard]] __device__ std::uint32_t stretches() const { return (columns + 1023) / 1024; }
  [[nodiscard]] __device__ std::uint32_t* starts_of(std::uint32_t row) const {
    return window_starts + std::size_t{row - first_of_long} * (column_windows + 1);
  }
};

/// The image of a row: which block its first word is of, how many words of the lower level there
/// are; the upper level, where it has one; and the lower one.
constexpr std::uint64_t kNoImage = ~std::uint64_t{0};
constexpr std::uint64_t kImageHasUpper = std::uint64_t{1} << 63;
/// The row has the same columns as the row before it in the list: number of entries, image and what
/// is before each window are those of that one.
constexpr std::uint64_t kLikeRowBefore = ~std::uint64_t{0} - 1;
constexpr std::uint32_t kImageHead = 2;

/// The sum of the products of all lanes with the rank of the calling one, in order of lanes, on the
/// first of them, which is told by true. Others have no use for `product` afterwards.
template <class Value>
__device__ __forceinline__ bool add_up_equal_ranks(std::uint32_t rank, Value& product) {
  unsigned others = __match_any_sync(all_lanes, rank);
  const bool is_first = (others & lanes_below()) == 0;
  others &= others - 1;
  if (!is_first || rank == ~0u) others = 0;
  const Value own = product;
  while (__any_sync(all_lanes, others != 0) != 0) {
    const Value other = from_lane(own, __ffs(static_cast<int>(others | 1u << 31)) - 1);
    if (others != 0) product = sum(product, other);
    others &= others - 1;
  }
  return is_first;
}

/// What every value can be added to without a change: a negative zero as well.
template <class Value>
__device__ __forceinline__ Value nothing() {
  if constexpr (sizeof(Value) > sizeof(double)) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

constexpr int kSteps = 4;

/// A slice of so many entries is added entry by entry; one of more, step by step, after the
/// products of equal columns of a step have been added up.
constexpr int kMostRounds = 3;

/// Sets the bits of the upper or of the lower level for all products of a row.
template <int Warps, bool IsRanged, class Value, class Set>
__device__ __forceinline__ void for_each_column(const WindowArguments<Value>& args,
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

/// Blocks of 32 columns: [begin, end).
struct BlockRange {
  std::uint32_t begin;
  std::uint32_t end;
};

/// The blocks from that of the least to that of the greatest column of a row of C. All threads,
/// which are together before and after.
template <int Warps, class Value>
__device__ __forceinline__ BlockRange blocks_of_row(const WindowArguments<Value>& args,
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
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    range.begin = min(range.begin, __shfl_xor_sync(all_lanes, range.begin, distance));
    range.end = max(range.end, __shfl_xor_sync(all_lanes, range.end, distance));
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = range;
  __syncthreads();
#pragma unroll
  for (int warp = 0; warp < Warps; ++warp) {
    range.begin = min(range.begin, of_warps[warp].begin);
    range.end = max(range.end, of_warps[warp].end);
  }
  return range;
}

/// Rows in the list of which the first one is counted in any case, so that few steps lead from a
/// row to the one that it is like: a multiple of the usual numbers of unknowns a point.
constexpr std::uint32_t kMostAlike = 48;

/// The row of the list, `number` or one before it, that all this is kept for.
__device__ __forceinline__ std::uint32_t counted_row(const std::uint64_t* image_at,
                                                     std::uint32_t number) {
  while (image_at[number] == kLikeRowBefore) --number;
  return number;
}

/// Whether row `number` of the list has the same columns of A, and so of C, as the one before it in
/// the list. All threads, which are together afterwards.
template <int Warps, class Value>
__device__ __forceinline__ bool is_like_row_before(const WindowArguments<Value>& args,
                                                   std::uint32_t number, std::uint32_t row) {
  if (number == args.first_row || number % kMostAlike == 0) return false;
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

/// Words of bits, counted by all threads of a block: each has neighbours of them.
template <int Warps>
class CountedWords {
 public:
  /// \param before  takes a number for each thread; it is to be kept
  __device__ __forceinline__ CountedWords(const std::uint32_t* words, std::uint32_t count,
                                          std::uint32_t* before, std::uint32_t* warp_sums)
      // An odd number of them, for then the lanes meet different banks.
      : words_(words), before_(before), own_((count + 32 * Warps - 1) / (32 * Warps) | 1) {
    const std::uint32_t begin = min(threadIdx.x * own_, count);
    const std::uint32_t end = min(begin + own_, count);
    std::uint32_t bits = 0;
    for (std::uint32_t i = begin; i < end; ++i) bits += __popc(words[i]);
    const BlockSum<Warps> sum(bits, warp_sums);
    before[threadIdx.x] = sum.before;
    total = sum.total;
    __syncthreads();
  }

  /// Bits in the words before word i, by any thread. \pre i < count
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

/// Blocks that a multiprocessor is to have room for: registers are a matter of their number.
constexpr int least_counting_blocks(int warps) {
  return warps <= 2 ? 18 : warps <= 4 ? 10 : warps <= 8 ? 5 : 1;
}

// A block counts the entries of a row. A row with the same columns of A as the one before it, as
// the unknowns of a point have them, is only marked: it has the count and the image of that one.
//
//   words[i]:  of the i-th block of 32 columns, which have entries
//   upper[s]:  which of the blocks 32s .. 32s+31 have any, and how many blocks have in the
//   stretches
//              before
//
// Where C has few blocks, or the row has its columns near each other, words are those of all blocks
// there, and there is no upper level. Else words are those of the blocks with entries: where shared
// memory has room for all blocks of C, the block leaves out the others afterwards; where not, it
// goes through the products for the upper level first, and then once for each part of the words
// that shared memory has room for.
//
// It keeps the bits, as the row's image, for the kernel that makes the row; and of long rows how
// many entries are before each window.
template <int Warps, class Value>
__global__ void __launch_bounds__(32 * Warps, least_counting_blocks(Warps))
    count_window_rows_kernel(const WindowArguments<Value> args) {
  using Entries = BlockEntries<Value, Warps>;
  unsigned char* const bytes = dynamic_shared_memory();
  __shared__ std::uint32_t warp_sums[Warps];
  __shared__ unsigned long long image_place;
  __shared__ BlockRange warp_ranges[Warps];
  Entries& entries = *reinterpret_cast<Entries*>(bytes);
  auto* const upper = reinterpret_cast<Stretch*>(bytes + sizeof(Entries));
  auto* const words = reinterpret_cast<std::uint32_t*>(upper + args.layout.upper);
  const std::uint32_t capacity = args.layout.blocks;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x / 32;
  let_next_kernel_start();
  const std::uint32_t number = args.first_row + blockIdx.x;
  const std::uint32_t row = args.rows[number];
  if (is_like_row_before<Warps>(args, number, row)) {
    if (threadIdx.x == 0) args.image_at[number] = kLikeRowBefore;
    return;  // not the first block, which waits for the kernels before
  }
  const ColumnRange range{};
  const bool is_long = number >= args.first_of_long;
  const std::uint32_t all = args.blocks();
  bool has_upper = args.layout.upper != 0;
  std::uint32_t base = 0;
  std::uint32_t blocks = all;  // that the row has words of
  if (has_upper) {
    const BlockRange near = blocks_of_row<Warps>(args, row, warp_ranges);
    if (near.end - near.begin <= args.layout.near) {
      has_upper = false;
      base = near.begin;
      blocks = near.end - near.begin;
    }
  }
  const bool leaves_out_later = has_upper && all <= capacity;
  if (has_upper && !leaves_out_later) {
    clear<Warps>(upper, args.layout.upper);
    for_each_column<Warps, false>(args, row, range, entries, [&](std::uint32_t column) {
      set_bit(upper[column / 1024].bits, column / 32 % 32);
    });
    blocks = number_bits<Warps>(upper, args.layout.upper, warp_sums);
  }
  const auto index_of = [&](std::uint32_t block) {
    return has_upper && !leaves_out_later ? rank_of(upper[block / 32], block % 32) : block - base;
  };
  // The first word that is not before a stretch of columns, while words are set.
  const auto word_of = [&](std::uint32_t stretch) {
    if (has_upper && !leaves_out_later)
      return stretch == args.stretches() ? blocks : upper[stretch].before;
    return min(stretch * 32 - min(stretch * 32, base), blocks);
  };
  const auto find_image_place = [&] {
    if (threadIdx.x == 0) {
      const std::uint64_t size = std::uint64_t{kImageHead} + blocks +
                                 (has_upper ? std::uint64_t{args.layout.upper} : std::uint64_t{0});
      image_place = kNoImage;
      const std::uint64_t place =
          atomicAdd(&args.counters->image_words, static_cast<unsigned long long>(size));
      if (place + size <= args.image_capacity) image_place = place;
      args.image_at[number] =
          image_place == kNoImage || !has_upper ? image_place : image_place | kImageHasUpper;
      if (image_place != kNoImage) {
        args.images[image_place] = base;
        args.images[image_place + 1] = blocks;
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
    if (is_long) {
      for (int w = static_cast<int>(threadIdx.x); w <= column_windows; w += 32 * Warps) {
        const std::uint32_t index = word_of(args.bounds[w]) - first;
        if (index < held) args.starts_of(number)[w] = count + counted.before(index);
        if (index == held) args.starts_of(number)[w] = count + counted.total;
      }
    }
    count += counted.total;
    if (leaves_out_later) {
      for (std::uint32_t s = warp; s < args.layout.upper; s += Warps) {
        const std::uint32_t block = s * 32 + lane;
        const unsigned with_entries = __ballot_sync(all_lanes, block < all && words[block] != 0);
        if (lane == 0) upper[s].bits = with_entries;
      }
      __syncthreads();
      blocks = number_bits<Warps>(upper, args.layout.upper, warp_sums);
    }
    if (first == 0) find_image_place();
    if (image_place != kNoImage) {
      std::uint32_t* const image = args.images + image_place + kImageHead;
      const std::uint32_t upper_words = has_upper ? args.layout.upper : 0;
      if (first == 0) {
        for (std::uint32_t i = threadIdx.x; i < upper_words; i += 32 * Warps)
          image[i] = upper[i].bits;
      }
      if (leaves_out_later) {
        for (std::uint32_t block = threadIdx.x; block < all; block += 32 * Warps) {
          const std::uint32_t bits = words[block];
          if (bits != 0) image[upper_words + rank_of(upper[block / 32], block % 32)] = bits;
        }
      } else {
        for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps)
          image[upper_words + first + i] = words[i];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    args.entries[number] = count;
    args.counts[row] = count;
  }
  end_after_kernels_before();
}

// A block makes a row of C, or its entries in some windows of columns.
//
//   upper, lower: the set of the row's columns, as above; its bits come from the row's image, or
//   else
//                 from the products. They give every column its rank
//   sums[r]:      the entry of rank r; columns[r]: its column
//
// It goes through its products once. Sums are added by turns, slice after slice of products, so
// that they are the same on every run: while one warp adds, the others fetch theirs. Where the
// blocks or the entries are too many for shared memory, they are made so many at a time.
template <int Warps, bool IsRanged, class Value>
__global__ void __launch_bounds__(32 * Warps)
    make_window_rows_kernel(const WindowArguments<Value> args) {
  using Entries = BlockEntries<Value, Warps>;
  unsigned char* const bytes = dynamic_shared_memory();
  __shared__ std::uint32_t warp_sums[Warps];
  Entries& entries = *reinterpret_cast<Entries*>(bytes);
  auto* const upper = reinterpret_cast<Stretch*>(bytes + sizeof(Entries));
  Stretch* lower = upper + args.layout.upper;
  std::uint32_t capacity = args.layout.blocks;
  const std::size_t set_bytes =
      (args.layout.upper + args.layout.blocks) * sizeof(Stretch) / 16 * 16 + 16;
  auto* const sums = reinterpret_cast<Value*>(bytes + sizeof(Entries) + set_bytes);
  // Behind the sums is a place for each lane to add what does not count.
  const std::uint32_t nowhere = args.layout.sums + threadIdx.x % 32;
  auto* const columns = reinterpret_cast<std::uint32_t*>(sums + args.layout.sums + 32);
  bool has_upper = args.layout.upper != 0;
  const int warp = static_cast<int>(threadIdx.x / 32);
  __shared__ WarpSignal signals[Warps];
  Turns<Warps> turns(signals);
  let_next_kernel_start();

  const WindowTask task = args.tasks[blockIdx.x];
  const std::uint32_t row = args.rows[task.row];
  const std::uint32_t counted = counted_row(args.image_at, task.row);
  std::int64_t at = args.c_row_ptr[row];
  std::uint32_t first_stretch = 0;
  std::uint32_t end_stretch = args.stretches();
  if constexpr (IsRanged) {
    at += args.starts_of(counted)[task.first_window];
    first_stretch = args.bounds[task.first_window];
    end_stretch = args.bounds[task.end_window];
  }
  const ColumnRange range{first_stretch * 1024, end_stretch * 1024};
  const std::uint64_t image_at = args.image_at[counted];
  const bool has_image = image_at != kNoImage;
  const bool image_has_upper = has_image && (image_at & kImageHasUpper) != 0;
  const std::uint32_t* image = args.images + (has_image ? image_at & ~kImageHasUpper : 0);
  // Blocks of the window that the image has words of; without an image, all blocks of the window.
  std::uint32_t image_begin = 0;
  std::uint32_t image_end = args.blocks();
  if (has_image) {
    if (!image_has_upper) {
      image_begin = image[0];
      image_end = image_begin + image[1];
    }
    image += kImageHead;
  }
  const std::uint32_t base = max(first_stretch * 32, image_begin);
  const std::uint32_t end_block = max(base, min(end_stretch * 32, image_end));
  if (has_upper && has_image && !image_has_upper &&
      end_block - base <= args.layout.upper + args.layout.blocks) {
    has_upper = false;
    lower = upper;
    capacity = args.layout.upper + args.layout.blocks;
  }

  // Blocks with entries, or words of the lower level, before the window and up to its end.
  std::uint32_t first_index = 0;
  std::uint32_t end_index = end_block - base;
  if (has_upper) {
    const std::uint32_t stretches = args.stretches();
    if (image_has_upper) {
      for (std::uint32_t i = threadIdx.x; i < stretches; i += 32 * Warps) upper[i].bits = image[i];
      __syncthreads();
    } else if (has_image) {
      for (std::uint32_t i = warp; i < stretches; i += Warps) {
        const std::uint32_t block = i * 32 + threadIdx.x % 32;
        const unsigned bits = __ballot_sync(
            all_lanes, block >= base && block < end_block && image[block - image_begin] != 0);
        if (threadIdx.x % 32 == 0) upper[i].bits = bits;
      }
      __syncthreads();
    } else {
      clear<Warps>(upper, stretches);
      for_each_column<Warps, IsRanged>(args, row, range, entries, [&](std::uint32_t column) {
        set_bit(upper[column / 1024].bits, column / 32 % 32);
      });
    }
    const std::uint32_t all = number_bits<Warps>(upper, stretches, warp_sums);
    first_index = first_stretch < stretches ? upper[first_stretch].before : all;
    end_index = end_stretch < stretches ? upper[end_stretch].before : all;
  }
  const auto index_of = [&](std::uint32_t block) {
    return has_upper ? rank_of(upper[block / 32], block % 32) : block - base;
  };

  for (std::uint32_t first = first_index; first < end_index; first += capacity) {
    const std::uint32_t held = min(end_index - first, capacity);
    if (has_image && image_has_upper == has_upper) {
      const std::uint32_t* const bits =
          image + first + (has_upper ? args.layout.upper : base - image_begin);
      for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps) lower[i].bits = bits[i];
      __syncthreads();
    } else if (has_image) {
      for (std::uint32_t block = base + threadIdx.x; block < end_block; block += 32 * Warps) {
        const std::uint32_t bits = image[block - image_begin];
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
    const std::uint32_t found = number_bits<Warps>(lower, held, warp_sums);
    for (std::uint32_t first_sum = 0; first_sum < found; first_sum += args.layout.sums) {
      const std::uint32_t sums_held = min(found - first_sum, args.layout.sums);
      for (std::uint32_t i = threadIdx.x; i < sums_held; i += 32 * Warps)
        sums[i] = nothing<Value>();
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
              if (slice.entries > kMostRounds && !add_up_equal_ranks(ranks[i], products[i]))
                ranks[i] = ~0u;
            }
            // While a warp has its turn all others may be waiting, so everything is made ready:
            // lanes that have nothing to add in a round add it to a place of their own.
            SharedAddress places[kMostRounds][kSteps];
            SharedAddress column_places[kSteps];
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              const std::uint32_t place = ranks[i] < sums_held ? ranks[i] : nowhere;
              column_places[i] = shared_address(columns + place);
#pragma unroll
              for (int round = 0; round < kMostRounds; ++round) {
                const bool is_of_round =
                    slice.entries > kMostRounds ? round == 0 : slice.entry[i] == round;
                places[round][i] = shared_address(sums + (is_of_round ? place : nowhere));
              }
            }
            const bool is_first = number == 0;
            if (!is_first) turns.wait(warp);
            if (slice.entries > kMostRounds) {
#pragma unroll
              for (int i = 0; i < kSteps; ++i) {
                Value before;
                load_shared(places[0][i], before);
                store_shared(places[0][i], sum(before, products[i]));
                __syncwarp();
              }
            } else {
          // The products of an entry are in different columns.
#pragma unroll
              for (int round = 0; round < kMostRounds; ++round) {
                if (round >= slice.entries) break;
                Value before[kSteps];
#pragma unroll
                for (int i = 0; i < kSteps; ++i) load_shared(places[round][i], before[i]);
#pragma unroll
                for (int i = 0; i < kSteps; ++i)
                  store_shared(places[round][i], sum(before[i], products[i]));
                __syncwarp();
              }
            }
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              store_shared(column_places[i], slice.columns[i]);
              __syncwarp();
            }
            if (!is_last) turns.pass_on(warp);
          });
      for (std::uint32_t i = threadIdx.x; i < sums_held; i += 32 * Warps) {
        args.c_col_idx[at + i] = columns[i];
        args.c_values[at + i] = sums[i];
      }
      __syncthreads();
      at += sums_held;
    }
  }
  end_after_kernels_before();
}

}  // namespace sortie::spgemm::cuda
