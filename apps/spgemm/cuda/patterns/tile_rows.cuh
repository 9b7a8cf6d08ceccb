// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "apps/spgemm/cuda/patterns/row_tiles.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Computes tiles of rows with the same pattern. CMakeLists.txt lists the instances.
namespace sortie::spgemm::cuda {

template <class Value>
struct TileArguments {
  DeviceCsrView<Value> a;
  DeviceCsrView<Value> b;
  const RowTile* tiles;
  const ClassProgram* programs;
  const ProgramStep* steps;
  const std::uint16_t* places;
  const std::uint32_t* columns;  ///< of the first row of each class
  TileRowsOut<Value> out;
};

/// Copies rows of equal length that follow each other in global memory, to rows of an odd number of
/// elements. Called by all lanes.
template <class Value>
__device__ __forceinline__ void stage_rows(Value* to, const Value* from, int rows, int length) {
  const int lane = static_cast<int>(threadIdx.x);
  if ((length & 1) != 0) {
#pragma unroll 4
    for (int i = lane; i < rows * length; i += 32) copy_async(to + i, from + i);
    return;
  }
  if (length == 0) return;
  // One more element a row.
  const int row_step = 32 / length;
  const int step = 32 % length;
  int row = lane / length;
  int place = lane % length;
  for (int i = lane; i < rows * length; i += 32) {
    copy_async(to + i + row, from + i);
    place += step;
    row += row_step;
    if (place >= length) {
      place -= length;
      ++row;
    }
  }
}

// Computes the rows of a tile, one warp per tile and block.
//
//   lane l             row l % TileRows of the tile, and of each `Parts` consecutive products of an
//                      entry of A number l / TileRows
//   sums[p][r]         entry p of row r of C; the last are for lanes without a product. If the tile
//                      has fewer than TileRows rows, the other lanes add unspecified values to sums
//                      that are never read
//   staged[r][j]       entry j of the row of B that row r multiplies; of a group of steps also those
//                      of the next rows
//   factors[r][e]      entry e of row r of A
//
// All rows add product j of entry e to the same entry of C. Within an entry of A no two products
// belong to the same entry of C, so that a batch of them is added at once; between entries, the warp
// is synchronised. Rows of the arrays have an odd number of elements: lanes of different rows access
// different banks.
template <int TileRows, int Batch, class Value>
__global__ void __launch_bounds__(32) tile_rows_kernel(const TileArguments<Value> args) {
  constexpr int parts = 32 / TileRows;
  constexpr int step_products = parts * Batch;
  constexpr int held_places = 32 / step_products * step_products;
  constexpr int stride = TileRows + 1;
  const int lane = static_cast<int>(threadIdx.x);
  const int own = lane % TileRows;
  const RowTile& tile = args.tiles[blockIdx.x];
  const ClassProgram program = args.programs[tile.of_class];
  const bool is_consecutive = tile.is_consecutive != 0;
  const std::uint32_t row = tile.window + tile.row[own];
  const auto entries = static_cast<int>(program.entries);
  const auto steps = static_cast<int>(program.steps);
  if (entries == 0) return;
  const int factor_stride = steps | 1;
  Value* const sums = reinterpret_cast<Value*>(dynamic_shared_memory());
  Value* const staged = sums + sum_elements(TileRows, program.entries);
  Value* const factors = staged + staged_elements(TileRows, program.longest);
  const std::int64_t a_begin = args.a.row_ptr[row];
  const std::int64_t c_begin = args.out.row_ptr[row] - args.out.first_entry;
  const int rows = tile.rows;
  if (is_consecutive) {
    stage_rows(factors, args.a.values + from_lane(a_begin, 0), rows, steps);
  } else {
    for (int r = 0; r < rows; ++r) {
      const Value* const from = args.a.values + from_lane(a_begin, r);
      for (int i = lane; i < steps; i += 32) copy_async(factors + r * factor_stride + i, from + i);
    }
  }
  const auto all_sums = static_cast<int>(sum_elements(TileRows, program.entries));
  for (int i = lane; i < all_sums; i += 32) sums[i] = additive_identity<Value>();

  const ProgramStep* const program_steps = args.steps + program.step;
  Value* const own_sums = sums + own;
  const Value* own_staged = nullptr;
  int staged_stride = 0;
  std::uint32_t left = 0;  // steps whose rows of B are staged
  for (int e = 0; e < steps; ++e) {
    const ProgramStep step = program_steps[e];
    const auto length = static_cast<int>(step.length);
    const std::uint16_t* const places = args.places + step.places;
    const auto place_of = [&](int product) {
      return (product < length ? static_cast<int>(places[product]) : entries + product % parts) *
             stride;
    };
    int place = place_of(lane);
    if (left == 0) {
      left = is_consecutive ? step.group : 1;
      staged_stride = length | 1;
      own_staged = staged + own * staged_stride + lane / TileRows;
      __syncwarp();
      const std::int64_t b_begin = args.b.row_ptr[row + step.offset];
      if (is_consecutive) {
        stage_rows(staged, args.b.values + from_lane(b_begin, 0), rows + static_cast<int>(left) - 1,
                   length);
      } else {
        for (int r = 0; r < rows; ++r) {
          const Value* const from = args.b.values + from_lane(b_begin, r);
          for (int i = lane; i < length; i += 32)
            copy_async(staged + r * staged_stride + i, from + i);
        }
      }
      wait_for_copies();
      __syncwarp();
    } else {
      own_staged += staged_stride;
    }
    --left;
    const Value factor = factors[own * factor_stride + e];
    const Value* from = own_staged;
    for (int first = 0; first < length; first += held_places) {
      if (first > 0) place = place_of(first + lane);
      const int held = min(held_places, length - first);
      for (int j = 0; j < held; j += step_products) {
        Value* to[Batch];
        Value before[Batch];
        Value other[Batch];
#pragma unroll
        for (int i = 0; i < Batch; ++i) {
          to[i] = own_sums + from_lane(place, j + parts * i + lane / TileRows);
          other[i] = from[parts * i];
          before[i] = *to[i];
        }
#pragma unroll
        for (int i = 0; i < Batch; ++i) *to[i] = with_product(before[i], factor, other[i]);
        from += step_products;
      }
    }
    __syncwarp();
  }

  const std::uint32_t* const columns = args.columns + program.column;
  if (is_consecutive) {
    const std::int64_t begin = from_lane(c_begin, 0);
    const std::uint32_t distance = from_lane(row, 0) - program.row;
    const int row_step = 32 / entries;
    const int entry_step = 32 % entries;
    int r = lane / entries;
    int p = lane % entries;
    for (int i = lane; i < rows * entries; i += 32) {
      store_streaming(args.out.values + begin + i, sums[p * stride + r]);
      if (args.out.col_idx != nullptr)
        store_streaming(args.out.col_idx + begin + i, columns[p] + distance + r);
      p += entry_step;
      r += row_step;
      if (p >= entries) {
        p -= entries;
        ++r;
      }
    }
  } else {
    for (int r = 0; r < rows; ++r) {
      const std::int64_t begin = from_lane(c_begin, r);
      const std::uint32_t distance = from_lane(row, r) - program.row;
      for (int p = lane; p < entries; p += 32) {
        store_streaming(args.out.values + begin + p, sums[p * stride + r]);
        if (args.out.col_idx != nullptr)
          store_streaming(args.out.col_idx + begin + p, columns[p] + distance);
      }
    }
  }
}

/// Launches the kernel for tiles with rows of B of up to `longest` entries.
template <class Value>
void compute_tiles(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                   const ClassPrograms<Value>& programs, const RowTiles& tiles, int tile_rows,
                   const TileRowsOut<Value>& out, cudaStream_t stream) {
  if (tiles.count == 0) return;
  const TileArguments<Value> args{a,
                                  b,
                                  tiles.tiles.data(),
                                  programs.of_class.data(),
                                  programs.steps.data(),
                                  programs.places.data(),
                                  programs.first_rows.col_idx.data(),
                                  out};
  const ProgramSizes& sizes = programs.sizes;
  const std::size_t bytes =
      sizeof(Value) * (tile_rows == 16 ? sizes.elements_of_16 : sizes.elements_of_8);
  KernelGroup group(stream);
  const auto start = [&](auto kernel) { group.launch(kernel, tiles.count, 32, bytes, args); };
  // A batch of a row of B: of two products per addition for tiles of 16 rows, four for 8.
  if (tile_rows == 8) return start(tile_rows_kernel<8, 7, Value>);
  if (sizes.longest <= 6) return start(tile_rows_kernel<16, 3, Value>);
  if (sizes.longest <= 8) return start(tile_rows_kernel<16, 4, Value>);
  if (sizes.longest <= 10) return start(tile_rows_kernel<16, 5, Value>);
  start(tile_rows_kernel<16, 7, Value>);
}

}  // namespace sortie::spgemm::cuda
