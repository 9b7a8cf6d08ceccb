// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/patterns/row_tiles.hpp"

#include <algorithm>
#include <complex>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>

#include "core/cuda/check.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kTileThreads = 256;
constexpr int kItems = tile_window / kTileThreads;

// Groups the rows of a window, one block per window.
//
//   item i of thread t   row 8 t + i of the window, then row 8 t + i in the order of the groups
//
// The rows of a class that are in long runs are a group, and the others. The sort is stable, so that
// the rows of a run stay consecutive. A part is a run of the first, or the whole of the second.
__global__ void __launch_bounds__(kTileThreads)
    make_tiles_kernel(const std::uint32_t* of_row, const ClassProgram* programs,
                      std::int64_t first_row, std::int64_t rows, int tile_rows,
                      std::uint32_t capacity, RowTile* tiles, std::uint32_t* count) {
  constexpr std::uint32_t no_class = ~0u >> 1;
  using Sort = cub::BlockRadixSort<std::uint32_t, kTileThreads, kItems, std::uint16_t>;
  using Scan = cub::BlockScan<int, kTileThreads>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } shared;
  __shared__ std::uint32_t group_of[tile_window];  // of a row, then of a place in the order
  __shared__ std::uint16_t row_of[tile_window];
  __shared__ std::uint32_t first_tile;
  const std::int64_t window = first_row + std::int64_t{blockIdx.x} * tile_window;
  const int first = static_cast<int>(threadIdx.x) * kItems;
  std::uint32_t groups[kItems];  // twice the class; odd: not in a long run
  std::uint16_t numbers[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const std::int64_t row = window + first + i;
    groups[i] = row < rows ? of_row[row] : no_class;
    if (groups[i] != no_class && programs[groups[i]].is_long != 0) groups[i] = no_class;
    group_of[first + i] = groups[i];
    numbers[i] = static_cast<std::uint16_t>(first + i);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int before = 0;
    int behind = 0;
    const int place = first + i;
    while (before + 1 < min_tile_run && place - before > 0 &&
           group_of[place - before - 1] == groups[i])
      ++before;
    while (behind + 1 < min_tile_run && place + behind + 1 < tile_window &&
           group_of[place + behind + 1] == groups[i])
      ++behind;
    groups[i] = 2 * groups[i] + (before + behind + 1 < min_tile_run ? 1 : 0);
  }
  __syncthreads();
  Sort(shared.sort).Sort(groups, numbers);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    group_of[first + i] = groups[i];
    row_of[first + i] = numbers[i];
  }
  __syncthreads();
  const auto begins_part = [&](int place) {
    return group_of[place] != group_of[place - 1] ||
           (group_of[place] % 2 == 0 && row_of[place] != row_of[place - 1] + 1);
  };
  int begins[kItems];  // of the part of the item
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    begins[i] = first + i > 0 && begins_part(first + i) ? first + i : 0;
  Scan(shared.scan).InclusiveScan(begins, begins, ::cuda::maximum<>{});
  __syncthreads();
  const auto is_first_of_tile = [&](int i) {
    return groups[i] / 2 != no_class && (first + i - begins[i]) % tile_rows == 0;
  };
  int own = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) own += is_first_of_tile(i) ? 1 : 0;
  int before = 0;
  int all = 0;
  Scan(shared.scan).ExclusiveSum(own, before, all);
  if (threadIdx.x == 0) first_tile = atomicAdd(count, static_cast<std::uint32_t>(all));
  __syncthreads();
  std::uint32_t place = first_tile + static_cast<std::uint32_t>(before);
  for (int i = 0; i < kItems; ++i) {
    if (!is_first_of_tile(i)) continue;
    if (place >= capacity) return;
    RowTile tile{static_cast<std::uint32_t>(window), groups[i] / 2, 0, 0, {}};
    int held = 0;
    do {
      tile.row[held] = row_of[first + i + held];
      ++held;
    } while (held < tile_rows && first + i + held < tile_window && !begins_part(first + i + held));
    tile.rows = static_cast<std::uint8_t>(held);
    tile.is_consecutive = groups[i] % 2 == 0 ? 1 : 0;
    for (int j = held; j < max_tile_rows; ++j) tile.row[j] = tile.row[0];
    tiles[place++] = tile;
  }
}

