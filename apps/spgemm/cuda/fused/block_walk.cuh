// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/fused/row_walk.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "primitives/cuda/warp_signal.cuh"

/// How a thread block traverses the products of a row of C = A * B.
namespace sortie::spgemm::cuda {

/// Columns of C, or column blocks or groups (row_bitmap.cuh), [begin, end).
struct ColumnRange {
  std::uint32_t begin;
  std::uint32_t end;
};

/// Position of the first of the ascending columns [begin, end) that is >= `column`.
__device__ __forceinline__ std::int64_t first_not_below(const std::uint32_t* columns,
                                                        std::int64_t begin, std::int64_t end,
                                                        std::uint32_t column) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (columns[middle] < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Shared memory of a thread block for a chunk of 32 * Warps entries of A while it traverses their
/// products. Entries without products are left out.
template <class Value, int Warps>
struct BlockEntries {
  static constexpr int capacity = 32 * Warps;
  std::int64_t first[capacity];       ///< entry of B of product 0 of the chunk, extrapolated
  std::uint32_t head[capacity + 32];  ///< first product of each entry; behind the last, all ones
  alignas(16) unsigned char factor_bytes[capacity * sizeof(Value)];
  std::uint32_t warp_products[Warps];
  std::uint32_t warp_entries[Warps];

  __device__ Value* factors() { return reinterpret_cast<Value*>(factor_bytes); }
};

/// 32 * Steps consecutive products of a row, Steps per lane.
template <class Value, int Steps>
struct ProductSlice {
  std::uint32_t columns[Steps];
  Value products[Steps];
  int entry[Steps];     ///< entry of A, relative to the first entry of the slice
  unsigned is_product;  ///< bit i: the lane has a product in step i
  int entries;          ///< number of entries of A with products in the slice
};

/// Serialises a section over the warps of a block in the order of the slices. Warp w has slices w,
/// w + Warps, ... and waits for the signal of the warp with the preceding slice.
template <int Warps>
class SliceOrder {
 public:
  /// Called by all threads, followed by a block barrier before the first wait().
  __device__ __forceinline__ explicit SliceOrder(WarpSignal* signals) : signals_(signals) {
    if (threadIdx.x < Warps) signals[threadIdx.x].prepare();
  }
  __device__ __forceinline__ void wait(int warp) { signals_[warp].wait(waits_++); }
  __device__ __forceinline__ void signal_next(int warp) {
    signals_[warp + 1 == Warps ? 0 : warp + 1].raise();
  }

 private:
  WarpSignal* signals_;
  std::uint32_t waits_ = 0;  ///< completed waits of the warp
};

/// Traverses the products of row `row` of A * B with columns in `range`, in the order of A's
/// entries and in chunks of 32 * Warps entries. Slice s of a chunk belongs to warp s % Warps. Calls
/// take(slice, number, is_last) on all lanes of the warp.
///
///   thread t   entry t of the chunk, and the matching row range of B;
///   lane l     then products l, l + 32, ... of a slice. A bit mask marks the first product of each
///              entry among the 32 products of a step; each lane finds its entry by counting bits.
///
/// All threads are synchronised before and after.
/// \tparam WithValues  compute values, not only columns
/// \tparam IsRanged    `range` excludes columns
template <int Warps, bool WithValues, bool IsRanged, int Steps, class Value, class Take>
__device__ __forceinline__ void walk_row_by_block(const DeviceCsrView<Value>& a,
                                                  const DeviceCsrView<Value>& b, std::uint32_t row,
                                                  ColumnRange range,
                                                  BlockEntries<Value, Warps>& shared,
                                                  const Take& take) {
  constexpr std::uint32_t slice_products = 32 * Steps;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const std::int64_t row_end = a.row_ptr[row + std::int64_t{1}];
  for (std::int64_t entry = a.row_ptr[row]; entry < row_end; entry += 32 * Warps) {
    std::uint32_t length = 0;
    std::int64_t begin = 0;
    Value factor{};
    if (entry + thread < row_end) {
      const std::uint32_t k = a.col_idx[entry + thread];
      begin = b.row_ptr[k];
      std::int64_t end = b.row_ptr[k + std::int64_t{1}];
      if constexpr (WithValues) factor = a.values[entry + thread];
      if constexpr (IsRanged) {
        begin = first_not_below(b.col_idx, begin, end, range.begin);
        end = first_not_below(b.col_idx, begin, end, range.end);
      }
      length = static_cast<std::uint32_t>(end - begin);
    }
    const std::uint32_t up_to = inclusive_sum_in_warp(length);
    const unsigned with_products = __ballot_sync(full_warp, length != 0);
    if (lane == 31) {
      shared.warp_products[warp] = up_to;
      shared.warp_entries[warp] = __popc(with_products);
    }
    __syncthreads();
    std::uint32_t head = up_to - length;
    std::uint32_t place = rank_among(with_products);
    std::uint32_t total = 0;
    std::uint32_t count = 0;
#pragma unroll
    for (int w = 0; w < Warps; ++w) {
      if (w == warp) {
        head += total;
        place += count;
      }
      total += shared.warp_products[w];
      count += shared.warp_entries[w];
    }
    if (length != 0) {
      shared.first[place] = begin - head;
      shared.head[place] = head;
      if constexpr (WithValues) shared.factors()[place] = factor;
    }
    if (thread >= static_cast<int>(count)) shared.head[thread] = 0xffffffffu;
    if (thread < 32) shared.head[32 * Warps + thread] = 0xffffffffu;
    __syncthreads();
    const std::uint32_t slices = (total + slice_products - 1) / slice_products;
    for (std::uint32_t slice = warp; slice < slices; slice += Warps) {
      const std::uint32_t begin_of_slice = slice * slice_products;
      // The last entry that begins at or before the slice: first every Warps-th entry, then
      // the entries between.
      int mine =
          Warps *
          (__popc(__ballot_sync(full_warp, shared.head[lane * Warps] <= begin_of_slice)) - 1);
      mine += __popc(__ballot_sync(full_warp,
                                   lane < Warps && shared.head[mine + lane] <= begin_of_slice)) -
              1;
      ProductSlice<Value, Steps> taken;
      taken.is_product = 0;
      const int first_entry = mine;
#pragma unroll
      for (int i = 0; i < Steps; ++i) {
        const std::uint32_t from = begin_of_slice + 32 * i;
        const std::uint32_t ahead = shared.head[min(mine + 1 + lane, 32 * Warps + 31)] - from;
        const unsigned heads = or_in_warp(ahead < 32 ? 1u << ahead : 0u);
        const int own = mine + __popc(heads & (lanes_below() << 1 | 1));
        mine += __popc(__ballot_sync(full_warp, ahead <= 32));
        taken.columns[i] = 0;
        taken.products[i] = Value{};
        taken.entry[i] = own - first_entry;
        if (from + lane < total) {
          taken.is_product |= 1u << i;
          const std::int64_t at = shared.first[own] + (from + lane);
          taken.columns[i] = b.col_idx[at];
          if constexpr (WithValues)
            taken.products[i] = product(shared.factors()[own], b.values[at]);
        }
      }
      taken.entries = max_in_warp(taken.entry[Steps - 1]) + 1;
      take(taken, slice, slice + 1 == slices);
    }
    __syncthreads();
  }
}

}  // namespace sortie::spgemm::cuda
