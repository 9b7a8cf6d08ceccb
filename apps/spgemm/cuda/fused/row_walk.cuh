// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/fused/value.cuh"
#include "primitives/cuda/merge_path.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/device_csr.hpp"

/// How a warp, or a thread block, traverses the products of a row of C = A * B.
namespace sortie::spgemm::cuda {

/// Runs of numbered items, one run per lane and behind each other; some may be empty. A warp
/// processes 32 consecutive items at a time.
class WarpRuns {
 public:
  /// \param length  of the lane's run
  __device__ __forceinline__ explicit WarpRuns(std::uint32_t length) {
    const std::uint32_t up_to = inclusive_sum_in_warp(length);
    first = length != 0 ? up_to - length : 0xffffffffu;
    total = from_lane(up_to, 31);
    number = static_cast<int>(rank_among(__ballot_sync(full_warp, length != 0)));
  }

  /// Number of the run of item `from` + lane. A bit mask marks the first items of runs among the
  /// 32 items; each lane counts bits. \pre called for `from` = 0, 32, ...
  __device__ __forceinline__ int run_of_item(std::uint32_t from) {
    const std::uint32_t own = first - from;
    const unsigned firsts = or_in_warp(own < 32 ? 1u << own : 0u);
    const int run = last_run_ + __popc(firsts & (lanes_below() << 1 | 1));
    last_run_ += __popc(firsts);
    return run;
  }

  std::uint32_t first;  ///< item of the lane's run; all ones for an empty run
  std::uint32_t total;  ///< items of all runs
  int number;           ///< of the lane's run among those that are not empty

 private:
  int last_run_ = -1;  ///< of the items before the next
};

/// Shared memory of a warp for 32 entries of A, without those that have no products.
template <class Value>
struct EntriesShared {
  std::int64_t first[32];  ///< entry of B of product 0, extrapolated from the entry's own range
  alignas(16) unsigned char factor_bytes[32 * sizeof(Value)];

  __device__ Value* factors() { return reinterpret_cast<Value*>(factor_bytes); }
};

/// 32 products, one per lane.
template <class Value>
struct WalkStep {
  std::uint32_t column;
  Value product;
  bool is_product;
};

/// Traverses the products of row `row` of A * B in the order of A's entries, 32 at a time. The
/// lanes of a step have consecutive products, which may belong to several entries of A. Calls
/// take(WalkStep) for every step, on all lanes.
///
///   lane l   entry l of 32 entries of A, and the matching row range of B;
///            then product l of a step
///
/// The loads of `Ahead` steps are issued before the first of them is processed.
template <bool WithValues, int Ahead, class Value, class Take>
__device__ __forceinline__ void walk_row(const DeviceCsrView<Value>& a,
                                         const DeviceCsrView<Value>& b, std::uint32_t row,
                                         EntriesShared<Value>& shared, const Take& take) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t row_end = a.row_ptr[row + std::int64_t{1}];
  for (std::int64_t entry = a.row_ptr[row]; entry < row_end; entry += 32) {
    std::uint32_t length = 0;
    std::int64_t begin = 0;
    Value factor{};
    if (entry + lane < row_end) {
      const std::uint32_t k = a.col_idx[entry + lane];
      begin = b.row_ptr[k];
      length = static_cast<std::uint32_t>(b.row_ptr[k + std::int64_t{1}] - begin);
      if constexpr (WithValues) factor = a.values[entry + lane];
    }
    WarpRuns runs(length);
    __syncwarp();
    if (length != 0) {
      shared.first[runs.number] = begin - runs.first;
      if constexpr (WithValues) shared.factors()[runs.number] = factor;
    }
    __syncwarp();
    for (std::uint32_t step = 0; step < runs.total; step += 32 * Ahead) {
      std::uint32_t columns[Ahead];
      Value products[Ahead];
#pragma unroll
      for (int i = 0; i < Ahead; ++i) {
        const std::uint32_t from = step + 32 * i;
        const int mine = runs.run_of_item(from);
        columns[i] = 0;
        products[i] = Value{};
        if (from + lane < runs.total) {
          const std::int64_t at = shared.first[mine] + (from + lane);
          columns[i] = b.col_idx[at];
          if constexpr (WithValues) products[i] = product(shared.factors()[mine], b.values[at]);
        }
      }
#pragma unroll
      for (int i = 0; i < Ahead; ++i) {
        if (step + 32 * i < runs.total)
          take(WalkStep<Value>{columns[i], products[i], step + 32 * i + lane < runs.total});
      }
    }
  }
}

/// Columns of C, or column blocks or groups (row_bitmap.cuh): begin .. end - 1.
struct ColumnRange {
  std::uint32_t begin;
  std::uint32_t end;
};

/// Shared memory of a thread block for 32 * Warps entries of A, without those that have no products.
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

/// Traverses the products of row `row` of A * B with columns in `range`, in the order of A's
/// entries and in chunks of 32 * Warps entries. Slice s of a chunk belongs to warp s % Warps. Calls
/// take(slice, number, is_last) on all lanes of the warp.
///
///   thread t   entry t of the chunk, and the matching row range of B;
///   lane l     then products l, l + 32, ... of a slice. A bit mask marks the first product of each
///              entry among the 32 products of a step; each lane finds its entry by counting bits.
///
/// All threads are synchronised before and after.
/// \tparam IsRanged  `range` excludes columns
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
        const auto first_from = [&](std::uint32_t column) {
          return first_not(begin, end, [&](std::int64_t i) { return b.col_idx[i] < column; });
        };
        begin = first_from(range.begin);
        end = first_from(range.end);
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
