// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/fused/row_kernels.hpp"
#include "apps/spgemm/cuda/fused/row_walk.cuh"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/word_network.cuh"

/// Small and medium rows, which are sorted by column. CMakeLists.txt lists the instances.
namespace sortie::spgemm::cuda {

/// Warps per block.
inline constexpr int sorting_warps = 4;
inline constexpr std::uint32_t no_word = 0xffffffffu;

/// Rows of one bin for a kernel of several bins.
struct ListedRows {
  const std::uint32_t* rows;
  std::uint32_t count;
  std::uint32_t first_block;  ///< of the grid, that processes rows of the bin
};

/// Computes rows of up to `Lanes` products, `Lanes` lanes per row. `block` counts from the first
/// block of the bin.
///
///   lane l   entry l of A and the matching row range of B;
///            then product l of the row, as a word of its column and l;
///            after the sort, the word of rank l
///
/// The first lane of each run of equal columns sums the products of the run in order of A's
/// entries.
template <int Lanes, bool WithValues, class Value>
__device__ __forceinline__ void make_small_rows(const DeviceCsrView<Value>& a,
                                                const DeviceCsrView<Value>& b,
                                                const ListedRows& listed, std::uint32_t block,
                                                const RowsOut<Value>& out) {
  constexpr int index_bits = Lanes == 8 ? 3 : Lanes == 16 ? 4 : 5;
  const int lane = static_cast<int>(threadIdx.x % Lanes);
  const std::uint32_t number = (block * (32 * sorting_warps) + threadIdx.x) / Lanes;
  const bool is_row = number < listed.count;
  const std::uint32_t row = is_row ? listed.rows[number] : 0;
  std::int64_t entry = is_row ? a.row_ptr[row] : 0;
  const std::int64_t row_end = is_row ? a.row_ptr[row + std::int64_t{1}] : 0;
  std::uint32_t word = no_word;
  Value own{};
  int done = 0;
  while (__any_sync(full_warp, entry < row_end) != 0) {
    int length = 0;
    std::int64_t begin = 0;
    Value factor{};
    if (entry + lane < row_end) {
      const std::uint32_t k = a.col_idx[entry + lane];
      begin = b.row_ptr[k];
      length = static_cast<int>(b.row_ptr[k + std::int64_t{1}] - begin);
      if constexpr (WithValues) factor = a.values[entry + lane];
    }
    const int up_to = inclusive_sum_in_warp<Lanes>(length);
    const int total = from_lane(up_to, Lanes - 1, Lanes);
    // Entry of product lane - done: the number of entries that end at or before it.
    const int wanted = lane - done;
    int mine = 0;
#pragma unroll
    for (int step = Lanes / 2; step > 0; step /= 2)
      if (from_lane(up_to, mine + step - 1, Lanes) <= wanted) mine += step;
    const std::int64_t first = from_lane(begin - (up_to - length), mine, Lanes);
    if constexpr (WithValues) factor = from_lane(factor, mine, Lanes);
    if (wanted >= 0 && wanted < total) {
      word = b.col_idx[first + wanted] << index_bits | static_cast<std::uint32_t>(lane);
      if constexpr (WithValues) own = product(factor, b.values[first + wanted]);
    }
    done += total;
    entry += Lanes;
  }
#pragma unroll
  for (int lanes = 2; lanes <= Lanes; lanes *= 2) {
    word =
        segsort::keep(word, __shfl_xor_sync(full_warp, word, lanes - 1), (lane & (lanes / 2)) != 0);
#pragma unroll
    for (int stride = lanes / 4; stride > 0; stride /= 2)
      word = segsort::keep(word, __shfl_xor_sync(full_warp, word, stride), (lane & stride) != 0);
  }
  const std::uint32_t column = word >> index_bits;
  const std::uint32_t previous = __shfl_up_sync(full_warp, column, 1, Lanes);
  const bool is_head = word != no_word && (lane == 0 || column != previous);
  const int group = static_cast<int>(threadIdx.x % 32) / Lanes * Lanes;
  constexpr unsigned group_lanes = full_warp >> (32 - Lanes);
  const unsigned heads = __ballot_sync(full_warp, is_head) >> group & group_lanes;
  if (is_row && lane == 0 && out.counts != nullptr) out.counts[row] = __popc(heads);
  if constexpr (WithValues) {
    const unsigned items = __ballot_sync(full_warp, word != no_word) >> group & group_lanes;
    const unsigned behind = lane == 31 ? 0u : heads >> (lane + 1);
    const int run =
        is_head ? (behind != 0 ? __ffs(static_cast<int>(behind)) : __popc(items) - lane) : 0;
    const Value sorted = from_lane(own, static_cast<int>(word & (Lanes - 1)), Lanes);
    Value total = sorted;
    for (int i = 1; __any_sync(full_warp, i < run) != 0; ++i) {
      const Value other = from_lane(sorted, (lane + i) & (Lanes - 1), Lanes);
      if (i < run) total = sum(total, other);
    }
    if (is_head) {
      const std::int64_t at = out.first_entry(row) + __popc(heads & ((1u << lane) - 1));
      store_streaming(out.col_idx + at, column);
      store_streaming(out.values + at, total);
    }
  }
}

struct SmallBins {
  ListedRows of_8;
  ListedRows of_16;
  ListedRows of_32;
};

// Computes the rows of up to 32 products. The first blocks process the bin of up to 32 products,
// then up to 16, then up to 8; a row has 32, 16 or 8 lanes.
template <bool WithValues, class Value>
__global__ void __launch_bounds__(32 * sorting_warps)
    small_rows_kernel(DeviceCsrView<Value> a, DeviceCsrView<Value> b, const SmallBins bins,
                      const RowsOut<Value> out) {
  trigger_dependent_launch();
  if (blockIdx.x >= bins.of_8.first_block) {
    make_small_rows<8, WithValues>(a, b, bins.of_8, blockIdx.x - bins.of_8.first_block, out);
  } else if (blockIdx.x >= bins.of_16.first_block) {
    make_small_rows<16, WithValues>(a, b, bins.of_16, blockIdx.x - bins.of_16.first_block, out);
  } else {
    make_small_rows<32, WithValues>(a, b, bins.of_32, blockIdx.x, out);
  }
  wait_for_prior_kernels();
}

/// Shared memory of a warp for a row of up to 32 * Items products.
template <class Value, int Items, bool WithValues>
struct SortedRowShared {
  static constexpr int capacity = 32 * Items;
  EntriesShared<Value> entries;
  std::uint32_t words[capacity + Items];
  alignas(16) unsigned char product_bytes[WithValues ? capacity * sizeof(Value) : 16];

