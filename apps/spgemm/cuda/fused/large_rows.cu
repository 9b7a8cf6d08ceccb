// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apps/spgemm/cuda/fused/count_large_rows.cuh"
#include "apps/spgemm/cuda/fused/make_large_rows.cuh"
#include "apps/spgemm/cuda/fused/row_kernels.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::spgemm::cuda {
namespace {

// --- Column panels -------------------------------------------------------------------------------

/// Counters of sampled entries, one per column group of 1024 columns.
constexpr int kCounters = max_fused_columns / 1024;
constexpr int kBoundsThreads = 1024;
constexpr std::int64_t kSamplesPerThread = column_samples / kBoundsThreads;

/// Alignment of the arrays in LargeRows::storage, in bytes.
constexpr std::size_t kAlignment = 256;

// One thread block. Panel p begins at the first column group with at least p / 64 of the sampled
// entries of B before it.
//
//   counters[g]   shared: samples in column group g; after the scan, samples in groups before g
//   thread t      column groups 8t .. 8t + 7; then threads 0 .. 63 each search for one panel
__global__ void __launch_bounds__(kBoundsThreads)
    find_panel_bounds_kernel(const std::uint32_t* col_idx, std::int64_t nnz,
                             std::uint32_t column_groups, std::uint32_t* panel_bounds) {
  constexpr int own = kCounters / kBoundsThreads;
  constexpr std::uint32_t panels = column_panels;
  __shared__ std::uint32_t counters[kCounters];
  __shared__ std::uint32_t warp_sums[kBoundsThreads / 32];
  for (int i = static_cast<int>(threadIdx.x); i < kCounters; i += kBoundsThreads) counters[i] = 0;
  const std::int64_t samples = min(nnz, column_samples);
  std::uint32_t found[kSamplesPerThread];  // all loads are in flight at once
#pragma unroll
  for (int i = 0; i < kSamplesPerThread; ++i) {
    const std::int64_t sample = i * kBoundsThreads + static_cast<std::int64_t>(threadIdx.x);
    found[i] = sample < samples ? col_idx[sampled_entry(nnz, sample)] / 1024 : kCounters;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSamplesPerThread; ++i)
    if (found[i] < kCounters) atomicAdd(&counters[found[i]], 1);
  __syncthreads();
  std::uint32_t in_groups = 0;
#pragma unroll
  for (int i = 0; i < own; ++i) in_groups += counters[threadIdx.x * own + i];
  std::uint32_t before = prefix_sum_in_block<kBoundsThreads / 32>(in_groups, warp_sums).before;
#pragma unroll
  for (int i = 0; i < own; ++i) {
    const std::uint32_t in_group = counters[threadIdx.x * own + i];
    counters[threadIdx.x * own + i] = before;
    before += in_group;
  }
  __syncthreads();
  if (threadIdx.x >= panels) return;
  const auto share = static_cast<std::uint32_t>(threadIdx.x * samples);
  panel_bounds[threadIdx.x] = first_not(std::uint32_t{0}, column_groups, [&](std::uint32_t group) {
    return counters[group] * panels < share;
  });
  if (threadIdx.x == 0) panel_bounds[panels] = column_groups;
}

// --- Tasks ---------------------------------------------------------------------------------------

// Thread i appends row i to the list of its task class. If the row shares the count of an earlier
// row, the thread also writes its number of entries. The last class has parts of rows: one further
// warp per divided row finds them; lane l holds the ends of panels l and 32 + l.
__global__ void __launch_bounds__(element_threads)
    list_tasks_kernel(const LargeRowArrays large, std::int64_t* counts) {
  constexpr auto parts = static_cast<int>(task_classes.size()) - 1;
  constexpr std::uint32_t max_entries = task_classes[parts].max_entries;
  static_assert(column_panels == 64);
  const std::uint32_t rows = large.count;
  const auto row = static_cast<std::uint32_t>(global_thread());
  if (row < (rows + 31) / 32 * 32) {
    int task_class = -1;
    if (row < rows) {
      const std::uint32_t representative = counted_row(large.bitmap_at, row);
      const std::uint32_t entries = large.entries[representative];
      if (representative != row) counts[large.rows[row]] = entries;
      task_class = class_of(entries);
    }
    const std::uint32_t place =
        take_places(large.counters->tasks, task_class == parts ? -1 : task_class);
    if (task_class < 0 || task_class == parts) return;
    large.tasks[static_cast<std::size_t>(task_class) * rows + place] = {row, 0, column_panels};
    return;
  }
  const std::uint32_t own = large.first_panel_row + (row - (rows + 31) / 32 * 32) / 32;
  if (own >= rows) return;
  const std::uint32_t representative = counted_row(large.bitmap_at, own);
  if (large.entries[representative] <= task_classes[parts - 1].max_entries) return;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t* const starts = large.starts_of(representative);
  const std::uint32_t end_low = starts[lane + 1];
  const std::uint32_t end_high = starts[lane + 33];
  const auto for_each_part = [&](const auto& take) {
    std::uint32_t before = 0;
    for (int begin = 0; begin < column_panels;) {
      // As many panels as end within `max_entries` entries, and at least one.
      int end =
          __popc(__ballot_sync(full_warp, end_low - before <= max_entries || end_low < before)) +
          __popc(__ballot_sync(full_warp, end_high - before <= max_entries || end_high < before));
      end = max(end, begin + 1);
      const std::uint32_t end_in_low = __shfl_sync(full_warp, end_low, (end - 1) % 32);
      const std::uint32_t end_in_high = __shfl_sync(full_warp, end_high, (end - 1) % 32);
      const std::uint32_t up_to = end <= 32 ? end_in_low : end_in_high;
      if (up_to != before) take(begin, end);
      before = up_to;
      begin = end;
    }
  };
  std::uint32_t found = 0;
  for_each_part([&](int, int) { ++found; });
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(&large.counters->tasks[parts], found);
  PanelTask* task = large.tasks + std::size_t{parts} * rows + place;
  for_each_part([&](int begin, int end) {
    if (lane == 0)
      *task++ = {own, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)};
  });
}

