// SPDX-License-Identifier: Apache-2.0
#include "baselines/spgemm/cuda/sort_rows.hpp"

#include "apps/spgemm/cuda/essc/chunk_steps.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kWarpSize = 32;

/// Sets the flag if a row is not sorted; one warp per row. Lane l compares entries l, l + 32, ...
/// with the following entries.
__global__ void __launch_bounds__(element_threads)
    find_unsorted_kernel(const std::int64_t* row_ptr, std::int64_t rows,
                         const std::uint32_t* col_idx, int* unsorted) {
  const std::int64_t row = global_thread() / kWarpSize;
  if (row >= rows) return;
  const std::int64_t last = row_ptr[row + 1] - 1;
  for (std::int64_t i = row_ptr[row] + threadIdx.x % kWarpSize; i < last; i += kWarpSize) {
    if (col_idx[i] >= col_idx[i + 1]) *unsorted = 1;
  }
}

template <class Value>
bool rows_are_sorted(const DeviceCsr<Value>& matrix, cudaStream_t stream) {
  DeviceBuffer<int> unsorted(1, stream);
  check_cuda(cudaMemsetAsync(unsorted.data(), 0, sizeof(int), stream));
  find_unsorted_kernel<<<blocks_for(matrix.rows, element_threads / kWarpSize), element_threads, 0,
                         stream>>>(matrix.row_ptr.data(), matrix.rows, matrix.col_idx.data(),
                                   unsorted.data());
  check_cuda(cudaGetLastError());
  int found = 0;
  unsorted.copy_to({&found, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return found == 0;
}

/// Sorts the columns of each row into a new array, together with `payloads`.
template <class Value, class Payload>
DeviceBuffer<Payload> sort_with_columns(DeviceCsr<Value>& matrix, const Payload* payloads,
                                        cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> columns(matrix.col_idx.size(), stream);
  DeviceBuffer<Payload> sorted(matrix.col_idx.size(), stream);
  const std::int64_t* const row_ptr = matrix.row_ptr.data();
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    check_cuda(DeviceSegmentedSort::SortPairs(scratch, bytes, matrix.col_idx.data(), columns.data(),
                                              payloads, sorted.data(), matrix.nnz(), matrix.rows,
                                              row_ptr, row_ptr + 1, stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  DeviceBuffer<char> scratch(bytes, stream);
  sort(scratch.data(), bytes);
  matrix.col_idx = std::move(columns);
  return sorted;
}

}  // namespace

template <class Value>
void sort_rows(DeviceCsr<Value>& matrix, cudaStream_t stream) {
  if (matrix.nnz() == 0 || rows_are_sorted(matrix, stream)) return;
  if constexpr (payload_is_index<Value>) {
    const std::int64_t nnz = matrix.nnz();
    DeviceBuffer<std::uint32_t> numbers(matrix.col_idx.size(), stream);
    for_each_item<std::int64_t>(
        nnz,
        [out = numbers.data()] __device__(std::int64_t i) {
          out[i] = static_cast<std::uint32_t>(i);
        },
        stream);
    const DeviceBuffer<std::uint32_t> order =
        sort_with_columns(matrix, static_cast<const std::uint32_t*>(numbers.data()), stream);
    DeviceBuffer<Value> sorted(matrix.values.size(), stream);
    for_each_item<std::int64_t>(
        nnz,
        [out = sorted.data(), from = order.data(),
         values = matrix.values.data()] __device__(std::int64_t i) { out[i] = values[from[i]]; },
        stream);
    matrix.values = std::move(sorted);
  } else {
    const Value* const values = matrix.values.data();
    matrix.values = sort_with_columns(matrix, values, stream);
  }
}

template void sort_rows(DeviceCsr<float>&, cudaStream_t);
template void sort_rows(DeviceCsr<double>&, cudaStream_t);
template void sort_rows(DeviceCsr<std::complex<double>>&, cudaStream_t);

}  // namespace sortie::spgemm::cuda
