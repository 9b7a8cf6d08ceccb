// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/row_kernels.hpp"
#include "primitives/cuda/warp.cuh"

#include <algorithm>
#include <complex>
#include <functional>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// Rows of A with more entries than the first are counted by one block each; with more than the
/// second, by all blocks.
constexpr std::int64_t kMaxEntriesOfLanes = 256;
constexpr std::int64_t kMaxEntriesOfBlock = 32768;

struct RowTotals {
  unsigned long long products;
  unsigned long long large_row_products;
  unsigned long long slots;
  std::uint32_t rows[RowBins::count];  ///< of each bin except that of empty rows
};

/// Zero-initialised.
struct Counters {
  RowTotals all;
  std::uint32_t taken[RowBins::count];  ///< allocated elements of the list, per bin
  std::uint32_t taken_slots;
  /// Rows that count_products_kernel skipped, listed from the front and from the back.
  std::uint32_t long_rows;
  std::uint32_t very_long_rows;
  std::uint32_t blocks_done;
};
/// Size of Counters in elements of the products array, behind which they are stored.
constexpr std::size_t kCounterWords = sizeof(Counters) / sizeof(std::uint64_t);
static_assert(sizeof(Counters) % sizeof(std::uint64_t) == 0);

__device__ __forceinline__ bool has_slots(int bin) {
  return bin > 0 && bin < first_large_bin;
}

/// Totals of a block, accumulated in registers and shared memory before one addition to the totals
/// of the grid.
class BlockTotals {
 public:
  /// Called by all threads of the block.
  __device__ explicit BlockTotals(RowTotals& shared) : shared_(shared) {
    if (threadIdx.x == 0) shared = {};
    __syncthreads();
  }

  /// Adds a row; empty rows may be omitted.
  __device__ __forceinline__ void take(std::uint64_t products) {
    const int bin = bin_of(products);
    if (bin == 0) return;
    products_ += products;
    if (has_slots(bin)) {
      slots_ += slots_of_row(products);
    } else {
      large_row_products_ += products;
    }
    atomicAdd(&shared_.rows[bin], 1);
  }

  /// Called by all threads of the block.
  __device__ void add_to(RowTotals& totals) {
    products_ = sum_in_warp(products_);
    large_row_products_ = sum_in_warp(large_row_products_);
    slots_ = sum_in_warp(slots_);
    if (threadIdx.x % 32 == 0 && products_ != 0) {
      atomicAdd(&shared_.products, products_);
      atomicAdd(&shared_.large_row_products, large_row_products_);
      atomicAdd(&shared_.slots, slots_);
    }
    __syncthreads();
    if (threadIdx.x < RowBins::count && shared_.rows[threadIdx.x] != 0)
      atomicAdd(&totals.rows[threadIdx.x], shared_.rows[threadIdx.x]);
    if (threadIdx.x == 0 && shared_.products != 0) {
      atomicAdd(&totals.products, shared_.products);
      if (shared_.large_row_products != 0)
        atomicAdd(&totals.large_row_products, shared_.large_row_products);
      if (shared_.slots != 0) atomicAdd(&totals.slots, shared_.slots);
    }
  }

 private:
  RowTotals& shared_;
  unsigned long long products_ = 0;
  unsigned long long large_row_products_ = 0;
  unsigned long long slots_ = 0;
};

