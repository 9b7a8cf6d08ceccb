// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_csr.hpp"

#include <cusparse.h>
#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/cusparse_functions.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_runtime.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

template <class Column, class Idx>
DeviceBuffer<Column> columns_to_device(const std::vector<Idx>& columns, cudaStream_t stream,
                                       int threads) {
  DeviceBuffer<Column> device(columns.size(), stream);
  if (columns.empty()) return device;
  const std::span<const Idx> items(columns);
  if constexpr (sizeof(Column) == sizeof(Idx)) {
    // Columns are non-negative: signed and unsigned columns have the same representation.
    copy_to_device_in_blocks(device.data(), std::as_bytes(items), stream, threads);
  } else {
    const DeviceBuffer<Idx> as_given = sortie::copied_to_device(items, stream, threads);
    convert(as_given.data(), device.data(), static_cast<std::int64_t>(device.size()), stream);
    check_cuda(cudaStreamSynchronize(stream));
  }
  return device;
}

template <class Column, class Value, class Idx>
DeviceCsr<Value, Column> copied_to_device(const matrices::Csr<Value, Idx>& host,
                                          cudaStream_t stream, int threads) {
  const auto copied = [&]<class T>(const std::vector<T>& items) {
    return sortie::copied_to_device(std::span<const T>(items), stream, threads);
  };
  DeviceBuffer<std::int64_t> row_ptr = copied(host.row_ptr);
  DeviceBuffer<Column> col_idx = columns_to_device<Column>(host.col_idx, stream, threads);
  return {host.rows, host.cols, std::move(row_ptr), std::move(col_idx), copied(host.values)};
}

template <class Column, class Value, class Idx>
DeviceCsr<Value, Column> to_device(const matrices::Csr<Value, Idx>& host, CUstream_st* stream) {
  return copied_to_device<Column>(host, stream, default_host_threads());
}

template <class Column, class Value, class Idx>
void append_entries(const DeviceBuffer<Column>& col_idx, const DeviceBuffer<Value>& values,
                    matrices::Csr<Value, Idx>& host, int threads) {
  const std::size_t count = col_idx.size();
  if (count == 0) return;
  const cudaStream_t stream = col_idx.stream();
  if constexpr (sizeof(Column) == sizeof(Idx)) {
    append_to_host(col_idx.data(), count, host.col_idx, stream, threads);
  } else {
    DeviceBuffer<Idx> converted(count, stream);
    convert(col_idx.data(), converted.data(), static_cast<std::int64_t>(count), stream);
    append_to_host(converted.data(), count, host.col_idx, stream, threads);
  }
  append_to_host(values.data(), count, host.values, stream, threads);
}

template <class Idx, class Column, class Value>
matrices::Csr<Value, Idx> to_host(const DeviceCsr<Value, Column>& device) {
  matrices::Csr<Value, Idx> host{
      device.rows, device.cols, std::vector<std::int64_t>(device.row_ptr.size()), {}, {}};
  device.row_ptr.copy_to(std::span(host.row_ptr));
  check_cuda(cudaStreamSynchronize(device.row_ptr.stream()));
  append_entries(device.col_idx, device.values, host);
  return host;
}

namespace {

template <class Value>
constexpr cudaDataType cusparse_type = CUDA_R_32F;
template <>
constexpr cudaDataType cusparse_type<double> = CUDA_R_64F;
template <>
constexpr cudaDataType cusparse_type<std::complex<double>> = CUDA_C_64F;

/// The error for a cuSPARSE matrix that no BorrowedCsr can refer to.
Error cusparse_error(ErrorKind kind, const std::string& found, const std::string& expected) {
  return {kind,
          fmt::format("SpGEMM on CUDA: found a cuSPARSE matrix {}, expected {}", found, expected)};
}

/// Calls function(pointer) with the index type of a descriptor.
template <class Function>
auto with_indices(cusparseIndexType_t type, const void* indices, Function&& function) {
  switch (type) {
    case CUSPARSE_INDEX_32I:
      return function(static_cast<const std::int32_t*>(indices));
    case CUSPARSE_INDEX_64I:
      return function(static_cast<const std::int64_t*>(indices));
    default:
      throw cusparse_error(ErrorKind::unavailable,
                           fmt::format("with indices of type {}", static_cast<int>(type)),
                           "CUSPARSE_INDEX_32I or CUSPARSE_INDEX_64I");
  }
}

template <class Value, class Column>
BorrowedCsr<Value, Column> borrowed(cusparseConstSpMatDescr_t descriptor, cudaStream_t stream) {
  const CusparseFunctions& cusparse = cusparse_functions();
  const auto check = [&](cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
      throw cusparse_error(ErrorKind::device,
                           fmt::format("that gives {}", cusparse.error_name(status)),
                           "a valid descriptor");
  };
  cusparseFormat_t format{};
  check(cusparse.get_format(descriptor, &format));
  if (format != CUSPARSE_FORMAT_CSR)
    throw cusparse_error(
        ErrorKind::usage, fmt::format("of format {}", static_cast<int>(format)),
        fmt::format("CUSPARSE_FORMAT_CSR ({})", static_cast<int>(CUSPARSE_FORMAT_CSR)));
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const void* row_indices = nullptr;
  const void* col_indices = nullptr;
  const void* values = nullptr;
  cusparseIndexType_t row_type{};
  cusparseIndexType_t col_type{};
  cusparseIndexBase_t base{};
  cudaDataType value_type{};
  check(cusparse.get_csr(descriptor, &rows, &cols, &nnz, &row_indices, &col_indices, &values,
                         &row_type, &col_type, &base, &value_type));
  if (base != CUSPARSE_INDEX_BASE_ZERO)
    throw cusparse_error(ErrorKind::unavailable, "with indices from 1", "CUSPARSE_INDEX_BASE_ZERO");
  if (value_type != cusparse_type<Value>)
    throw cusparse_error(
        ErrorKind::usage,
        fmt::format("with values of cudaDataType {}", static_cast<int>(value_type)),
        fmt::format("{}", static_cast<int>(cusparse_type<Value>)));
  return with_indices(row_type, row_indices, [&](const auto* row_ptr) {
    return with_indices(col_type, col_indices, [&](const auto* col_idx) {
      return BorrowedCsr<Value, Column>(rows, cols, nnz, row_ptr, col_idx,
                                        static_cast<const Value*>(values), stream);
    });
  });
}

}  // namespace

