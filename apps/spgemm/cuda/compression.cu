#include "sortie/apps/spgemm/cuda/compression.hpp"
#include "sortie/apps/spgemm/cuda/launch.cuh"
#include "sortie/apps/spgemm/cuda/scan.hpp"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kWarpSize = 32;
constexpr int kWarps = kBlockThreads / kWarpSize;
constexpr unsigned kAllLanes = 0xffffffff;

/// Rounds of 32 products that each warp looks at; the heads of all of them stay in registers.
constexpr int kRounds = 8;
constexpr int kTileProducts = kBlockThreads * kRounds;

/// Runs longer than this are summed by a whole warp. A lane alone takes one step a product while
/// its 31 neighbours may wait; the warp takes length / 32 + 5 steps, but for one run at a time. Set
/// by that count (break-even near 32 when one run in a warp is long), not yet by measurement.
constexpr std::uint32_t kLongestRunOfOneLane = 48;

/// Bit p is set where a row begins at product p; null where keys hold the row.
struct RowStarts {
  const std::uint32_t* bits;

  /// The 32 bits from product p on; p is a multiple of 32.
  __device__ std::uint32_t word(std::int64_t p) const {
    return bits == nullptr ? 0 : bits[p / kWarpSize];
  }
};

void mark_row_starts(const std::uint32_t* row_offsets, std::int64_t rows, std::uint32_t* bits,
                     cudaStream_t stream) {
  for_each(rows, stream, [=] __device__(std::int64_t row) {
    const std::uint32_t begin = row_offsets[row];
    if (begin < row_offsets[row + 1]) atomicOr(&bits[begin / kWarpSize], 1U << (begin % kWarpSize));
  });
}

/// Which of the 32 products from `first` on (a multiple of 32) begin a run: one bit each, the same
/// in all lanes. Lane l looks at product first + l.
template <class Key>
__device__ unsigned run_heads(const Key* keys, std::int64_t products, RowStarts row_starts,
                              std::int64_t first, int lane) {
  const std::int64_t p = first + lane;
  const bool head = p < products && (p == 0 || keys[p] != keys[p - 1] ||
                                     (row_starts.word(first) >> lane & 1U) != 0);
  return __ballot_sync(kAllLanes, head);
}

// Products of a tile: warp w holds kRounds * 32 consecutive ones from w * kRounds * 32 on, lane l
// of it the l-th of every round. Counting and writing both see the tile this way.
__device__ inline std::int64_t first_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kTileProducts +
         static_cast<std::int64_t>(threadIdx.x / kWarpSize) * (kRounds * kWarpSize);
}

// One block counts the run heads of one tile.
template <class Key>
__global__ void __launch_bounds__(kBlockThreads)
    count_heads_kernel(const Key* keys, std::int64_t products, RowStarts row_starts,
                       std::int64_t* tile_heads) {
  __shared__ int warp_heads[kWarps];
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  const std::int64_t first = first_of_warp();
  int heads = 0;
#pragma unroll
  for (int round = 0; round < kRounds; ++round)
    heads += __popc(run_heads(keys, products, row_starts, first + round * kWarpSize, lane));
  if (lane == 0) warp_heads[threadIdx.x / kWarpSize] = heads;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::int64_t sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += warp_heads[w];
    tile_heads[blockIdx.x] = sum;
  }
}

// One block writes start and column of the runs that begin in one tile, from place
// tile_runs[blockIdx.x] on.
template <class Key, class Column>
__global__ void __launch_bounds__(kBlockThreads)
    write_runs_kernel(const Key* keys, std::int64_t products, RowStarts row_starts,
                      const std::int64_t* tile_runs, Key column_mask, std::uint32_t* starts,
                      Column* columns) {
  __shared__ int warp_heads[kWarps];
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  const int warp = static_cast<int>(threadIdx.x / kWarpSize);
  const std::int64_t first = first_of_warp();
  unsigned heads[kRounds];
  int count = 0;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    heads[round] = run_heads(keys, products, row_starts, first + round * kWarpSize, lane);
    count += __popc(heads[round]);
  }
  if (lane == 0) warp_heads[warp] = count;
  __syncthreads();
  std::int64_t place = tile_runs[blockIdx.x];
  for (int w = 0; w < warp; ++w) place += warp_heads[w];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    if ((heads[round] >> lane & 1U) != 0) {
      const std::int64_t p = first + round * kWarpSize + lane;
      const std::int64_t run = place + __popc(heads[round] & ((1U << lane) - 1));
      starts[run] = static_cast<std::uint32_t>(p);
      columns[run] = static_cast<Column>(keys[p] & column_mask);
    }
    place += __popc(heads[round]);
  }
}

