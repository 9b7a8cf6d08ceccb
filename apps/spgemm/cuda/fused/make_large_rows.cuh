// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/barrier>

#include "apps/spgemm/cuda/fused/row_bitmap.cuh"
#include "apps/spgemm/cuda/fused/value.cuh"

/// Computes the entries of large rows of C: the kernel and its launches.
namespace sortie::spgemm::cuda {

/// Serialises a section over the warps of a block in the order of the slices. Warp w has slices w,
/// w + Warps, ... and a barrier that the warp with the preceding slice releases.
template <int Warps>
class SliceOrder {
  using Barrier = ::cuda::barrier<::cuda::thread_scope_block>;

 public:
  struct Shared {
    // Raw bytes, since shared variables must not have constructors.
    alignas(Barrier) unsigned char bytes[Warps][sizeof(Barrier)];
  };

  /// Called by all threads, followed by a block barrier before the first wait().
  __device__ __forceinline__ explicit SliceOrder(Shared& shared) : shared_(shared) {
    if (threadIdx.x < Warps) init(&barrier_of(threadIdx.x), 32);
  }
  __device__ __forceinline__ void wait(int warp) {
    barrier_of(warp).wait_parity((waits_++ & 1) != 0);
  }
  /// Called by all lanes. The next warp then sees all prior writes of these lanes. Each lane arrives
  /// itself, because racecheck does not accept one lane's arrival for the other lanes.
  __device__ __forceinline__ void signal_next(int warp) {
    (void)barrier_of(warp + 1 == Warps ? 0 : warp + 1).arrive();
  }

 private:
  __device__ __forceinline__ Barrier& barrier_of(unsigned warp) {
    return reinterpret_cast<Barrier&>(shared_.bytes[warp]);
  }

  Shared& shared_;
  std::uint32_t waits_ = 0;  ///< completed waits of the warp
};

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

/// Products of slices with at most this many entries of A are added entry by entry. For slices with
/// more entries, products of equal columns within a step are summed first, then added step by step.
constexpr int kMaxRounds = 3;

/// The bitmap of a task in the shared memory of its block: the stored row bitmap or, without one, a
/// bitmap built from the products. It yields the rank of every column. All functions are called by
/// all threads, unless stated otherwise.
template <int Warps, bool IsRanged, class Value>
class TaskBitmap {
 public:
  using Entries = BlockEntries<Value, Warps>;

  /// \param groups  column groups of the task
  __device__ __forceinline__ TaskBitmap(const LargeRowArguments<Value>& args, std::uint32_t row,
                                        std::uint32_t counted, ColumnRange groups, Entries& entries,
                                        std::uint32_t* warp_sums)
      : args_(args),
        row_(row),
        groups_(groups),
        entries_(entries),
        warp_sums_(warp_sums),
        upper_(reinterpret_cast<RankedWord*>(dynamic_shared_memory() + sizeof(Entries))),
        lower_(upper_ + args.layout.upper),
        has_upper_(args.layout.upper != 0),
        capacity(args.layout.lower) {
    find_stored(counted);
    base_ = max(groups.begin * 32, stored_begin_);
    end_block_ = max(base_, min(groups.end * 32, stored_end_));
    if (has_upper_ && is_stored_ && !stored_has_upper_ &&
        end_block_ - base_ <= args.layout.upper + args.layout.lower) {
      has_upper_ = false;
      lower_ = upper_;
      capacity = args.layout.upper + args.layout.lower;
    }
    end_index = end_block_ - base_;
    if (has_upper_) read_upper();
  }

  /// Columns of the task.
  [[nodiscard]] __device__ __forceinline__ ColumnRange columns() const {
    return {groups_.begin * 1024, groups_.end * 1024};
  }