// One thread. `counters` may be null.
__global__ void publish_counters_kernel(const LargeRowCounters* counters,
                                        const std::int64_t* entries, LargeRowCounters* mailbox) {
  LargeRowCounters found = counters != nullptr ? *counters : LargeRowCounters{};
  found.entries = *entries;
  *mailbox = found;
}

}  // namespace

std::size_t max_dynamic_shared_memory() {
  constexpr std::size_t static_bytes = 1024;
  return static_cast<std::size_t>(max_shared_bytes()) - static_bytes;
}

template <class Value>
bool large_rows_fit(std::int64_t columns) {
  std::size_t bytes = 0;
  for_each_descending<RowBins::count - first_large_bin>([&]<int I> {
    constexpr int bin = first_large_bin + I;
    bytes = std::max(bytes, bytes_to_count<bin, Value>(layout_to_count(bin, columns, 0)));
  });
  for_each_descending<static_cast<int>(task_classes.size())>(
      [&]<int Class> { bytes = std::max(bytes, bytes_to_make<Class, Value>(columns)); });
  return bytes <= max_dynamic_shared_memory();
}

template <class Value>
LargeRows plan_large_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                          std::int64_t bitmap_words, cudaStream_t stream) {
  LargeRows rows;
  rows.count = bins.large_rows();
  if (rows.count == 0) return rows;
  rows.rows = bins.list(first_large_bin);
  rows.first_panel_row = bins.begin[first_panel_bin] - bins.begin[first_large_bin];
  const std::size_t panel_rows = rows.count - rows.first_panel_row;
  const auto assign = [&](std::byte* storage) {
    StorageCarver carver(storage, kAlignment);
    rows.counters = carver.take<LargeRowCounters>(1);
    rows.panel_bounds = carver.take<std::uint32_t>(column_panels + 1);
    rows.entries = carver.take<std::uint32_t>(rows.count);
    rows.panel_starts = carver.take<std::uint32_t>(panel_rows * (column_panels + 1));
    rows.bitmap_at = carver.take<std::uint64_t>(rows.count);
    rows.tasks =
        carver.take<PanelTask>((task_classes.size() - 1) * rows.count + panel_rows * column_panels);
    return carver.used();
  };
  rows.storage = DeviceBuffer<std::byte>(assign(nullptr), stream);
  assign(rows.storage.data());
  check_cuda(cudaMemsetAsync(rows.counters, 0, sizeof(LargeRowCounters), stream));
  rows.bitmaps = DeviceBuffer<std::uint32_t>(bitmap_words, stream);
  if (panel_rows == 0) return rows;
  const bool sampled = operands.samples != nullptr;
  find_panel_bounds_kernel<<<1, kBoundsThreads, 0, stream>>>(
      sampled ? operands.samples : operands.b.col_idx,
      sampled ? operands.sample_count : operands.b.nnz,
      static_cast<std::uint32_t>((operands.b.cols + 1023) / 1024), rows.panel_bounds);
  check_cuda(cudaGetLastError());
  return rows;
}

void list_panel_tasks(const LargeRows& rows, std::int64_t* counts, cudaStream_t stream) {
  if (rows.count == 0) return;
  const std::int64_t threads =
      (rows.count + 31) / 32 * 32 + (rows.count - rows.first_panel_row) * 32ll;
  list_tasks_kernel<<<blocks_for(threads), element_threads, 0, stream>>>(rows, counts);
  check_cuda(cudaGetLastError());
}

void publish_counters(const LargeRows& rows, const std::int64_t* entries, LargeRowCounters* mailbox,
                      cudaStream_t stream) {
  publish_counters_kernel<<<1, 1, 0, stream>>>(rows.counters, entries, mailbox);
  check_cuda(cudaGetLastError());
}

#define SORTIE_INSTANTIATE(Value)                                                                 \
  template bool large_rows_fit<Value>(std::int64_t);                                              \
  template LargeRows plan_large_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t, \
                                     cudaStream_t);                                               \
  template void count_large_rows(const ProductOperands<Value>&, const RowBins&, const LargeRows&, \
                                 std::int64_t*, KernelGroup&);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