template <class Value, class Column>
template <class Offset, class ColumnIndex>
BorrowedCsr<Value, Column>::BorrowedCsr(std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                                        const Offset* row_ptr, const ColumnIndex* col_idx,
                                        const Value* values, CUstream_st* stream)
    : view_{rows, cols, nnz, nullptr, nullptr, values} {
  constexpr bool is_narrow = sizeof(Column) == sizeof(std::uint32_t);
  if (is_narrow && needs_wide_columns(cols))
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM on CUDA: found a matrix of {} columns, expected at most 2^32 "
                            "for 32-bit ones",
                            cols));
  if constexpr (std::is_same_v<Offset, std::int64_t>) {
    view_.row_ptr = row_ptr;
  } else {
    row_ptr_ = DeviceBuffer<std::int64_t>(rows + 1, stream);
    convert(row_ptr, row_ptr_.data(), rows + 1, stream);
    view_.row_ptr = row_ptr_.data();
  }
  if constexpr (sizeof(ColumnIndex) == sizeof(Column)) {
    // Columns are non-negative: signed and unsigned columns have the same representation.
    view_.col_idx = reinterpret_cast<const Column*>(col_idx);
  } else if constexpr (is_narrow) {
    col_idx_ = DeviceBuffer<Column>(nnz, stream);
    convert(reinterpret_cast<const std::int64_t*>(col_idx), col_idx_.data(), nnz, stream);
    view_.col_idx = col_idx_.data();
  } else {
    throw Error(ErrorKind::unavailable,
                "SpGEMM on CUDA: found 32-bit columns for a matrix of 64-bit ones, expected "
                "64-bit ones, or Column = std::uint32_t");
  }
}

template <class Value, class Column>
BorrowedCsr<Value, Column>::BorrowedCsr(const cusparseSpMatDescr* descriptor, CUstream_st* stream)
    : BorrowedCsr(borrowed<Value, Column>(descriptor, stream)) {}

#define SORTIE_INSTANTIATE(Column, Value, Idx)                                                 \
  template DeviceCsr<Value, Column> copied_to_device<Column>(const matrices::Csr<Value, Idx>&, \
                                                             cudaStream_t, int);               \
  template DeviceCsr<Value, Column> to_device<Column>(const matrices::Csr<Value, Idx>&,        \
                                                      CUstream_st*);                           \
  template void append_entries(const DeviceBuffer<Column>&, const DeviceBuffer<Value>&,        \
                               matrices::Csr<Value, Idx>&, int);                               \
  template matrices::Csr<Value, Idx> to_host<Idx>(const DeviceCsr<Value, Column>&);
#define SORTIE_INSTANTIATE_VALUE(Value)                  \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int32_t) \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int64_t) \
  SORTIE_INSTANTIATE(std::uint64_t, Value, std::int64_t)

SORTIE_INSTANTIATE_VALUE(float)
SORTIE_INSTANTIATE_VALUE(double)
SORTIE_INSTANTIATE_VALUE(std::complex<double>)

#define SORTIE_INSTANTIATE_OTHER_VALUE(Value)            \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int32_t) \
  SORTIE_INSTANTIATE(std::uint32_t, Value, std::int64_t)
// The other types of products over semirings.
SORTIE_INSTANTIATE_OTHER_VALUE(std::uint8_t)
SORTIE_INSTANTIATE_OTHER_VALUE(std::int32_t)
SORTIE_INSTANTIATE_OTHER_VALUE(std::int64_t)
SORTIE_INSTANTIATE_OTHER_VALUE(std::complex<float>)
SORTIE_INSTANTIATE_OTHER_VALUE(Float16)
SORTIE_INSTANTIATE_OTHER_VALUE(BFloat16)

template DeviceBuffer<std::uint32_t> columns_to_device(const std::vector<std::int32_t>&,
                                                       cudaStream_t, int);
template DeviceBuffer<std::uint32_t> columns_to_device(const std::vector<std::int64_t>&,
                                                       cudaStream_t, int);

#define SORTIE_INSTANTIATE_INDICES(Value, Column, Offset, ColumnIndex)                       \
  template BorrowedCsr<Value, Column>::BorrowedCsr(std::int64_t, std::int64_t, std::int64_t, \
                                                   const Offset*, const ColumnIndex*,        \
                                                   const Value*, CUstream_st*);
#define SORTIE_INSTANTIATE_COLUMN(Value, Column)                         \
  template class BorrowedCsr<Value, Column>;                             \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int32_t, std::int32_t)  \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int32_t, std::int64_t)  \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int32_t, std::uint32_t) \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int32_t, std::uint64_t) \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int64_t, std::int32_t)  \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int64_t, std::int64_t)  \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int64_t, std::uint32_t) \
  SORTIE_INSTANTIATE_INDICES(Value, Column, std::int64_t, std::uint64_t)
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE_COLUMN)

}  // namespace sortie::spgemm::cuda