/// True on the last block of the grid to call this; that block sees all prior writes of the others.
/// Called by all threads.
/// \param done     number of blocks that have called this
/// \param is_last  a variable in shared memory
__device__ bool is_last_block(std::uint32_t* done, bool& is_last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(done, 1) + 1 == gridDim.x;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

/// Called by all threads of a block.
__device__ void write_to_host(const RowTotals& totals, RowTotals* mailbox) {
  const auto* const from = reinterpret_cast<const std::uint32_t*>(&totals);
  auto* const to = reinterpret_cast<std::uint32_t*>(mailbox);
  if (threadIdx.x < sizeof(RowTotals) / sizeof(std::uint32_t))
    to[threadIdx.x] = __ldcg(from + threadIdx.x);
}

/// Products of the entries begin, begin + stride, ... before `end`.
__device__ __forceinline__ std::uint64_t count_products(const std::uint32_t* a_col_idx,
                                                        const std::int64_t* b_row_ptr,
                                                        std::int64_t begin, std::int64_t end,
                                                        std::int64_t stride) {
  std::uint64_t count = 0;
#pragma unroll 4
  for (std::int64_t entry = begin; entry < end; entry += stride) {
    const std::uint32_t k = a_col_idx[entry];
    count += static_cast<std::uint64_t>(b_row_ptr[k + std::int64_t{1}] - b_row_ptr[k]);
  }
  return count;
}

// Counts the products of each row of A; `Lanes` lanes per row. Rows with more than
// kMaxEntriesOfLanes entries are listed for count_long_rows_kernel and not added to the totals.
template <int Lanes>
__global__ void __launch_bounds__(element_threads)
    count_products_kernel(std::int64_t rows, const std::int64_t* a_row_ptr,
                          const std::uint32_t* a_col_idx, const std::int64_t* b_row_ptr,
                          std::uint64_t* products, std::uint32_t* list, Counters* counters) {
  __shared__ RowTotals shared;
  BlockTotals totals(shared);
  const int lane = static_cast<int>(threadIdx.x % Lanes);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * (element_threads / Lanes);
  const std::int64_t first_of_warp = (global_thread() - threadIdx.x % 32) / Lanes;
  for (std::int64_t first = first_of_warp; first < rows; first += stride) {
    const std::int64_t row = first + threadIdx.x % 32 / Lanes;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (row < rows) {
      begin = a_row_ptr[row];
      end = a_row_ptr[row + 1];
    }
    const bool is_long = end - begin > kMaxEntriesOfLanes;
    std::uint64_t count =
        is_long ? 0 : count_products(a_col_idx, b_row_ptr, begin + lane, end, Lanes);
    count = sum_in_warp<Lanes>(count);
    if (row < rows && lane == 0) {
      products[row] = count;
      if (end - begin > kMaxEntriesOfBlock) {
        list[rows - 1 - atomicAdd(&counters->very_long_rows, 1)] = static_cast<std::uint32_t>(row);
      } else if (is_long) {
        list[atomicAdd(&counters->long_rows, 1)] = static_cast<std::uint32_t>(row);
      }
      totals.take(count);
    }
  }
  totals.add_to(counters->all);
}

// Counts the products of the listed rows: one block per long row, and all blocks together for each
// very long row. The last block to end writes the totals of all rows to the host.
__global__ void __launch_bounds__(element_threads)
    count_long_rows_kernel(std::int64_t rows, const std::int64_t* a_row_ptr,
                           const std::uint32_t* a_col_idx, const std::int64_t* b_row_ptr,
                           unsigned long long* products, const std::uint32_t* list,
                           Counters* counters, RowTotals* mailbox) {
  __shared__ RowTotals shared;
  __shared__ unsigned long long row_products;
  __shared__ bool is_last;
  BlockTotals totals(shared);
  const auto products_of = [&](std::uint32_t row, std::int64_t first, std::int64_t stride) {
    return static_cast<unsigned long long>(sum_in_warp(count_products(
        a_col_idx, b_row_ptr, a_row_ptr[row] + first, a_row_ptr[row + std::int64_t{1}], stride)));
  };
  const bool leads_warp = threadIdx.x % 32 == 0;
  for (std::uint32_t i = blockIdx.x; i < counters->long_rows; i += gridDim.x) {
    if (threadIdx.x == 0) row_products = 0;
    __syncthreads();
    const std::uint32_t row = list[i];
    const unsigned long long own = products_of(row, threadIdx.x, element_threads);
    if (leads_warp) atomicAdd(&row_products, own);
    __syncthreads();
    if (threadIdx.x == 0) {
      products[row] = row_products;
      totals.take(row_products);
    }
    __syncthreads();
  }
  const std::uint32_t very_long_rows = counters->very_long_rows;
  for (std::uint32_t i = 0; i < very_long_rows; ++i) {
    const std::uint32_t row = list[rows - 1 - i];
    const unsigned long long own =
        products_of(row, global_thread(), static_cast<std::int64_t>(gridDim.x) * element_threads);
    if (leads_warp && own != 0) atomicAdd(&products[row], own);
  }
  totals.add_to(counters->all);
  if (!is_last_block(&counters->blocks_done, is_last)) return;
  BlockTotals of_very_long(shared);
  for (std::uint32_t i = threadIdx.x; i < very_long_rows; i += element_threads)
    of_very_long.take(__ldcg(products + list[rows - 1 - i]));
  of_very_long.add_to(counters->all);
  __threadfence();
  __syncthreads();
  write_to_host(counters->all, mailbox);
}

// Totals of rows with known numbers of products; one thread per row.
__global__ void __launch_bounds__(element_threads)
    count_bins_kernel(std::int64_t rows, const std::uint64_t* products, Counters* counters,
                      RowTotals* mailbox) {
  __shared__ RowTotals shared;
  __shared__ bool is_last;
  BlockTotals totals(shared);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = global_thread(); row < rows; row += stride) totals.take(products[row]);
  totals.add_to(counters->all);
  if (is_last_block(&counters->blocks_done, is_last)) write_to_host(counters->all, mailbox);
}

