// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/essc/chunk_steps.hpp"

#include <cub/block/block_scan.cuh>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/merge_path.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// Merge-path steps per thread and block. 8 per thread take 25 KB of shared memory per block, so
/// that eight blocks fill the 2048 threads of a multiprocessor.
constexpr int kStepsPerThread = 8;
constexpr int kTileSteps = element_threads * kStepsPerThread;

struct Max {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

/// tile_entries[t]: entries before step t * kTileSteps, for t in 0 .. tiles, of the merge of
/// entries (by first product) with products (by number), where an entry precedes its first product.
void find_tile_entries(const std::int64_t* entry_offsets, const RowChunk& chunk,
                       std::int64_t* tile_entries, std::int64_t tiles, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      tiles + 1,
      [=] __device__(std::int64_t t) {
        const std::int64_t step = min(t * kTileSteps, chunk.entries + chunk.products);
        tile_entries[t] = merge_path(
            chunk.entries, chunk.products, step,
            [](std::int64_t product, std::int64_t first) { return product < first; },
            [&](std::int64_t entry) { return entry_offsets[entry] - chunk.first_product; },
            [](std::int64_t product) { return product; });
      },
      stream);
}

/// entry_rows[e]: row of entry e of the chunk, relative to the first row of the chunk.
void find_entry_rows(const std::int64_t* row_ptr, const RowChunk& chunk, std::uint32_t* entry_rows,
                     cudaStream_t stream) {
  for_each_item<std::int64_t>(
      chunk.entries,
      [=] __device__(std::int64_t e) {
        // The last row that begins at or before the entry; preceding empty rows begin there too.
        const std::int64_t behind = first_not(std::int64_t{1}, chunk.rows, [&](std::int64_t row) {
          return row_ptr[row] <= chunk.first_entry + e;
        });
        entry_rows[e] = static_cast<std::uint32_t>(behind - 1);
      },
      stream);
}

template <class Value, class Column, class Key>
struct ExpansionArguments {
  DeviceCsrView<Value, Column> a;  ///< col_idx and values from the first entry of the chunk on
  DeviceCsrView<Value, Column> b;
  RowChunk chunk;
  const std::int64_t* entry_offsets;
  const std::uint32_t* entry_rows;
  const std::int64_t* tile_entries;
  ExpandedProducts<Value, Key> out;
};

// Expands products, balanced by merge path: each block takes kTileSteps steps of the merge of
// entries with products. Entries first_entry .. last_entry - 1 begin in the tile; the block writes
// products first .. last - 1. Local entry j is entry first_entry - 1 + j; local entry 0 began in an
// earlier tile and may continue in this one.
//
//   shared entry_of[i]   0, or the local entry whose first product is product i of the tile;
//                        after the max scan: the local entry of product i
//   shared b_shift[j]    product p of local entry j uses entry b_shift[j] + p of B
//
// Thread t scans items 8t .. 8t + 7 and writes products t, t + 256, ... (coalesced stores).
template <class Value, class Column, class Key>
__global__ void __launch_bounds__(element_threads)
    expand_kernel(const ExpansionArguments<Value, Column, Key> args) {
  using BlockScan = cub::BlockScan<int, element_threads>;
  __shared__ typename BlockScan::TempStorage scan_storage;
  alignas(16) __shared__ int entry_of[kTileSteps];
  __shared__ std::int64_t b_shift[kTileSteps + 1];

  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t tile = blockIdx.x;
  const std::int64_t first_step = tile * kTileSteps;
  const std::int64_t last_step =
      min(first_step + kTileSteps, args.chunk.entries + args.chunk.products);
  const std::int64_t first_entry = args.tile_entries[tile];
  const std::int64_t last_entry = args.tile_entries[tile + 1];
  const std::int64_t first = first_step - first_entry;
  const std::int64_t last = last_step - last_entry;
  const int tile_entries = static_cast<int>(last_entry - first_entry);
  const int tile_products = static_cast<int>(last - first);
  if (tile_products == 0) return;  // only entries that match empty rows of B

  for (int i = thread; i < kTileSteps; i += element_threads) entry_of[i] = 0;
  __syncthreads();
  for (int j = thread; j <= tile_entries; j += element_threads) {
    const std::int64_t entry = first_entry - 1 + j;
    if (entry < 0) continue;
    const std::int64_t begin = args.entry_offsets[entry] - args.chunk.first_product;
    const std::int64_t end = args.entry_offsets[entry + 1] - args.chunk.first_product;
    b_shift[j] = args.b.row_ptr[args.a.col_idx[entry]] - begin;
    // Several entries may begin at one product; only one is not empty, and it alone writes.
    if (j > 0 && begin < end && begin < last) entry_of[begin - first] = j;
  }
  __syncthreads();

  int items[kStepsPerThread];
#pragma unroll
  for (int k = 0; k < kStepsPerThread; ++k) items[k] = entry_of[thread * kStepsPerThread + k];
  BlockScan(scan_storage).InclusiveScan(items, items, Max{});
#pragma unroll
  for (int k = 0; k < kStepsPerThread; ++k) entry_of[thread * kStepsPerThread + k] = items[k];
  __syncthreads();

  // All loads precede all stores. Otherwise the compiler must assume aliasing and cannot overlap
  // the loads of different products.
  Key keys[kStepsPerThread];
  Value values[kStepsPerThread];
#pragma unroll
  for (int k = 0; k < kStepsPerThread; ++k) {
    const int i = k * element_threads + thread;
    if (i >= tile_products) continue;
    const int j = entry_of[i];
    const std::int64_t entry = first_entry - 1 + j;
    const std::int64_t in_b = b_shift[j] + first + i;
    keys[k] = args.b.col_idx[in_b];
    if constexpr (sizeof(Key) == 8) {
      if (args.entry_rows != nullptr)
        keys[k] |= static_cast<Key>(args.entry_rows[entry]) << args.chunk.column_bits;
    }
    values[k] = product(args.a.values[entry], args.b.values[in_b]);
  }
#pragma unroll
  for (int k = 0; k < kStepsPerThread; ++k) {
    const int i = k * element_threads + thread;
    if (i >= tile_products) continue;
    args.out.keys[first + i] = keys[k];
    if constexpr (payload_is_index<Value>) {
      args.out.payloads[first + i] = static_cast<std::uint32_t>(first + i);
      args.out.products[first + i] = values[k];
    } else {
      args.out.payloads[first + i] = values[k];
    }
  }
}

}  // namespace