  /// Reads `held` lower words from index `first` on. \return the number of their entries
  __device__ __forceinline__ std::uint32_t read_lower(std::uint32_t first, std::uint32_t held) {
    if (is_stored_ && stored_has_upper_ == has_upper_) {
      const std::uint32_t* const bits =
          stored_ + first + (has_upper_ ? args_.layout.upper : base_ - stored_begin_);
      for (std::uint32_t i = threadIdx.x; i < held; i += 32 * Warps) lower_[i].bits = bits[i];
      __syncthreads();
    } else if (is_stored_) {
      for (std::uint32_t block = base_ + threadIdx.x; block < end_block_; block += 32 * Warps) {
        const std::uint32_t bits = stored_[block - stored_begin_];
        const std::uint32_t index = bits != 0 ? index_of(block) - first : held;
        if (index < held) lower_[index].bits = bits;
      }
      __syncthreads();
    } else {
      clear<Warps>(lower_, held);
      for_each_column<Warps, IsRanged>(args_, row_, columns(), entries_, [&](std::uint32_t column) {
        const std::uint32_t index = index_of(column / 32) - first;
        if (index < held) set_bit(lower_[index].bits, column % 32);
      });
    }
    return rank_words<Warps>(lower_, held, warp_sums_);
  }

  /// Rank of a column among the entries of the held words; ~0u if it is in other words. Called by
  /// any thread.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t rank(std::uint32_t column,
                                                              std::uint32_t first,
                                                              std::uint32_t held,
                                                              std::uint32_t first_sum) const {
    const std::uint32_t index = index_of(column / 32) - first;
    return index < held ? rank_of(lower_[index], column % 32) - first_sum : ~0u;
  }

 private:
  /// Index of the word of a column block.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t index_of(std::uint32_t block) const {
    return has_upper_ ? rank_of(upper_[block / 32], block % 32) : block - base_;
  }

  /// Finds the stored bitmap of the row, and the column blocks that it covers; without one, all
  /// blocks.
  __device__ __forceinline__ void find_stored(std::uint32_t counted) {
    const std::uint64_t at = args_.bitmap_at[counted];
    is_stored_ = at != kNoBitmap;
    stored_has_upper_ = is_stored_ && (at & kBitmapHasUpper) != 0;
    stored_ = args_.bitmaps + (is_stored_ ? at & ~kBitmapHasUpper : 0);
    stored_begin_ = 0;
    stored_end_ = args_.column_blocks();
    if (!is_stored_) return;
    if (!stored_has_upper_) {
      stored_begin_ = stored_[0];
      stored_end_ = stored_begin_ + stored_[1];
    }
    stored_ += kBitmapHeader;
  }

  /// Reads or builds the upper level, and finds the lower words of the task.
  __device__ __forceinline__ void read_upper() {
    const std::uint32_t column_groups = args_.column_groups();
    if (stored_has_upper_) {
      for (std::uint32_t i = threadIdx.x; i < column_groups; i += 32 * Warps)
        upper_[i].bits = stored_[i];
      __syncthreads();
    } else if (is_stored_) {
      for (std::uint32_t i = threadIdx.x / 32; i < column_groups; i += Warps) {
        const std::uint32_t block = i * 32 + threadIdx.x % 32;
        const unsigned bits = __ballot_sync(
            full_warp, block >= base_ && block < end_block_ && stored_[block - stored_begin_] != 0);
        if (threadIdx.x % 32 == 0) upper_[i].bits = bits;
      }
      __syncthreads();
    } else {
      clear<Warps>(upper_, column_groups);
      for_each_column<Warps, IsRanged>(args_, row_, columns(), entries_, [&](std::uint32_t column) {
        set_bit(upper_[column / 1024].bits, column / 32 % 32);
      });
    }
    const std::uint32_t all = rank_words<Warps>(upper_, column_groups, warp_sums_);
    first_index = groups_.begin < column_groups ? upper_[groups_.begin].before : all;
    end_index = groups_.end < column_groups ? upper_[groups_.end].before : all;
  }

  const LargeRowArguments<Value>& args_;
  std::uint32_t row_;
  ColumnRange groups_;
  Entries& entries_;
  std::uint32_t* warp_sums_;
  RankedWord* upper_;
  RankedWord* lower_;
  bool has_upper_;
  bool is_stored_;
  bool stored_has_upper_;
  const std::uint32_t* stored_;
  std::uint32_t stored_begin_;  ///< column blocks that the stored bitmap covers
  std::uint32_t stored_end_;
  std::uint32_t base_;  ///< column blocks of the task
  std::uint32_t end_block_;

 public:
  std::uint32_t capacity;  ///< of lower words in shared memory
  /// Lower words before the task, and up to its end.
  std::uint32_t first_index = 0;
  std::uint32_t end_index;
};