/// Product i of the sorted order.
template <class Value>
struct SortedProducts {
  const PayloadType<Value>* payloads;
  const Value* products;

  __device__ Value operator[](std::int64_t i) const {
    if constexpr (Payload<Value>::is_number) {
      return products[payloads[i]];
    } else {
      return payloads[i];
    }
  }
};

template <class Value>
__device__ Value add(Value a, Value b) {
  if constexpr (Payload<Value>::is_number) {
    return {a.real() + b.real(), a.imag() + b.imag()};
  } else {
    return a + b;
  }
}

/// The value that the lane `delta` above holds.
template <class Value>
__device__ Value from_lane_above(Value value, int delta) {
  if constexpr (Payload<Value>::is_number) {
    return {__shfl_down_sync(kAllLanes, value.real(), delta),
            __shfl_down_sync(kAllLanes, value.imag(), delta)};
  } else {
    return __shfl_down_sync(kAllLanes, value, delta);
  }
}

/// Sum of `length` >= 32 products from `begin` on, by a whole warp; lane 0 gets it. Lane l adds
/// products l, l + 32, ... in order, then a fixed tree adds the lanes.
template <class Value>
__device__ Value sum_by_warp(SortedProducts<Value> product, std::uint32_t begin,
                             std::uint32_t length, int lane) {
  Value sum = product[std::int64_t{begin} + lane];
#pragma unroll 4
  for (std::int64_t i = lane + kWarpSize; i < length; i += kWarpSize)
    sum = add(sum, product[begin + i]);
#pragma unroll
  for (int delta = kWarpSize / 2; delta > 0; delta /= 2)
    sum = add(sum, from_lane_above(sum, delta));
  return sum;
}

// Thread j holds run j. A short run is summed by its thread from front to back; then the warp
// gathers around the long runs of its threads, one after another.
template <class Value>
__global__ void __launch_bounds__(kBlockThreads)
    sum_runs_kernel(const std::uint32_t* starts, std::int64_t runs, std::int64_t products,
                    SortedProducts<Value> product, Value* sums) {
  const std::int64_t run = global_thread();
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  std::uint32_t begin = 0;
  std::uint32_t length = 0;
  if (run < runs) {
    begin = starts[run];
    const std::int64_t end = run + 1 < runs ? std::int64_t{starts[run + 1]} : products;
    length = static_cast<std::uint32_t>(end - begin);
  }
  if (length > 0 && length <= kLongestRunOfOneLane) {
    Value sum = product[begin];
    for (std::uint32_t i = 1; i < length; ++i) sum = add(sum, product[std::int64_t{begin} + i]);
    sums[run] = sum;
  }
  unsigned long_runs = __ballot_sync(kAllLanes, length > kLongestRunOfOneLane);
  while (long_runs != 0) {
    const int owner = __ffs(static_cast<int>(long_runs)) - 1;
    long_runs &= long_runs - 1;
    const Value sum = sum_by_warp(product, __shfl_sync(kAllLanes, begin, owner),
                                  __shfl_sync(kAllLanes, length, owner), lane);
    if (lane == 0) sums[run + owner] = sum;
  }
}

}  // namespace

