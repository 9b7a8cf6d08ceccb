// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/patterns/row_classes.hpp"

#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kClassThreads = 256;
/// Places of the table that are tried for a class.
constexpr std::uint32_t kTries = 64;

/// Hash table of the shared classes; the number of a class is its place.
struct ClassTable {
  unsigned long long* hashes;  ///< 0: free
  std::uint32_t* first_row;
};

/// The rows of a matrix; column_classes may be null.
struct Rows {
  std::int64_t count;
  const std::int64_t* row_ptr;
  const std::uint32_t* col_idx;
  const std::uint32_t* column_classes;
};

/// The place of a class with this hash; max_shared_classes if there is none.
__device__ std::uint32_t place_of(const ClassTable& table, std::uint64_t hash) {
  if (hash == 0) hash = 1;
  std::uint32_t place = hash % max_shared_classes;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    unsigned long long found = table.hashes[place];
    if (found == 0) found = atomicCAS(table.hashes + place, 0ull, hash);
    if (found == 0 || found == hash) return place;
    place = (place + 1) % max_shared_classes;
  }
  return max_shared_classes;
}

// Hashes every row, `Lanes` lanes per row, and enters it in the table.
template <int Lanes>
__global__ void __launch_bounds__(kClassThreads)
    hash_rows_kernel(const Rows rows, const ClassTable table, std::uint32_t* of_row) {
  const std::int64_t row = global_thread() / Lanes;
  const std::uint32_t lane = threadIdx.x % Lanes;
  std::uint64_t sum = 0;
  std::int64_t begin = 0;
  std::uint32_t length = 0;
  if (row < rows.count) {
    begin = rows.row_ptr[row];
    length = static_cast<std::uint32_t>(rows.row_ptr[row + 1] - begin);
  }
  const std::uint32_t* const columns = rows.col_idx + begin;
  for (std::uint32_t i = lane; i < length; i += Lanes) {
    const std::uint32_t column = columns[i];
    sum += pattern_hash(i, column - static_cast<std::uint32_t>(row));
    if (rows.column_classes != nullptr)
      sum += pattern_hash(i ^ 0x2bd1e995u, rows.column_classes[column]) << 8;
  }
  sum = sum_in_warp<Lanes>(sum);
  if (lane != 0 || row >= rows.count) return;
  const std::uint32_t place = place_of(table, finished_hash(sum, length));
  of_row[row] = place;
  const auto number = static_cast<std::uint32_t>(row);
  if (place < max_shared_classes && table.first_row[place] > number)
    atomicMin(table.first_row + place, number);
}

// Compares every row with the first row of its class, `Lanes` lanes per row. Rows that differ, and
// rows without a place, get classes of their own.
template <int Lanes>
__global__ void __launch_bounds__(kClassThreads)
    compare_rows_kernel(const Rows rows, std::uint32_t* first_row, std::uint32_t* own_classes,
                        std::uint32_t* of_row) {
  const std::int64_t row = global_thread() / Lanes;
  const std::uint32_t lane = threadIdx.x % Lanes;
  const std::uint32_t place = row < rows.count ? of_row[row] : 0;
  bool differs = place >= max_shared_classes;
  if (row < rows.count && !differs) {
    const std::uint32_t other = first_row[place];
    const std::int64_t begin = rows.row_ptr[row];
    const std::int64_t other_begin = rows.row_ptr[other];
    const auto length = static_cast<std::uint32_t>(rows.row_ptr[row + 1] - begin);
    differs = rows.row_ptr[other + std::int64_t{1}] - other_begin != length;
    const std::uint32_t distance = static_cast<std::uint32_t>(row) - other;
    for (std::uint32_t i = lane; i < length && !differs; i += Lanes) {
      const std::uint32_t column = rows.col_idx[begin + i];
      const std::uint32_t other_column = rows.col_idx[other_begin + i];
      differs = column - other_column != distance ||
                (rows.column_classes != nullptr &&
                 rows.column_classes[column] != rows.column_classes[other_column]);
    }
  }
  const unsigned group = full_warp >> (32 - Lanes) << (threadIdx.x % 32 / Lanes * Lanes);
  const bool any = (__ballot_sync(full_warp, differs) & group) != 0;
  if (lane != 0 || row >= rows.count || !any) return;
  const std::uint32_t own = max_shared_classes + atomicAdd(own_classes, 1u);
  of_row[row] = own;
  first_row[own] = static_cast<std::uint32_t>(row);
}

