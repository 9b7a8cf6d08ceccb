// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "primitives/cuda/warp.cuh"

/// Kernels that flag entries of rows; a warp takes each row.
namespace sortie::spgemm::cuda {

/// The row of the calling warp.
__device__ __forceinline__ std::int64_t row_of_warp() {
  return std::int64_t{blockIdx.x} * structure_warps + static_cast<int>(threadIdx.x / 32);
}

/// The first of [begin, end) for whose item is_beyond(item) holds. \pre it holds from there on
template <class Item, class IsBeyond>
__device__ __forceinline__ std::int64_t first_beyond(const Item* items, std::int64_t begin,
                                                     std::int64_t end, const IsBeyond& is_beyond) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (is_beyond(items[middle])) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

/// flags[i] = 1 for entries of the structure that are not in the mask.
__global__ void __launch_bounds__(structure_threads)
    mark_outside_kernel(std::int64_t rows, StructureRows structure, StructureRows mask,
                        std::uint8_t* flags) {
  const std::int64_t row = row_of_warp();
  if (row >= rows) return;
  const std::int64_t end = mask.row_ptr[row + 1];
  for (std::int64_t i = structure.row_ptr[row] + lane(); i < structure.row_ptr[row + 1]; i += 32) {
    const std::uint32_t column = structure.col_idx[i];
    const std::int64_t at = first_beyond(mask.col_idx, mask.row_ptr[row], end,
                                         [&](std::uint32_t other) { return other >= column; });
    flags[i] = at < end && mask.col_idx[at] == column ? 0 : 1;
  }
}

/// flags[i] = 1 for the `keep_top` greatest keys of each row, the first of equal ones, that are not
/// below `least`.
/// \param sorted  the `keep_top` greatest keys of each row in descending order, at the begin of the
///                row; null: all that are not below `least`
__global__ void __launch_bounds__(structure_threads)
    mark_kept_kernel(std::int64_t rows, const std::int64_t* row_ptr, const std::uint64_t* keys,
                     const std::uint64_t* sorted, std::int64_t keep_top, std::uint64_t least,
                     std::uint8_t* flags) {
  const std::int64_t row = row_of_warp();
  if (row >= rows) return;
  const std::int64_t begin = row_ptr[row];
  const std::int64_t end = row_ptr[row + 1];
  std::uint64_t limit = least;      // entries of greater keys are kept
  std::int64_t ties = end - begin;  // and so many of those with this key
  if (sorted != nullptr && keep_top < end - begin && sorted[begin + keep_top - 1] >= least) {
    limit = sorted[begin + keep_top - 1];
    ties = begin + keep_top - first_beyond(sorted, begin, begin + keep_top, [&](std::uint64_t key) {
             return key <= limit;
           });
  }
  for (std::int64_t first = begin; first < end; first += 32) {
    const std::int64_t i = first + lane();
    const std::uint64_t key = i < end ? keys[i] : 0;
    const unsigned int equal = __ballot_sync(full_warp, i < end && key == limit);
    if (i < end) flags[i] = key > limit || (key == limit && rank_among(equal) < ties) ? 1 : 0;
    ties -= lanes_of(equal);
    if (ties < 0) ties = 0;
  }
}

}  // namespace sortie::spgemm::cuda
