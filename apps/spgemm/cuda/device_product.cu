// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/device_product.hpp"

#include <complex>
#include <cub/device/device_scan.cuh>

#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {

template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = static_cast<To>(from[i]); }, stream);
}

void shift_offsets(const std::int64_t* from, std::int64_t amount, std::int64_t* to,
                   std::int64_t count, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = from[i] + amount; }, stream);
}

void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, data, data, count, stream);
  });
}

template <class Value>
void gather_rows(const RowsToGather& gathered, const DeviceCsrView<Value>& from,
                 std::uint32_t* to_col_idx, Value* to_values, cudaStream_t stream) {
  // By entries, since rows may be of very different lengths.
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(gathered.end - gathered.begin),
      [=] __device__(std::int64_t i) {
        const std::int64_t to = gathered.begin + i;
        std::int64_t row = 0;  // the last that begins at or before `to`
        for (std::int64_t end = gathered.count; end - row > 1;) {
          const std::int64_t middle = (row + end) / 2;
          (gathered.offsets[middle] <= to ? row : end) = middle;
        }
        const std::int64_t at = from.row_ptr[gathered.rows[row]] + to - gathered.offsets[row];
        if (to_col_idx != nullptr) to_col_idx[to] = from.col_idx[at];
        if (to_values != nullptr) to_values[to] = from.values[at];
      },
      stream);
}

void fill_ones(float* numbers, std::int64_t count, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { numbers[i] = 1; }, stream);
}

template void gather_rows(const RowsToGather&, const DeviceCsrView<float>&, std::uint32_t*, float*,
                          cudaStream_t);
template void gather_rows(const RowsToGather&, const DeviceCsrView<double>&, std::uint32_t*,
                          double*, cudaStream_t);
template void gather_rows(const RowsToGather&, const DeviceCsrView<std::complex<double>>&,
                          std::uint32_t*, std::complex<double>*, cudaStream_t);
template void convert(const std::int64_t*, std::uint32_t*, std::int64_t, cudaStream_t);
template void convert(const std::uint32_t*, std::int64_t*, std::int64_t, cudaStream_t);
template void convert(const std::int64_t*, std::int32_t*, std::int64_t, cudaStream_t);
template void convert(const std::int32_t*, std::int64_t*, std::int64_t, cudaStream_t);

}  // namespace sortie::spgemm::cuda