/// Rows per thread of list_rows_kernel. Fewer blocks cause less contention on the counters.
constexpr int kListedRows = 4;
constexpr std::int64_t kListedRowsOfBlock = kListedRows * element_threads;

// Lists rows by bin. Each block allocates list elements in every bin for its 1024 rows, and staging
// slots for its small and medium rows; every 32 consecutive rows stay in order.
//
//   thread t of warp w   rows 128 w + t % 32 + {0, 32, 64, 96} of the block
//
// The kernel also sets the counts of empty rows to 0, since no other kernel processes them.
__global__ void __launch_bounds__(element_threads)
    list_rows_kernel(std::int64_t rows, const std::uint64_t* products, Counters* counters,
                     std::uint32_t* list, std::uint32_t* slots, std::int64_t* counts) {
  __shared__ std::uint32_t in_bin[RowBins::count];
  __shared__ std::uint32_t begin[RowBins::count];
  __shared__ std::uint32_t warp_slots[element_threads / 32];
  __shared__ std::uint32_t first_slot;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t first_row =
      blockIdx.x * kListedRowsOfBlock + warp * std::int64_t{32 * kListedRows} + lane;
  std::uint32_t bins[kListedRows];
  std::uint32_t own_slots[kListedRows];
  std::uint32_t slot_ends[kListedRows];  // relative to the warp
  std::uint32_t slots_of_warp = 0;
#pragma unroll
  for (int i = 0; i < kListedRows; ++i) {
    const std::int64_t row = first_row + 32 * i;
    const std::uint64_t own = row < rows ? products[row] : 0;
    const int bin = bin_of(own);
    bins[i] = static_cast<std::uint32_t>(bin);
    own_slots[i] = has_slots(bin) ? static_cast<std::uint32_t>(slots_of_row(own)) : 0u;
    const std::uint32_t up_to = inclusive_sum_in_warp(own_slots[i]);
    slot_ends[i] = slots_of_warp + up_to;
    slots_of_warp += from_lane(up_to, 31);
  }
  if (lane == 0) warp_slots[warp] = slots_of_warp;
  if (threadIdx.x < RowBins::count) in_bin[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t in_list[kListedRows];  // position among the block's rows of the bin
#pragma unroll
  for (int i = 0; i < kListedRows; ++i) in_list[i] = take_places(in_bin, static_cast<int>(bins[i]));
  __syncthreads();
  if (threadIdx.x > 0 && threadIdx.x < RowBins::count && in_bin[threadIdx.x] != 0) {
    std::uint32_t before = 0;
    for (int b = 1; b < static_cast<int>(threadIdx.x); ++b) before += counters->all.rows[b];
    begin[threadIdx.x] = before + atomicAdd(&counters->taken[threadIdx.x], in_bin[threadIdx.x]);
  }
  if (threadIdx.x == element_threads - 1) {
    std::uint32_t of_block = 0;
    for (const std::uint32_t of_warp : warp_slots) of_block += of_warp;
    first_slot = of_block == 0 ? 0 : atomicAdd(&counters->taken_slots, of_block);
  }
  __syncthreads();
  std::uint32_t before_warp = first_slot;
  for (unsigned w = 0; w < warp; ++w) before_warp += warp_slots[w];
#pragma unroll
  for (int i = 0; i < kListedRows; ++i) {
    const std::int64_t row = first_row + 32 * i;
    if (row > rows) return;
    if (bins[i] != 0) {
      list[begin[bins[i]] + in_list[i]] = static_cast<std::uint32_t>(row);
    } else {
      counts[row] = 0;
    }
    if (row < rows)
      slots[row] = own_slots[i] == 0 ? no_slot : before_warp + slot_ends[i] - own_slots[i];
  }
}

/// Lists the rows and waits for the totals in `mailbox`.
RowBins list_rows(const std::uint64_t* products, std::int64_t rows, Counters* counters,
                  DeviceBuffer<std::uint32_t> list, std::int64_t* counts,
                  PinnedMailbox<RowTotals>& mailbox, const std::function<void()>& meanwhile,
                  cudaStream_t stream) {
  mailbox.mark();
  RowBins bins;
  bins.rows = std::move(list);
  bins.slots = DeviceBuffer<std::uint32_t>(rows, stream);
  list_rows_kernel<<<blocks_for(rows + 1, kListedRowsOfBlock), element_threads, 0, stream>>>(
      rows, products, counters, bins.rows.data(), bins.slots.data(), counts);
  check_cuda(cudaGetLastError());
  if (meanwhile) meanwhile();
  const RowTotals& found = mailbox.wait();
  bins.products = static_cast<std::int64_t>(found.products);
  bins.large_row_products = static_cast<std::int64_t>(found.large_row_products);
  bins.staged_entries = static_cast<std::int64_t>(found.slots * entries_per_slot);
  for (int bin = 1; bin < RowBins::count; ++bin)
    bins.begin[bin + 1] = bins.begin[bin] + found.rows[bin];
  return bins;
}

}  // namespace

