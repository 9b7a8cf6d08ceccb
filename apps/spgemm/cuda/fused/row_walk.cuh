// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/fused/value.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/device_csr.hpp"

/// How a warp traverses the products of a row of C = A * B.
namespace sortie::spgemm::cuda {

/// Shared memory of a warp for 32 entries of A while it traverses their products. Entries without
/// products are left out.
template <class Value>
struct EntriesShared {
  std::int64_t first[32];  ///< entry of B of product 0, extrapolated from the entry's own range
  alignas(16) unsigned char factor_bytes[32 * sizeof(Value)];

  __device__ Value* factors() { return reinterpret_cast<Value*>(factor_bytes); }
};

/// 32 products that a warp processes at once, one per lane.
template <class Value>
struct WalkStep {
  std::uint32_t column;
  Value product;
  bool is_product;  ///< whether the lane has a product
};

/// Traverses the products of row `row` of A * B in the order of A's entries, 32 at a time. The
/// lanes of a step have consecutive products, which may belong to several entries of A. Calls
/// take(WalkStep) for every step, on all lanes.
///
///   lane l   entry l of 32 entries of A, and the matching row range of B;
///            then product l of a step. A bit mask marks the first product of each entry among the
///            32 products of a step; each lane finds its entry by counting bits.
///
/// The loads of `Ahead` steps are issued before the first of them is processed.
/// \tparam WithValues  compute values, not only columns
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
    const std::uint32_t up_to = inclusive_sum_in_warp(length);
    const std::uint32_t head = length != 0 ? up_to - length : 0xffffffffu;
    const std::uint32_t total = from_lane(up_to, 31);
    const auto place = static_cast<int>(rank_among(__ballot_sync(full_warp, length != 0)));
    __syncwarp();
    if (length != 0) {
      shared.first[place] = begin - head;
      if constexpr (WithValues) shared.factors()[place] = factor;
    }
    __syncwarp();
    int entries_before = -1;
    for (std::uint32_t step = 0; step < total; step += 32 * Ahead) {
      std::uint32_t columns[Ahead];
      Value products[Ahead];
#pragma unroll
      for (int i = 0; i < Ahead; ++i) {
        const std::uint32_t from = step + 32 * i;
        const std::uint32_t own = head - from;
        const unsigned heads = or_in_warp(own < 32 ? 1u << own : 0u);
        const int mine = entries_before + __popc(heads & (lanes_below() << 1 | 1));
        entries_before += __popc(heads);
        columns[i] = 0;
        products[i] = Value{};
        if (from + lane < total) {
          const std::int64_t at = shared.first[mine] + (from + lane);
          columns[i] = b.col_idx[at];
          if constexpr (WithValues) products[i] = product(shared.factors()[mine], b.values[at]);
        }
      }
#pragma unroll
      for (int i = 0; i < Ahead; ++i) {
        if (step + 32 * i < total)
          take(WalkStep<Value>{columns[i], products[i], step + 32 * i + lane < total});
      }
    }
  }
}

}  // namespace sortie::spgemm::cuda
