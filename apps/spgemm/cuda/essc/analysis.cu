// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/essc/analysis.hpp"

#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

template <class Column>
void write_row_lengths(const Column* a_col_idx, std::int64_t nnz, const std::int64_t* b_row_ptr,
                       std::int64_t* lengths, cudaStream_t stream) {
  // One extra element 0, which the scan turns into the total.
  for_each_item<std::int64_t>(
      nnz + 1,
      [=] __device__(std::int64_t i) {
        lengths[i] =
            i < nnz ? b_row_ptr[a_col_idx[i] + std::int64_t{1}] - b_row_ptr[a_col_idx[i]] : 0;
      },
      stream);
}

template <class Offset>
DeviceBuffer<Offset> row_offsets(const std::int64_t* a_row_ptr, const std::int64_t* entry_offsets,
                                 std::int64_t rows, std::int64_t first_product,
                                 cudaStream_t stream) {
  DeviceBuffer<Offset> offsets(static_cast<std::size_t>(rows + 1), stream);
  Offset* const out = offsets.data();
  for_each_item<std::int64_t>(
      rows + 1,
      [=] __device__(std::int64_t i) {
        out[i] = static_cast<Offset>(entry_offsets[a_row_ptr[i]] - first_product);
      },
      stream);
  return offsets;
}

}  // namespace

template <class Value, class Column>
ProductCounts count_entry_products(const DeviceCsrView<Value, Column>& a,
                                   const DeviceCsrView<Value, Column>& b, cudaStream_t stream) {
  ProductCounts counts;
  const std::int64_t nnz = a.nnz;
  counts.entry_offsets = DeviceBuffer<std::int64_t>(static_cast<std::size_t>(nnz + 1), stream);
  std::int64_t* const offsets = counts.entry_offsets.data();
  write_row_lengths(a.col_idx, nnz, b.row_ptr, offsets, stream);
  exclusive_sum(offsets, nnz + 1, stream);
  check_cuda(cudaMemcpyAsync(&counts.total, offsets + nnz, sizeof(counts.total),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return counts;
}

std::vector<std::int64_t> row_offsets_on_host(const std::int64_t* a_row_ptr, std::int64_t rows,
                                              const ProductCounts& counts, cudaStream_t stream) {
  const auto offsets =
      row_offsets<std::int64_t>(a_row_ptr, counts.entry_offsets.data(), rows, 0, stream);
  std::vector<std::int64_t> host(offsets.size());
  offsets.copy_to(std::span(host));
  check_cuda(cudaStreamSynchronize(stream));
  return host;
}

DeviceBuffer<std::uint32_t> chunk_row_offsets(const std::int64_t* a_row_ptr,
                                              const ProductCounts& counts, std::int64_t first_row,
                                              std::int64_t rows, std::int64_t first_product,
                                              cudaStream_t stream) {
  return row_offsets<std::uint32_t>(a_row_ptr + first_row, counts.entry_offsets.data(), rows,
                                    first_product, stream);
}

#define SORTIE_INSTANTIATE(Value, Column)                                          \
  template ProductCounts count_entry_products(const DeviceCsrView<Value, Column>&, \
                                              const DeviceCsrView<Value, Column>&, cudaStream_t);
#define SORTIE_INSTANTIATE_VALUE(Value)    \
  SORTIE_INSTANTIATE(Value, std::uint32_t) \
  SORTIE_INSTANTIATE(Value, std::uint64_t)

SORTIE_INSTANTIATE_VALUE(float)
SORTIE_INSTANTIATE_VALUE(double)
SORTIE_INSTANTIATE_VALUE(std::complex<double>)

}  // namespace sortie::spgemm::cuda
