// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_csr.hpp"

#include <complex>
#include <cstdint>
#include <span>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/append_to_host.hpp"
#include "core/cuda/check.hpp"

namespace sortie::spgemm::cuda {

template <class Column, class Value, class Idx>
DeviceCsr<Value, Column> to_device(const matrices::Csr<Value, Idx>& host, CUstream_st* stream) {
  DeviceCsr<Value, Column> device;
  device.rows = host.rows;
  device.cols = host.cols;
  device.row_ptr = DeviceBuffer<std::int64_t>(std::span(host.row_ptr), stream);
  device.values = DeviceBuffer<Value>(std::span(host.values), stream);
  device.col_idx = DeviceBuffer<Column>(host.col_idx.size(), stream);
  if (!host.col_idx.empty()) {
    if constexpr (sizeof(Column) == sizeof(Idx)) {
      // Columns are non-negative: signed and unsigned columns have the same representation.
      check_cuda(cudaMemcpyAsync(device.col_idx.data(), host.col_idx.data(), device.col_idx.bytes(),
                                 cudaMemcpyHostToDevice, stream));
    } else {
      const DeviceBuffer<Idx> as_given(std::span(host.col_idx), stream);
      convert(as_given.data(), device.col_idx.data(), device.nnz(), stream);
    }
  }
  check_cuda(cudaStreamSynchronize(stream));
  return device;
}

template <class Column, class Value, class Idx>
void append_entries(const DeviceBuffer<Column>& col_idx, const DeviceBuffer<Value>& values,
                    matrices::Csr<Value, Idx>& host) {
  const std::size_t count = col_idx.size();
  if (count == 0) return;
  const cudaStream_t stream = col_idx.stream();
  if constexpr (sizeof(Column) == sizeof(Idx)) {
    append_to_host(col_idx.data(), count, host.col_idx, stream);
  } else {
    DeviceBuffer<Idx> converted(count, stream);
    convert(col_idx.data(), converted.data(), static_cast<std::int64_t>(count), stream);
    append_to_host(converted.data(), count, host.col_idx, stream);
  }
  append_to_host(values.data(), count, host.values, stream);
}

template <class Idx, class Column, class Value>
matrices::Csr<Value, Idx> to_host(const DeviceCsr<Value, Column>& device) {
  matrices::Csr<Value, Idx> host;
  host.rows = device.rows;
  host.cols = device.cols;
  host.row_ptr.resize(device.row_ptr.size());
  device.row_ptr.copy_to(std::span(host.row_ptr));
  check_cuda(cudaStreamSynchronize(device.row_ptr.stream()));
  append_entries(device.col_idx, device.values, host);
  return host;
}

#define SORTIE_INSTANTIATE(Column, Value, Idx)                                          \
  template DeviceCsr<Value, Column> to_device<Column>(const matrices::Csr<Value, Idx>&, \
                                                      CUstream_st*);                    \
  template void append_entries(const DeviceBuffer<Column>&, const DeviceBuffer<Value>&, \
                               matrices::Csr<Value, Idx>&);                             \
  template matrices::Csr<Value, Idx> to_host<Idx>(const DeviceCsr<Value, Column>&);
#define SORTIE_INSTANTIATE_VALUE(Value)                  \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int32_t) \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int64_t) \
  SORTIE_INSTANTIATE(std::uint64_t, Value, std::int64_t)

SORTIE_INSTANTIATE_VALUE(float)
SORTIE_INSTANTIATE_VALUE(double)
SORTIE_INSTANTIATE_VALUE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