/// The sums and columns of entries in shared memory, to which the warps of a block add slices in
/// their order.
template <int Warps, class Value>
struct EntrySums {
  Value* sums;              ///< sums[r]: value of the entry of rank r
  std::uint32_t* columns;   ///< columns[r]: its column
  std::uint32_t held;       ///< entries
  std::uint32_t discarded;  ///< the lane's element for additions whose result is discarded

  /// Called by all lanes of a warp.
  /// \param ranks     of the products; not below `held` for products that are not added
  /// \param products  with more than kMaxRounds entries: sums over equal ranks, on one lane each
  __device__ __forceinline__ void add(const ProductSlice<Value, kSteps>& slice,
                                      const std::uint32_t (&ranks)[kSteps],
                                      const Value (&products)[kSteps], SliceOrder<Warps>& order,
                                      bool is_first, bool is_last) const {
    // Addresses are computed before the wait, to keep the serialised section short. Lanes without a
    // product in a round add to their discarded element.
    SharedAddress addresses[kMaxRounds][kSteps];
    SharedAddress column_addresses[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const std::uint32_t place = ranks[i] < held ? ranks[i] : discarded;
      column_addresses[i] = shared_address(columns + place);
#pragma unroll
      for (int round = 0; round < kMaxRounds; ++round) {
        const bool is_of_round = slice.entries > kMaxRounds ? round == 0 : slice.entry[i] == round;
        addresses[round][i] = shared_address(sums + (is_of_round ? place : discarded));
      }
    }
    const auto warp = static_cast<int>(threadIdx.x / 32);
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
  }
};