// Copies rows, one block per row.
template <class Value>
__global__ void __launch_bounds__(kTileThreads)
    copy_long_rows_kernel(const DeviceCsrView<Value> c, const std::uint32_t* rows,
                          const TileRowsOut<Value> out) {
  const std::int64_t from = c.row_ptr[blockIdx.x];
  const std::int64_t length = c.row_ptr[blockIdx.x + 1] - from;
  const std::int64_t to = out.row_ptr[rows[blockIdx.x]] - out.first_entry;
  for (std::int64_t i = threadIdx.x; i < length; i += kTileThreads) {
    if (out.col_idx != nullptr) out.col_idx[to + i] = c.col_idx[from + i];
    out.values[to + i] = c.values[from + i];
  }
}

}  // namespace

void count_by_class(const RowClasses& classes, const ClassProgram* programs, std::int64_t rows,
                    std::int64_t* counts, cudaStream_t stream) {
  const std::uint32_t* const of_row = classes.of_row.data();
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(rows) + 1,
      [=] __device__(std::int64_t row) {
        counts[row] = row < rows ? programs[of_row[row]].entries : 0;
      },
      stream);
}

RowTiles make_tiles(const RowClasses& classes, const ClassProgram* programs, std::int64_t first_row,
                    std::int64_t rows, int tile_rows, cudaStream_t stream) {
  const std::int64_t own = rows - first_row;
  RowTiles result;
  if (own <= 0) return result;
  DeviceBuffer<std::uint32_t> count(1, stream);
  // Windows have few classes as a rule; where they have many, the tiles are made again.
  auto capacity = static_cast<std::uint32_t>(own / tile_rows + own / 48 + 4096);
  for (;;) {
    result.tiles = DeviceBuffer<RowTile>(capacity, stream);
    check_cuda(cudaMemsetAsync(count.data(), 0, count.bytes(), stream));
    make_tiles_kernel<<<blocks_for(static_cast<std::uint64_t>(own), tile_window), kTileThreads, 0,
                        stream>>>(classes.of_row.data(), programs, first_row, rows, tile_rows,
                                  capacity, result.tiles.data(), count.data());
    check_cuda(cudaGetLastError());
    count.copy_to({&result.count, 1});
    check_cuda(cudaStreamSynchronize(stream));
    if (result.count <= capacity) return result;
    capacity = result.count;
    result.tiles.reset();
  }
}

LongRows list_long_rows(const RowClasses& classes, const ClassProgram* programs,
                        std::int64_t first_row, std::int64_t rows, cudaStream_t stream) {
  const std::int64_t own = rows - first_row;
  LongRows result;
  // The last element counts.
  DeviceBuffer<std::uint32_t> count(1, stream);
  const std::uint32_t* const of_row = classes.of_row.data() + first_row;
  for (std::uint32_t* to = nullptr;; to = result.rows.data()) {
    std::uint32_t* const found = count.data();
    check_cuda(cudaMemsetAsync(found, 0, count.bytes(), stream));
    for_each_item<std::int64_t>(
        static_cast<std::uint64_t>(own),
        [=] __device__(std::int64_t i) {
          if (programs[of_row[i]].is_long == 0) return;
          const std::uint32_t place = atomicAdd(found, 1u);
          if (to != nullptr) to[place] = static_cast<std::uint32_t>(first_row + i);
        },
        stream);
    if (to != nullptr) return result;
    count.copy_to({&result.count, 1});
    check_cuda(cudaStreamSynchronize(stream));
    result.rows = DeviceBuffer<std::uint32_t>(result.count, stream);
    if (result.count == 0) return result;
  }
}

template <class Value>
void copy_long_rows(const DeviceCsr<Value>& c, const LongRows& rows, const TileRowsOut<Value>& out,
                    cudaStream_t stream) {
  if (rows.count == 0) return;
  copy_long_rows_kernel<Value>
      <<<rows.count, kTileThreads, 0, stream>>>(view(c), rows.rows.data(), out);
  check_cuda(cudaGetLastError());
}

template void copy_long_rows(const DeviceCsr<float>&, const LongRows&, const TileRowsOut<float>&,
                             cudaStream_t);
template void copy_long_rows(const DeviceCsr<double>&, const LongRows&, const TileRowsOut<double>&,
                             cudaStream_t);
template void copy_long_rows(const DeviceCsr<std::complex<double>>&, const LongRows&,
                             const TileRowsOut<std::complex<double>>&, cudaStream_t);

}  // namespace sortie::spgemm::cuda