template <class Column>
DeviceBuffer<std::int64_t> entry_offsets(const Column* a_col_idx, std::int64_t nnz_a,
                                         const std::int64_t* b_row_ptr, cudaStream_t stream) {
  DeviceBuffer<std::int64_t> offsets(nnz_a + 1, stream);
  // One extra element 0, which the scan turns into the total.
  for_each_item<std::int64_t>(
      nnz_a + 1,
      [=, out = offsets.data()] __device__(std::int64_t i) {
        out[i] =
            i < nnz_a ? b_row_ptr[a_col_idx[i] + std::int64_t{1}] - b_row_ptr[a_col_idx[i]] : 0;
      },
      stream);
  exclusive_sum(offsets.data(), nnz_a + 1, stream);
  return offsets;
}

template <class Offset>
DeviceBuffer<Offset> row_offsets(const std::int64_t* row_ptr, const std::int64_t* entry_offsets,
                                 const RowChunk& chunk, cudaStream_t stream) {
  DeviceBuffer<Offset> offsets(chunk.rows + 1, stream);
  for_each_item<std::int64_t>(
      chunk.rows + 1,
      [=, first = chunk.first_product, rows = row_ptr + chunk.first_row,
       out = offsets.data()] __device__(std::int64_t i) {
        out[i] = static_cast<Offset>(entry_offsets[rows[i]] - first);
      },
      stream);
  return offsets;
}

template <class Value, class Column, class Key>
void expand(const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& b,
            const std::int64_t* entry_offsets, const RowChunk& chunk,
            const ExpandedProducts<Value, Key>& out, cudaStream_t stream) {
  if (chunk.products == 0) return;
  const std::int64_t tiles = blocks_for(chunk.entries + chunk.products, kTileSteps);
  entry_offsets += chunk.first_entry;

  DeviceBuffer<std::int64_t> tile_entries(tiles + 1, stream);
  find_tile_entries(entry_offsets, chunk, tile_entries.data(), tiles, stream);
  DeviceBuffer<std::uint32_t> entry_rows;
  if (chunk.column_bits != 0) {
    entry_rows = DeviceBuffer<std::uint32_t>(chunk.entries, stream);
    find_entry_rows(a.row_ptr + chunk.first_row, chunk, entry_rows.data(), stream);
  }

  ExpansionArguments<Value, Column, Key> args{
      a, b, chunk, entry_offsets, entry_rows.data(), tile_entries.data(), out};
  args.a.col_idx += chunk.first_entry;
  args.a.values += chunk.first_entry;
  expand_kernel<<<static_cast<unsigned>(tiles), element_threads, 0, stream>>>(args);
  check_cuda(cudaGetLastError());
}

template DeviceBuffer<std::int64_t> entry_offsets(const std::uint32_t*, std::int64_t,
                                                  const std::int64_t*, cudaStream_t);
template DeviceBuffer<std::int64_t> entry_offsets(const std::uint64_t*, std::int64_t,
                                                  const std::int64_t*, cudaStream_t);
template DeviceBuffer<std::int64_t> row_offsets(const std::int64_t*, const std::int64_t*,
                                                const RowChunk&, cudaStream_t);
template DeviceBuffer<std::uint32_t> row_offsets(const std::int64_t*, const std::int64_t*,
                                                 const RowChunk&, cudaStream_t);

#define SORTIE_INSTANTIATE(Value, Column, Key)                                                    \
  template void expand(const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&,  \
                       const std::int64_t*, const RowChunk&, const ExpandedProducts<Value, Key>&, \
                       cudaStream_t);
SORTIE_FOR_EACH_SORTED_PRODUCT(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
