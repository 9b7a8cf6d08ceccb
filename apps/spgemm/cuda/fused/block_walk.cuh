#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/fused/hardware.cuh"
#include "sortie/apps/spgemm/cuda/fused/row_walk.cuh"

/// How a block goes through the products of a row of C = A * B.
namespace sortie::spgemm::cuda {

/// Columns of C: [begin, end).
struct ColumnRange {
  std::uint32_t begin;
  std::uint32_t end;
};

/// First of the ascending columns [begin, end) that is not below `column`.
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

/// What a block keeps of 32 * Warps entries of A while it goes through their products: those that
/// have any, one behind another.
template <class Value, int Warps>
struct BlockEntries {
  static constexpr int capacity = 32 * Warps;
  std::int64_t first[capacity];       ///< entry of B that product 0 of the chunk would be made with
  std::uint32_t head[capacity + 32];  ///< first product; behind the last entry, all ones
  alignas(16) unsigned char factor_bytes[capacity * sizeof(Value)];
  std::uint32_t warp_products[Warps];
  std::uint32_t warp_entries[Warps];

  __device__ Value* factors() { return reinterpret_cast<Value*>(factor_bytes); }
};

/// 32 * Steps consecutive products of a row, Steps a lane.
template <class Value, int Steps>
struct ProductSlice {
  std::uint32_t columns[Steps];
  Value products[Steps];
  int entry[Steps];     ///< of A, counted from the slice's first one
  unsigned is_product;  ///< bit i: the lane has a product in step i
  int entries;          ///< that the slice has products of
};

/// Lets the warps of a block do something by turns: slice s + 1 after slice s. Warp w has the
/// slices w, w + Warps, ... Its signal is what the warp before raises for it.
template <int Warps>
class Turns {
 public:
  /// By all threads, which have the block's barrier behind them before a turn.
  __device__ __forceinline__ explicit Turns(WarpSignal* signals) : signals_(signals) {
    if (threadIdx.x < Warps) signals[threadIdx.x].prepare();
  }
  __device__ __forceinline__ void wait(int warp) { signals_[warp].wait(turns_++); }
  __device__ __forceinline__ void pass_on(int warp) {
    signals_[warp + 1 == Warps ? 0 : warp + 1].raise();
  }

 private:
  WarpSignal* signals_;
  std::uint32_t turns_ = 0;  ///< that the warp has waited for
};

/// Goes through the products of row `row` of A * B whose column is in `range`, in order of A's
/// entries; slice s of a chunk of entries is warp s % Warps's. Calls take(slice, number, is_last).
///
///   thread t: entry t of the chunk, and the stretch of B's row that it meets; then
///   lane l:   products l, l + 32, ... of a slice. The heads of the entries among the 32 products
///             of a step are a word of bits, by which each lane finds its entry.
///
/// Begins and ends with all threads together.
/// \tparam WithValues  the products themselves are wanted, not only their columns
/// \tparam IsRanged    `range` is not all columns
template <int Warps, bool WithValues, bool IsRanged, int Steps, class Value, class Take>
__device__ __forceinline__ void walk_row_by_block(const MatrixArrays<Value>& a,
                                                  const MatrixArrays<Value>& b, std::uint32_t row,
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
    const std::uint32_t up_to = sum_up_to_lane(length);
    const unsigned with_products = __ballot_sync(all_lanes, length != 0);
    if (lane == 31) {
      shared.warp_products[warp] = up_to;
      shared.warp_entries[warp] = __popc(with_products);
    }
    __syncthreads();
    std::uint32_t head = up_to - length;
    std::uint32_t place = __popc(with_products & lanes_below());
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
      // The last entry that begins at or before the slice: first among every Warps-th, then there.
      int mine =
          Warps *
          (__popc(__ballot_sync(all_lanes, shared.head[lane * Warps] <= begin_of_slice)) - 1);
      mine += __popc(__ballot_sync(all_lanes,
                                   lane < Warps && shared.head[mine + lane] <= begin_of_slice)) -
              1;
      ProductSlice<Value, Steps> taken;
      taken.is_product = 0;
      const int first_entry = mine;
#pragma unroll
      for (int i = 0; i < Steps; ++i) {
        const std::uint32_t from = begin_of_slice + 32 * i;
        const std::uint32_t ahead = shared.head[min(mine + 1 + lane, 32 * Warps + 31)] - from;
        const unsigned heads = or_over_warp(ahead < 32 ? 1u << ahead : 0u);
        const int own = mine + __popc(heads & (lanes_below() << 1 | 1));
        mine += __popc(__ballot_sync(all_lanes, ahead <= 32));
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
      taken.entries = max_over_warp(taken.entry[Steps - 1]) + 1;
      take(taken, slice, slice + 1 == slices);
    }
    __syncthreads();
  }
}

}  // namespace sortie::spgemm::cuda
