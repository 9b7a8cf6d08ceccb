#include "sortie/apps/spgemm/cuda/fused/row_bins.hpp"

#include "sortie/apps/spgemm/cuda/fused/row_places.hpp"
#include "sortie/apps/spgemm/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr unsigned all = 0xffffffffu;

/// Rows with more entries than this are left to a block each, those with more than that to all.
constexpr std::int64_t kMostEntriesOfLanes = 256;
constexpr std::int64_t kMostEntriesOfBlock = 32768;

/// Rows that count_products_kernel has left, listed from the front and from the back.
struct LongRows {
  std::uint32_t long_ones;
  std::uint32_t very_long_ones;
};

struct Counters {
  unsigned long long products;
  unsigned long long window_products;
  unsigned long long places;
  std::uint32_t rows[RowBins::count];   ///< of each bin
  std::uint32_t taken[RowBins::count];  ///< of the list, by each bin
  std::uint32_t taken_places;
};

__device__ __forceinline__ int bin_of(std::uint64_t products) {
  constexpr auto limits = RowBins::limits;
  int bin = 0;
#pragma unroll
  for (int i = 0; i + 1 < RowBins::count; ++i)
    bin += products > static_cast<std::uint64_t>(limits[i]) ? 1 : 0;
  return bin;
}

__device__ __forceinline__ bool is_sorted_bin(int bin) {
  return bin > 0 && bin < RowBins::sorted;
}

__device__ __forceinline__ std::uint64_t sum_over_warp(std::uint64_t value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all, value, distance);
  return value;
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

// `Lanes` lanes count the products of a row, going through its entries together; longer rows are
// listed.
template <int Lanes>
__global__ void __launch_bounds__(kBlockThreads)
    count_products_kernel(std::int64_t rows, const std::int64_t* a_row_ptr,
                          const std::uint32_t* a_col_idx, const std::int64_t* b_row_ptr,
                          std::uint64_t* products, std::uint32_t* list, LongRows* listed) {
  const std::int64_t row = global_thread() / Lanes;
  const int lane = static_cast<int>(threadIdx.x % Lanes);
  std::int64_t begin = 0;
  std::int64_t end = 0;
  if (row < rows) {
    begin = a_row_ptr[row];
    end = a_row_ptr[row + 1];
  }
  const bool is_long = end - begin > kMostEntriesOfLanes;
  std::uint64_t count =
      is_long ? 0 : count_products(a_col_idx, b_row_ptr, begin + lane, end, Lanes);
#pragma unroll
  for (int distance = Lanes / 2; distance > 0; distance /= 2)
    count += __shfl_xor_sync(all, count, distance);
  if (row >= rows || lane != 0) return;
  products[row] = count;
  if (end - begin > kMostEntriesOfBlock) {
    list[rows - 1 - atomicAdd(&listed->very_long_ones, 1)] = static_cast<std::uint32_t>(row);
  } else if (is_long) {
    list[atomicAdd(&listed->long_ones, 1)] = static_cast<std::uint32_t>(row);
  }
}

// A block counts the products of a long row at a time; all blocks together those of a row with very
// many entries.
__global__ void __launch_bounds__(kBlockThreads)
    count_long_rows_kernel(std::int64_t rows, const std::int64_t* a_row_ptr,
                           const std::uint32_t* a_col_idx, const std::int64_t* b_row_ptr,
                           unsigned long long* products, const std::uint32_t* list,
                           const LongRows* listed) {
  const auto add_products = [&](std::uint32_t row, std::int64_t first, std::int64_t stride) {
    const std::uint64_t count = sum_over_warp(count_products(
        a_col_idx, b_row_ptr, a_row_ptr[row] + first, a_row_ptr[row + std::int64_t{1}], stride));
    if (threadIdx.x % 32 == 0 && count != 0)
      atomicAdd(&products[row], static_cast<unsigned long long>(count));
  };
  for (std::uint32_t i = blockIdx.x; i < listed->long_ones; i += gridDim.x)
    add_products(list[i], threadIdx.x, kBlockThreads);
  for (std::uint32_t i = 0; i < listed->very_long_ones; ++i)
    add_products(list[rows - 1 - i], global_thread(),
                 static_cast<std::int64_t>(gridDim.x) * kBlockThreads);
}