template <class Column, class Key>
Runs<Column> find_runs(const Key* keys, std::int64_t products, const std::uint32_t* row_offsets,
                       std::int64_t rows, KeyLayout layout, cudaStream_t stream) {
  Runs<Column> runs;
  runs.products = products;
  if (products == 0) return runs;

  DeviceBuffer<std::uint32_t> row_start_bits;
  if (!layout.holds_row()) {
    row_start_bits = DeviceBuffer<std::uint32_t>(blocks_for(products, kWarpSize), stream);
    check_cuda(cudaMemsetAsync(row_start_bits.data(), 0, row_start_bits.bytes(), stream));
    mark_row_starts(row_offsets, rows, row_start_bits.data(), stream);
  }
  const RowStarts row_starts{row_start_bits.data()};

  // The scan turns the closing 0 into the number of all runs.
  const unsigned tiles = blocks_for(products, kTileProducts);
  DeviceBuffer<std::int64_t> tile_runs(std::size_t{tiles} + 1, stream);
  check_cuda(cudaMemsetAsync(tile_runs.data() + tiles, 0, sizeof(std::int64_t), stream));
  count_heads_kernel<<<tiles, kBlockThreads, 0, stream>>>(keys, products, row_starts,
                                                          tile_runs.data());
  check_cuda(cudaGetLastError());
  exclusive_sum(tile_runs.data(), std::int64_t{tiles} + 1, stream);
  std::int64_t count = 0;
  check_cuda(cudaMemcpyAsync(&count, tile_runs.data() + tiles, sizeof(count),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));

  runs.starts = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(count), stream);
  runs.columns = DeviceBuffer<Column>(static_cast<std::size_t>(count), stream);
  const Key column_mask =
      layout.holds_row() ? (Key{1} << layout.column_bits) - 1 : static_cast<Key>(~Key{0});
  write_runs_kernel<<<tiles, kBlockThreads, 0, stream>>>(keys, products, row_starts,
                                                         tile_runs.data(), column_mask,
                                                         runs.starts.data(), runs.columns.data());
  check_cuda(cudaGetLastError());
  return runs;
}

void write_row_ends(const std::uint32_t* run_starts, std::int64_t runs,
                    const std::uint32_t* row_offsets, std::int64_t rows, std::int64_t first,
                    std::int64_t* row_ends, cudaStream_t stream) {
  for_each(rows, stream, [=] __device__(std::int64_t row) {
    // Every row that is not empty begins a run, so runs before its end are those that start there.
    const std::uint32_t end = row_offsets[row + 1];
    std::int64_t low = 0;
    std::int64_t high = runs;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (run_starts[middle] < end) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    row_ends[row] = first + low;
  });
}

template <class Value, class Column>
void sum_runs(const Runs<Column>& runs, const PayloadType<Value>* payloads, const Value* products,
              Value* sums, cudaStream_t stream) {
  const std::int64_t count = runs.count();
  if (count == 0) return;
  sum_runs_kernel<<<blocks_for(count), kBlockThreads, 0, stream>>>(
      runs.starts.data(), count, runs.products, SortedProducts<Value>{payloads, products}, sums);
  check_cuda(cudaGetLastError());
}

#define SORTIE_INSTANTIATE_RUNS(Column, Key)                                                    \
  template Runs<Column> find_runs(const Key*, std::int64_t, const std::uint32_t*, std::int64_t, \
                                  KeyLayout, cudaStream_t);
#define SORTIE_INSTANTIATE_SUMS(Value, Column)                                                 \
  template void sum_runs(const Runs<Column>&, const PayloadType<Value>*, const Value*, Value*, \
                         cudaStream_t);

SORTIE_INSTANTIATE_RUNS(std::uint32_t, std::uint32_t)
SORTIE_INSTANTIATE_RUNS(std::uint32_t, std::uint64_t)
SORTIE_INSTANTIATE_RUNS(std::uint64_t, std::uint64_t)
SORTIE_INSTANTIATE_SUMS(float, std::uint32_t)
SORTIE_INSTANTIATE_SUMS(float, std::uint64_t)
SORTIE_INSTANTIATE_SUMS(double, std::uint32_t)
SORTIE_INSTANTIATE_SUMS(double, std::uint64_t)
SORTIE_INSTANTIATE_SUMS(std::complex<double>, std::uint32_t)
SORTIE_INSTANTIATE_SUMS(std::complex<double>, std::uint64_t)

}  // namespace sortie::spgemm::cuda
