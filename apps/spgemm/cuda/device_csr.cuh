#pragma once

#include <complex>
#include <cstdint>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::cuda {

/// A sparse matrix in device memory, in compressed sparse row form as matrices::Csr.
///
/// \tparam Column  std::uint32_t, or std::uint64_t for matrices of more than 2^32 columns
template <class Value, class Column = std::uint32_t>
struct DeviceCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DeviceBuffer<std::int64_t> row_ptr;  ///< rows + 1 offsets, from 0
  DeviceBuffer<Column> col_idx;        ///< nnz columns
  DeviceBuffer<Value> values;          ///< nnz entries

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
};

/// True when column numbers from 0 to cols - 1 do not fit std::uint32_t.
[[nodiscard]] constexpr bool needs_wide_columns(std::int64_t cols) {
  return cols > (std::int64_t{1} << 32);
}

/// Copies a host matrix to the current device; the stream is synchronised before it returns.
/// \pre the column numbers fit Column (see needs_wide_columns)
/// \throws Error (out_of_memory, device)
template <class Column, class Value, class Idx>
[[nodiscard]] DeviceCsr<Value, Column> to_device(const matrices::Csr<Value, Idx>& host,
                                                 cudaStream_t stream);

/// Appends columns and values of a device matrix, or of some rows of one, to those of a host
/// matrix; the stream is synchronised before it returns. row_ptr is left alone. \throws Error
/// (out_of_memory, device)
template <class Column, class Value, class Idx>
void append_entries(const DeviceBuffer<Column>& col_idx, const DeviceBuffer<Value>& values,
                    matrices::Csr<Value, Idx>& host);

/// Copies a device matrix to the host; the stream is synchronised before it returns.
/// \throws Error (out_of_memory, device)
template <class Idx, class Column, class Value>
[[nodiscard]] matrices::Csr<Value, Idx> to_host(const DeviceCsr<Value, Column>& device);

}  // namespace sortie::spgemm::cuda