template <class Value>
RowBins find_row_bins(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                      DeviceBuffer<std::uint64_t>& products, std::int64_t* counts,
                      cudaStream_t stream, const std::function<void()>& meanwhile) {
  if (a.rows == 0) {
    check_cuda(cudaMemsetAsync(counts, 0, sizeof(*counts), stream));
    return {};
  }
  const auto rows = static_cast<std::size_t>(a.rows);
  products = DeviceBuffer<std::uint64_t>(rows + kCounterWords, stream);
  auto* const counters = reinterpret_cast<Counters*>(products.data() + rows);
  check_cuda(cudaMemsetAsync(counters, 0, sizeof(Counters), stream));
  // The list of long rows is reused for the rows by bin.
  DeviceBuffer<std::uint32_t> list(rows, stream);
  // Few lanes for rows with few entries, so that no lane is idle.
  const int lanes = a.nnz < 6 * a.rows ? 2 : 8;
  const auto kernel = lanes == 2 ? count_products_kernel<2> : count_products_kernel<8>;
  constexpr unsigned most_blocks = 4224;
  kernel<<<std::min(blocks_for(a.rows, element_threads / lanes), most_blocks), element_threads, 0,
           stream>>>(a.rows, a.row_ptr, a.col_idx, b.row_ptr, products.data(), list.data(),
                     counters);
  check_cuda(cudaGetLastError());
  PinnedMailbox<RowTotals> mailbox(stream);
  const unsigned blocks = a.nnz > kMaxEntriesOfLanes ? 528 : 1;
  count_long_rows_kernel<<<blocks, element_threads, 0, stream>>>(
      a.rows, a.row_ptr, a.col_idx, b.row_ptr,
      reinterpret_cast<unsigned long long*>(products.data()), list.data(), counters,
      mailbox.on_device());
  check_cuda(cudaGetLastError());
  return list_rows(products.data(), a.rows, counters, std::move(list), counts, mailbox, meanwhile,
                   stream);
}

RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows, std::int64_t* counts,
                      cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> list(rows, stream);
  DeviceBuffer<Counters> counters(1, stream);
  check_cuda(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream));
  PinnedMailbox<RowTotals> mailbox(stream);
  count_bins_kernel<<<std::min(blocks_for(rows + 1), 1024u), element_threads, 0, stream>>>(
      rows, products, counters.data(), mailbox.on_device());
  check_cuda(cudaGetLastError());
  return list_rows(products, rows, counters.data(), std::move(list), counts, mailbox, {}, stream);
}

#define SORTIE_INSTANTIATE(Value)                                                           \
  template RowBins find_row_bins(const DeviceCsrView<Value>&, const DeviceCsrView<Value>&,  \
                                 DeviceBuffer<std::uint64_t>&, std::int64_t*, cudaStream_t, \
                                 const std::function<void()>&);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