__global__ void __launch_bounds__(kBlockThreads)
    count_bins_kernel(std::int64_t rows, const std::uint64_t* products, Counters* counters) {
  __shared__ std::uint32_t in_bin[RowBins::count];
  __shared__ unsigned long long sum;
  __shared__ unsigned long long window_sum;
  __shared__ unsigned long long place_sum;
  if (threadIdx.x < RowBins::count) in_bin[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    sum = 0;
    window_sum = 0;
    place_sum = 0;
  }
  __syncthreads();
  std::uint64_t count = 0;
  std::uint64_t window_count = 0;
  std::uint64_t places = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = global_thread(); row - threadIdx.x % 32 < rows; row += stride) {
    int bin = 0;
    if (row < rows) {
      const std::uint64_t own = products[row];
      bin = bin_of(own);
      count += own;
      if (is_sorted_bin(bin)) {
        places += places_of_row(own);
      } else {
        window_count += own;
      }
    }
    const unsigned members = __match_any_sync(all, bin);
    if ((members & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&in_bin[bin], __popc(members));
  }
  count = sum_over_warp(count);
  window_count = sum_over_warp(window_count);
  places = sum_over_warp(places);
  if (threadIdx.x % 32 == 0 && count != 0) {
    atomicAdd(&sum, static_cast<unsigned long long>(count));
    atomicAdd(&window_sum, static_cast<unsigned long long>(window_count));
    atomicAdd(&place_sum, static_cast<unsigned long long>(places));
  }
  __syncthreads();
  if (threadIdx.x < RowBins::count && in_bin[threadIdx.x] != 0)
    atomicAdd(&counters->rows[threadIdx.x], in_bin[threadIdx.x]);
  if (threadIdx.x == 0 && sum != 0) {
    atomicAdd(&counters->products, sum);
    atomicAdd(&counters->window_products, window_sum);
    atomicAdd(&counters->places, place_sum);
  }
}

// Each block finds room in every bin for its rows, which stay in order within it, and places for
// those that are sorted.
__global__ void __launch_bounds__(kBlockThreads)
    list_rows_kernel(std::int64_t rows, const std::uint64_t* products, Counters* counters,
                     std::uint32_t* list, std::uint32_t* places) {
  __shared__ std::uint32_t in_bin[RowBins::count];
  __shared__ std::uint32_t begin[RowBins::count];
  __shared__ std::uint32_t warp_places[kBlockThreads / 32];
  __shared__ std::uint32_t first_place;
  const std::int64_t row = global_thread();
  const std::uint64_t own = row < rows ? products[row] : 0;
  const int bin = bin_of(own);
  const auto own_places = is_sorted_bin(bin) ? static_cast<std::uint32_t>(places_of_row(own)) : 0u;
  std::uint32_t place_end = own_places;  // within the warp, then the block
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(all, place_end, distance);
    if (static_cast<int>(threadIdx.x % 32) >= distance) place_end += other;
  }
  if (threadIdx.x % 32 == 31) warp_places[threadIdx.x / 32] = place_end;
  if (threadIdx.x < RowBins::count) in_bin[threadIdx.x] = 0;
  __syncthreads();
  const unsigned members = __match_any_sync(all, bin);
  const unsigned below = members & ((1u << threadIdx.x % 32) - 1);
  std::uint32_t place = 0;
  if (below == 0) place = atomicAdd(&in_bin[bin], __popc(members));
  place = __shfl_sync(all, place, __ffs(static_cast<int>(members)) - 1) + __popc(below);
  __syncthreads();
  if (threadIdx.x > 0 && threadIdx.x < RowBins::count && in_bin[threadIdx.x] != 0) {
    std::uint32_t before = 0;
    for (int b = 1; b < static_cast<int>(threadIdx.x); ++b) before += counters->rows[b];
    begin[threadIdx.x] = before + atomicAdd(&counters->taken[threadIdx.x], in_bin[threadIdx.x]);
  }
  if (threadIdx.x == kBlockThreads - 1) {
    std::uint32_t of_block = 0;
    for (const std::uint32_t of_warp : warp_places) of_block += of_warp;
    first_place = of_block == 0 ? 0 : atomicAdd(&counters->taken_places, of_block);
  }
  __syncthreads();
  if (bin != 0) list[begin[bin] + place] = static_cast<std::uint32_t>(row);
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) place_end += warp_places[warp];
  if (row < rows) places[row] = own_places == 0 ? no_place : first_place + place_end - own_places;
}

}  // namespace