// Writes the hashes of the sampled rows, a warp per row.
__global__ void __launch_bounds__(kClassThreads)
    hash_samples_kernel(const Rows rows, std::uint64_t* hashes) {
  const std::int64_t sample = global_thread() / 32;
  const std::int64_t row = sampled_row(rows.count, sample);
  const std::int64_t begin = rows.row_ptr[row];
  const std::int64_t length = rows.row_ptr[row + 1] - begin;
  std::uint64_t sum = 0;
  if (length <= max_pattern_length) {
    for (std::uint32_t i = lane(); i < length; i += 32)
      sum += pattern_hash(i, rows.col_idx[begin + i] - static_cast<std::uint32_t>(row));
  }
  sum = sum_in_warp(sum);
  if (lane() == 0)
    hashes[sample] = length == 0 || length > max_pattern_length
                         ? no_pattern
                         : finished_hash(sum, static_cast<std::uint64_t>(length));
}

// Counts the samples whose hash is frequent, one block with a thread per sample.
__global__ void __launch_bounds__(pattern_samples)
    count_frequent_kernel(const std::uint64_t* hashes, std::uint32_t* in_frequent) {
  constexpr std::uint32_t places = 2 * pattern_samples;
  __shared__ unsigned long long table[places];
  __shared__ std::uint32_t counts[places];
  for (std::uint32_t i = threadIdx.x; i < places; i += pattern_samples) {
    table[i] = no_pattern;
    counts[i] = 0;
  }
  __syncthreads();
  const unsigned long long hash = hashes[threadIdx.x];
  std::uint32_t place = hash % places;
  if (hash != no_pattern) {
    for (;;) {
      const unsigned long long found =
          atomicCAS(table + place, static_cast<unsigned long long>(no_pattern), hash);
      if (found == no_pattern || found == hash) break;
      place = (place + 1) % places;
    }
    atomicAdd(counts + place, 1u);
  }
  __syncthreads();
  const bool is_frequent = hash != no_pattern && counts[place] >= frequent_pattern;
  const int found = __syncthreads_count(is_frequent ? 1 : 0);
  if (threadIdx.x == 0) *in_frequent = static_cast<std::uint32_t>(found);
}

template <int Lanes>
void classify(const Rows& rows, const ClassTable& table, RowClasses& classes, cudaStream_t stream) {
  const unsigned blocks = blocks_for(rows.count, kClassThreads / Lanes);
  hash_rows_kernel<Lanes><<<blocks, kClassThreads, 0, stream>>>(rows, table, classes.of_row.data());
  check_cuda(cudaGetLastError());
  compare_rows_kernel<Lanes><<<blocks, kClassThreads, 0, stream>>>(
      rows, classes.first_row.data(), classes.own_classes.data(), classes.of_row.data());
  check_cuda(cudaGetLastError());
}

}  // namespace

RowClasses find_row_classes(std::int64_t rows, std::int64_t nnz, const std::int64_t* row_ptr,
                            const std::uint32_t* col_idx, const std::uint32_t* column_classes,
                            cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(rows);
  DeviceBuffer<unsigned long long> hashes(max_shared_classes, stream);
  RowClasses classes{DeviceBuffer<std::uint32_t>(count, stream),
                     DeviceBuffer<std::uint32_t>(max_shared_classes + count, stream),
                     DeviceBuffer<std::uint32_t>(1, stream)};
  check_cuda(cudaMemsetAsync(hashes.data(), 0, hashes.bytes(), stream));
  check_cuda(cudaMemsetAsync(classes.first_row.data(), 0xff,
                             max_shared_classes * sizeof(std::uint32_t), stream));
  check_cuda(cudaMemsetAsync(classes.own_classes.data(), 0, sizeof(std::uint32_t), stream));
  if (rows == 0) return classes;
  const Rows all{rows, row_ptr, col_idx, column_classes};
  const ClassTable table{hashes.data(), classes.first_row.data()};
  // Few lanes per row: a row has few entries, and its sum takes a step for every power of two.
  if (nnz < 64 * rows) {
    classify<2>(all, table, classes, stream);
  } else {
    classify<8>(all, table, classes, stream);
  }
  return classes;
}

PatternSamples::PatternSamples(std::int64_t rows, const std::int64_t* row_ptr,
                               const std::uint32_t* col_idx, cudaStream_t stream)
    : hashes_(pattern_samples, stream), in_frequent_(stream) {
  hash_samples_kernel<<<pattern_samples * 32 / kClassThreads, kClassThreads, 0, stream>>>(
      Rows{rows, row_ptr, col_idx, nullptr}, hashes_.data());
  check_cuda(cudaGetLastError());
  count_frequent_kernel<<<1, pattern_samples, 0, stream>>>(hashes_.data(),
                                                           in_frequent_.on_device());
  check_cuda(cudaGetLastError());
  in_frequent_.mark();
}

}  // namespace sortie::spgemm::cuda