// Computes a row of C, or its entries in a range of column panels; one thread block per task.
// walk_row_by_block() multiplies the values, EntrySums::add() adds the products at the ranks that
// TaskBitmap has for the columns.
//
// Dynamic shared memory, in this order (sizes: LargeRowLayout in row_bitmap.cuh):
//
//   array          elements           bytes of each
//   BlockEntries   1                  sizeof(BlockEntries)
//   upper words    layout.upper       8 (RankedWord)
//   lower words    layout.lower       8 (RankedWord), then 8 or 16 bytes of padding
//   sums           layout.sums + 32   sizeof(Value)
//   columns        layout.sums + 32   4
//
// A bitmap of one level may take both arrays of words. The last 32 sums and columns, one per lane,
// take results that are discarded.
//
// The warps process slices of products in parallel and add them to the sums one warp at a time, in
// the order of the slices, so results are reproducible. While one warp adds, the others load their
// next products. If the words or the entries exceed shared memory, the products are traversed once
// for each part.
template <int Warps, bool IsRanged, class Value>
__global__ void __launch_bounds__(32 * Warps)
    make_large_rows_kernel(const LargeRowArguments<Value> args) {
  using Entries = BlockEntries<Value, Warps>;
  __shared__ std::uint32_t warp_sums[Warps];
  __shared__ typename SliceOrder<Warps>::Shared order_shared;
  unsigned char* const bytes = dynamic_shared_memory();
  Entries& entries = *reinterpret_cast<Entries*>(bytes);
  SliceOrder<Warps> order(order_shared);
  trigger_dependent_launch();

  const PanelTask task = args.tasks[blockIdx.x];
  const std::uint32_t row = args.rows[task.row];
  const std::uint32_t counted = counted_row(args.bitmap_at, task.row);
  std::int64_t at = args.c.row_ptr[row];
  ColumnRange groups{0, args.column_groups()};
  if constexpr (IsRanged) {
    at += args.starts_of(counted)[task.first_panel];
    groups = {args.panel_bounds[task.first_panel], args.panel_bounds[task.end_panel]};
  }
  TaskBitmap<Warps, IsRanged, Value> bitmap(args, row, counted, groups, entries, warp_sums);
  auto* const sums = reinterpret_cast<Value*>(bytes + sizeof(Entries) + args.layout.bitmap_bytes());
  // One element per lane after the sums, for additions whose result is discarded.
  EntrySums<Warps, Value> out{sums, reinterpret_cast<std::uint32_t*>(sums + args.layout.sums + 32),
                              0, args.layout.sums + threadIdx.x % 32};

  for (std::uint32_t first = bitmap.first_index; first < bitmap.end_index;
       first += bitmap.capacity) {
    const std::uint32_t held = min(bitmap.end_index - first, bitmap.capacity);
    const std::uint32_t found = bitmap.read_lower(first, held);
    for (std::uint32_t first_sum = 0; first_sum < found; first_sum += args.layout.sums) {
      out.held = min(found - first_sum, args.layout.sums);
      for (std::uint32_t i = threadIdx.x; i < out.held; i += 32 * Warps)
        sums[i] = additive_identity<Value>();
      __syncthreads();
      walk_row_by_block<Warps, true, IsRanged, kSteps>(
          args.a, args.b, row, bitmap.columns(), entries,
          [&](const ProductSlice<Value, kSteps>& slice, std::uint32_t number, bool is_last) {
            std::uint32_t ranks[kSteps];
            Value products[kSteps];
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
              ranks[i] = ~0u;
              products[i] = slice.products[i];
              if ((slice.is_product >> i & 1) != 0)
                ranks[i] = bitmap.rank(slice.columns[i], first, held, first_sum);
              if (slice.entries > kMaxRounds && !sum_equal_ranks(ranks[i], products[i]))
                ranks[i] = ~0u;
            }
            out.add(slice, ranks, products, order, number == 0, is_last);
          });
      for (std::uint32_t i = threadIdx.x; i < out.held; i += 32 * Warps) {
        args.c.col_idx[at + i] = out.columns[i];
        args.c.values[at + i] = sums[i];
      }
      __syncthreads();
      at += out.held;
    }
  }
  wait_for_prior_kernels();
}

/// Layout of the computing kernel for a task class.
template <class Value>
LargeRowLayout layout_to_make(const TaskClass& tasks, std::int64_t columns) {
  return LargeRowLayout::of(tasks.memory, columns, tasks.sums<Value>());
}

template <int Class, class Value>
std::size_t bytes_to_make(std::int64_t columns) {
  return sizeof(BlockEntries<Value, task_classes[Class].warps>) +
         layout_to_make<Value>(task_classes[Class], columns).template bytes_to_make<Value>();
}

template <class Value>
void make_large_rows(const ProductOperands<Value>& operands, const LargeRows& rows,
                     const LargeRowCounters& found, const ProductRows<Value>& c,
                     KernelGroup& group) {
  LargeRowArguments<Value> args = arguments_for(operands, rows);
  args.c = c;
  for_each_descending<static_cast<int>(task_classes.size())>([&]<int Class> {
    constexpr TaskClass tasks = task_classes[Class];
    if (found.tasks[Class] == 0) return;
    args.layout = layout_to_make<Value>(tasks, args.columns);
    args.tasks = rows.tasks + std::size_t{Class} * rows.count;
    group.launch(make_large_rows_kernel<tasks.warps, tasks.is_ranged, Value>, found.tasks[Class],
                 32 * tasks.warps, bytes_to_make<Class, Value>(args.columns), args);
  });
}

}  // namespace sortie::spgemm::cuda
