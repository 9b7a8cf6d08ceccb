// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_csr.hpp"

#include <cusparse.h>
#include <fmt/format.h>

#include <complex>
#include <type_traits>

#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/check_cusparse.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

template <class Value>
constexpr cudaDataType cusparse_type = CUDA_R_32F;
template <>
constexpr cudaDataType cusparse_type<double> = CUDA_R_64F;
template <>
constexpr cudaDataType cusparse_type<std::complex<double>> = CUDA_C_64F;

/// The results of cusparseConstCsrGet.
struct LibraryCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const void* row_ptr = nullptr;
  const void* col_idx = nullptr;
  const void* values = nullptr;
  cusparseIndexType_t row_ptr_type{};
  cusparseIndexType_t col_idx_type{};
  cusparseIndexBase_t base{};
  cudaDataType value_type{};
};

LibraryCsr arrays_of(cusparseConstSpMatDescr_t descriptor) {
  cusparseFormat_t format{};
  check_cusparse(cusparseSpMatGetFormat(descriptor, &format));
  if (format != CUSPARSE_FORMAT_CSR)
    throw Error(ErrorKind::usage,
                fmt::format("SpGEMM on CUDA: found a cuSPARSE matrix of format {}, expected "
                            "CUSPARSE_FORMAT_CSR ({})",
                            static_cast<int>(format), static_cast<int>(CUSPARSE_FORMAT_CSR)));
  LibraryCsr found;
  check_cusparse(cusparseConstCsrGet(
      descriptor, &found.rows, &found.cols, &found.nnz, &found.row_ptr, &found.col_idx,
      &found.values, &found.row_ptr_type, &found.col_idx_type, &found.base, &found.value_type));
  if (found.base != CUSPARSE_INDEX_BASE_ZERO)
    throw Error(ErrorKind::unavailable,
                "SpGEMM on CUDA: found a cuSPARSE matrix with indices from 1, expected "
                "CUSPARSE_INDEX_BASE_ZERO");
  return found;
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
      throw Error(ErrorKind::unavailable,
                  fmt::format("SpGEMM on CUDA: found a cuSPARSE matrix with indices of type {}, "
                              "expected CUSPARSE_INDEX_32I or CUSPARSE_INDEX_64I",
                              static_cast<int>(type)));
  }
}

template <class Value, class Column>
BorrowedCsr<Value, Column> borrowed(const LibraryCsr& given, cudaStream_t stream) {
  if (given.value_type != cusparse_type<Value>)
    throw Error(
        ErrorKind::usage,
        fmt::format("SpGEMM on CUDA: found a cuSPARSE matrix with values of cudaDataType "
                    "{}, expected {}",
                    static_cast<int>(given.value_type), static_cast<int>(cusparse_type<Value>)));
  return with_indices(given.row_ptr_type, given.row_ptr, [&](const auto* row_ptr) {
    return with_indices(given.col_idx_type, given.col_idx, [&](const auto* col_idx) {
      return BorrowedCsr<Value, Column>(given.rows, given.cols, given.nnz, row_ptr, col_idx,
                                        static_cast<const Value*>(given.values), stream);
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
    row_ptr_ = DeviceBuffer<std::int64_t>(static_cast<std::size_t>(rows + 1), stream);
    convert(row_ptr, row_ptr_.data(), rows + 1, stream);
    view_.row_ptr = row_ptr_.data();
  }
  if constexpr (sizeof(ColumnIndex) == sizeof(Column)) {
    // Columns are non-negative: signed and unsigned columns have the same representation.
    view_.col_idx = reinterpret_cast<const Column*>(col_idx);
  } else if constexpr (is_narrow) {
    col_idx_ = DeviceBuffer<Column>(static_cast<std::size_t>(nnz), stream);
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
    : BorrowedCsr(borrowed<Value, Column>(arrays_of(descriptor), stream)) {}

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
#define SORTIE_INSTANTIATE(Value)                 \
  SORTIE_INSTANTIATE_COLUMN(Value, std::uint32_t) \
  SORTIE_INSTANTIATE_COLUMN(Value, std::uint64_t)
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