template <class Value>
DeviceBuffer<std::uint64_t> count_row_products(const DeviceCsrView<Value>& a,
                                               const DeviceCsrView<Value>& b, cudaStream_t stream) {
  DeviceBuffer<std::uint64_t> products(static_cast<std::size_t>(a.rows), stream);
  if (a.rows == 0) return products;
  // One buffer for the list and, behind it, how long it is.
  DeviceBuffer<std::uint32_t> list(
      static_cast<std::size_t>(a.rows) + sizeof(LongRows) / sizeof(std::uint32_t), stream);
  auto* const listed = reinterpret_cast<LongRows*>(list.data() + a.rows);
  check_cuda(cudaMemsetAsync(listed, 0, sizeof(LongRows), stream));
  // Few lanes for short rows, that none is idle.
  const int lanes = a.nnz < 6 * a.rows ? 2 : 8;
  const auto kernel = lanes == 2 ? count_products_kernel<2> : count_products_kernel<8>;
  kernel<<<blocks_for(a.rows, kBlockThreads / lanes), kBlockThreads, 0, stream>>>(
      a.rows, a.row_ptr, a.col_idx, b.row_ptr, products.data(), list.data(), listed);
  check_cuda(cudaGetLastError());
  if (a.nnz > kMostEntriesOfLanes) {
    constexpr unsigned blocks = 528;
    count_long_rows_kernel<<<blocks, kBlockThreads, 0, stream>>>(
        a.rows, a.row_ptr, a.col_idx, b.row_ptr,
        reinterpret_cast<unsigned long long*>(products.data()), list.data(), listed);
    check_cuda(cudaGetLastError());
  }
  return products;
}

RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows, cudaStream_t stream) {
  RowBins bins;
  if (rows == 0) return bins;
  bins.rows = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(rows), stream);
  bins.places = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(rows), stream);
  DeviceBuffer<Counters> counters(1, stream);
  check_cuda(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream));
  const unsigned blocks = blocks_for(rows);
  count_bins_kernel<<<std::min(blocks, 1024u), kBlockThreads, 0, stream>>>(rows, products,
                                                                           counters.data());
  check_cuda(cudaGetLastError());
  list_rows_kernel<<<blocks, kBlockThreads, 0, stream>>>(rows, products, counters.data(),
                                                         bins.rows.data(), bins.places.data());
  check_cuda(cudaGetLastError());
  Counters found{};
  counters.copy_to(std::span(&found, 1));
  check_cuda(cudaStreamSynchronize(stream));
  bins.products = static_cast<std::int64_t>(found.products);
  bins.window_products = static_cast<std::int64_t>(found.window_products);
  bins.room = static_cast<std::int64_t>(found.places * entries_of_place);
  for (int bin = 1; bin < RowBins::count; ++bin)
    bins.begin[bin + 1] = bins.begin[bin] + found.rows[bin];
  return bins;
}

template DeviceBuffer<std::uint64_t> count_row_products(const DeviceCsrView<float>&,
                                                        const DeviceCsrView<float>&, cudaStream_t);
template DeviceBuffer<std::uint64_t> count_row_products(const DeviceCsrView<double>&,
                                                        const DeviceCsrView<double>&, cudaStream_t);
template DeviceBuffer<std::uint64_t> count_row_products(const DeviceCsrView<std::complex<double>>&,
                                                        const DeviceCsrView<std::complex<double>>&,
                                                        cudaStream_t);

}  // namespace sortie::spgemm::cuda