  __device__ Value* products() { return reinterpret_cast<Value*>(product_bytes); }
  /// Every 33rd word is padding, so that lanes that read Items consecutive words access different
  /// banks.
  __device__ std::uint32_t& word(int i) { return words[i + i / 32]; }
};

// Computes rows of up to 32 * Items products; one warp per row.
//
//   shared products[i]   product i of the row, in the order of A's entries
//   words[r]             registers of lane l: column and index of product Items * l + r of the
//                        sorted row
//   shared word(i)       the same words
//
// After the sort, lane l processes words l, l + 32, ...: at the first word of a run of equal
// columns it sums the run.
template <int Items, bool WithValues, class Value>
__global__ void __launch_bounds__(32 * sorting_warps)
    medium_rows_kernel(DeviceCsrView<Value> a, DeviceCsrView<Value> b, const std::uint32_t* rows,
                       std::uint32_t count, RowsOut<Value> out) {
  using Shared = SortedRowShared<Value, Items, WithValues>;
  constexpr int index_bits = Items == 2 ? 6 : Items == 4 ? 7 : Items == 8 ? 8 : 9;
  Shared& shared = reinterpret_cast<Shared*>(dynamic_shared_memory())[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t number = blockIdx.x * sorting_warps + threadIdx.x / 32;
  trigger_dependent_launch();
  if (number >= count) return;
  const std::uint32_t row = rows[number];
  int products = 0;
  walk_row<WithValues, 2>(a, b, row, shared.entries, [&](const WalkStep<Value>& step) {
    const int i = products + lane;
    if (step.is_product) {
      shared.word(i) = step.column << index_bits | static_cast<std::uint32_t>(i);
      if constexpr (WithValues) shared.products()[i] = step.product;
    }
    products += __popc(__ballot_sync(full_warp, step.is_product));
  });
  __syncwarp();
  std::uint32_t words[Items];
#pragma unroll
  for (int r = 0; r < Items; ++r)
    words[r] = r * 32 + lane < products ? shared.word(r * 32 + lane) : no_word;
  segsort::sort_in_warp(words, lane);
  if constexpr (!WithValues) {
    std::uint32_t before = __shfl_up_sync(full_warp, words[Items - 1], 1);
    std::uint32_t heads = 0;
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      const bool is_first = r == 0 && lane == 0;
      if (lane * Items + r < products &&
          (is_first || words[r] >> index_bits != before >> index_bits))
        ++heads;
      before = words[r];
    }
    heads = from_lane(inclusive_sum_in_warp(heads), 31);
    if (lane == 0) out.counts[row] = heads;
  } else {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Items; ++r) shared.word(lane * Items + r) = words[r];
    __syncwarp();
    const std::int64_t first = out.first_entry(row);
    std::int64_t at = first;
    for (int i = lane; i - lane < products; i += 32) {
      bool is_head = false;
      std::uint32_t word = 0;
      if (i < products) {
        word = shared.word(i);
        is_head = i == 0 || shared.word(i - 1) >> index_bits != word >> index_bits;
      }
      const unsigned heads = __ballot_sync(full_warp, is_head);
      if (is_head) {
        Value total = shared.products()[word & (Shared::capacity - 1)];
        for (int j = i + 1; j < products; ++j) {
          const std::uint32_t next = shared.word(j);
          if (next >> index_bits != word >> index_bits) break;
          total = sum(total, shared.products()[next & (Shared::capacity - 1)]);
        }
        const std::int64_t place = at + rank_among(heads);
        store_streaming(out.col_idx + place, word >> index_bits);
        store_streaming(out.values + place, total);
      }
      at += __popc(heads);
    }
    if (lane == 0 && out.counts != nullptr) out.counts[row] = at - first;
  }
  wait_for_prior_kernels();
}

/// Rows of C that a warp copies, and loads in flight per lane.
inline constexpr int copied_rows = 8;
inline constexpr int copied_steps = 4;

// Copies staged rows to C in row order, so that neighbouring entries are written at about the same
// time and their memory sectors are complete. A warp copies the entries of 8 consecutive rows, as
// one sequence.
//
//   lane l   row l of the warp: its length and its staging slots; rows with entries go to shared
//            memory, without gaps. Then entry l of a step
template <class Value>
__global__ void __launch_bounds__(32 * sorting_warps)
    copy_rows_kernel(std::int64_t rows, const std::uint32_t* slots, const std::uint32_t* columns,
                     const Value* values, const ProductRows<Value> c) {
  // Of each row with entries: extrapolated position of the warp's entry 0 in source and C.
  __shared__ std::int64_t from_of_rows[sorting_warps][copied_rows];
  __shared__ std::int64_t to_of_rows[sorting_warps][copied_rows];
  trigger_dependent_launch();
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::int64_t* const from = from_of_rows[threadIdx.x / 32];
  std::int64_t* const to = to_of_rows[threadIdx.x / 32];
  const std::int64_t row =
      (std::int64_t{blockIdx.x} * sorting_warps + threadIdx.x / 32) * copied_rows + lane;
  std::uint32_t slot = no_slot;
  std::uint32_t length = 0;
  std::int64_t begin = 0;
  if (lane < copied_rows && row < rows) {
    slot = slots[row];
    begin = c.row_ptr[row];
    if (slot != no_slot) length = static_cast<std::uint32_t>(c.row_ptr[row + 1] - begin);
  }
  WarpRuns runs(length);
  if (length != 0) {
    from[runs.number] = std::int64_t{slot} * entries_per_slot - runs.first;
    to[runs.number] = begin - runs.first;
  }
  __syncwarp();
  for (std::uint32_t first = 0; first < runs.total; first += 32 * copied_steps) {
    int mine[copied_steps];
    std::uint32_t column[copied_steps];
    Value value[copied_steps];
#pragma unroll
    for (int i = 0; i < copied_steps; ++i) {
      const std::uint32_t step = first + 32 * i;
      mine[i] = runs.run_of_item(step);
      if (step + lane < runs.total) {
        column[i] = load_streaming(columns + from[mine[i]] + step + lane);
        value[i] = load_streaming(values + from[mine[i]] + step + lane);
      }
    }
#pragma unroll
    for (int i = 0; i < copied_steps; ++i) {
      const std::uint32_t entry = first + 32 * i + lane;
      if (entry < runs.total) {
        store_streaming(c.col_idx + to[mine[i]] + entry, column[i]);
        store_streaming(c.values + to[mine[i]] + entry, value[i]);
      }
    }
  }
  wait_for_prior_kernels();
}

template <bool WithValues, class Value>
void compute_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                         const RowsOut<Value>& out, KernelGroup& group) {
  for_each_descending<first_large_bin - first_medium_bin>([&]<int I> {
    constexpr int bin = first_medium_bin + I;
    constexpr int items = row_bins[bin].items;
    constexpr std::size_t bytes = sorting_warps * sizeof(SortedRowShared<Value, items, WithValues>);
    if (bins.size(bin) == 0) return;
    group.launch(medium_rows_kernel<items, WithValues, Value>,
                 blocks_for(bins.size(bin), sorting_warps), 32 * sorting_warps, bytes, operands.a,
                 operands.b, bins.list(bin), bins.size(bin), out);
  });
  unsigned blocks = 0;
  const auto listed = [&](int bin) {
    const ListedRows listed{bins.list(bin), bins.size(bin), blocks};
    blocks += blocks_for(listed.count, 32 * sorting_warps / row_bins[bin].lanes);
    return listed;
  };
  SmallBins small{};
  small.of_32 = listed(3);
  small.of_16 = listed(2);
  small.of_8 = listed(1);
  if (blocks == 0) return;
  group.launch(small_rows_kernel<WithValues, Value>, blocks, 32 * sorting_warps, 0, operands.a,
               operands.b, small, out);
}

template <class Value>
void copy_sorted_rows(const RowBins& bins, const std::uint32_t* columns, const Value* values,
                      const ProductRows<Value>& c, KernelGroup& group) {
  if (bins.staged_entries == 0) return;
  const auto rows = static_cast<std::int64_t>(bins.slots.size());
  group.launch(copy_rows_kernel<Value>, blocks_for(rows, copied_rows * sorting_warps),
               32 * sorting_warps, 0, rows, bins.slots.data(), columns, values, c);
}

}  // namespace sortie::spgemm::cuda
