// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>
#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "apps/spgemm/cuda/cusparse_functions.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/error.hpp"

/// Operands and result of the cuSPARSE SpGEMM functions. Internal.
namespace sortie::spgemm::cuda {

template <class Value>
inline constexpr cudaDataType cusparse_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType cusparse_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType cusparse_type<std::complex<double>> = CUDA_C_64F;

/// \throws Error (unavailable) `size` exceeds 2^31 - 1
inline void check_cusparse_size(std::string_view what, std::int64_t size) {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  if (size > limit) {
    throw Error(ErrorKind::unavailable,
                fmt::format("cuSPARSE SpGEMM: found {} {}, expected at most {}: it takes 32-bit "
                            "indices only",
                            size, what, limit));
  }
}

/// The row offsets of an operand in 32 bits. \throws Error (unavailable) a size exceeds 2^31 - 1
template <class Value>
[[nodiscard]] DeviceBuffer<std::int32_t> narrow_row_ptr(std::string_view operand,
                                                        const DeviceCsrView<Value>& matrix,
                                                        cudaStream_t stream) {
  check_cusparse_size(fmt::format("rows of {}", operand), matrix.rows);
  check_cusparse_size(fmt::format("columns of {}", operand), matrix.cols);
  check_cusparse_size(fmt::format("entries of {}", operand), matrix.nnz);
  DeviceBuffer<std::int32_t> narrow(static_cast<std::size_t>(matrix.rows + 1), stream);
  convert(matrix.row_ptr, narrow.data(), matrix.rows + 1, stream);
  return narrow;
}

struct CusparseDeleter {
  void operator()(cusparseContext* handle) const { static_cast<void>(cusparseDestroy(handle)); }
  void operator()(const cusparseSpMatDescr* matrix) const {
    static_cast<void>(cusparseDestroySpMat(matrix));
  }
  void operator()(cusparseSpGEMMDescr* descriptor) const {
    static_cast<void>(cusparseSpGEMM_destroyDescr(descriptor));
  }
};
using CusparseHandle = std::unique_ptr<cusparseContext, CusparseDeleter>;
using CusparseConstMatrix = std::unique_ptr<const cusparseSpMatDescr, CusparseDeleter>;
using CusparseMatrix = std::unique_ptr<cusparseSpMatDescr, CusparseDeleter>;
using CusparseDescriptor = std::unique_ptr<cusparseSpGEMMDescr, CusparseDeleter>;

[[nodiscard]] inline CusparseHandle create_cusparse_handle(cudaStream_t stream) {
  cusparseHandle_t handle = nullptr;
  check_cusparse(cusparseCreate(&handle));
  CusparseHandle owner(handle);
  check_cusparse(cusparseSetStream(handle, stream));
  return owner;
}

[[nodiscard]] inline CusparseDescriptor create_cusparse_descriptor() {
  cusparseSpGEMMDescr_t descriptor = nullptr;
  check_cusparse(cusparseSpGEMM_createDescr(&descriptor));
  return CusparseDescriptor(descriptor);
}

template <class Value>
[[nodiscard]] CusparseConstMatrix describe_operand(const DeviceCsrView<Value>& matrix,
                                                   const DeviceBuffer<std::int32_t>& row_ptr) {
  cusparseConstSpMatDescr_t descriptor = nullptr;
  check_cusparse(cusparseCreateConstCsr(&descriptor, matrix.rows, matrix.cols, matrix.nnz,
                                        row_ptr.data(), matrix.col_idx, matrix.values,
                                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO, cusparse_type<Value>));
  return CusparseConstMatrix(descriptor);
}

/// A matrix without entries.
[[nodiscard]] inline CusparseMatrix describe_result(std::int64_t rows, std::int64_t cols,
                                                    std::int32_t* row_ptr, cudaDataType type) {
  cusparseSpMatDescr_t descriptor = nullptr;
  check_cusparse(cusparseCreateCsr(&descriptor, rows, cols, 0, row_ptr, nullptr, nullptr,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                   type));
  return CusparseMatrix(descriptor);
}

/// Like check_cusparse(), for calls that not every version of the library supports for every type.
inline void check_cusparse_offers(cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) {
    throw Error(ErrorKind::unavailable,
                "cuSPARSE SpGEMM: CUSPARSE_STATUS_NOT_SUPPORTED: this version of the library does "
                "not have the algorithm for this type of values");
  }
  check_cusparse(status);
}

/// Operands in the form that cuSPARSE SpGEMM requires, with 32-bit offsets; the arrays of the
/// result; and the accounting of work space.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseArrays {
 public:
  /// Moves the result of the library out, with 64-bit offsets and columns ascending in every row.
  /// Rows in another order are sorted by segmented sort.
  [[nodiscard]] DeviceCsr<Value> take_result();

  /// Total bytes of work_buffer() since start_result(), including released buffers and excluding C.
  [[nodiscard]] std::uint64_t work_space() const { return work_space_; }

 protected:
  /// Creates a cuSPARSE handle and converts the row offsets of the operands to 32 bits. The
  /// context, and the arrays of `a` and `b`, must outlive this object.
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1
  CusparseArrays(const DeviceContext& context, const DeviceCsrView<Value>& a,
                 const DeviceCsrView<Value>& b);
  ~CusparseArrays() = default;

  /// Releases the last result and allocates the offsets of the next. They are zeroed if there are
  /// no products, otherwise written by the library.
  void start_result();
  /// False if an operand is empty: cuSPARSE rejects such matrices.
  [[nodiscard]] bool has_products() const { return a_.nnz != 0 && b_.nnz != 0; }

  [[nodiscard]] cusparseHandle_t handle() const { return handle_.get(); }
  [[nodiscard]] CusparseConstMatrix describe_a() const { return describe_operand(a_, a_row_ptr_); }
  [[nodiscard]] CusparseConstMatrix describe_b() const { return describe_operand(b_, b_row_ptr_); }
  [[nodiscard]] CusparseMatrix describe_c();

  /// Allocates the entries that the library has counted in `c`, and sets their pointers in `c`.
  /// \return false if there are no entries
  /// \throws Error (unavailable) more than 2^31 - 1 entries; (out_of_memory, device)
  [[nodiscard]] bool allocate_result(const CusparseMatrix& c);
  [[nodiscard]] bool result_has_entries() const { return c_values_.size() != 0; }

  /// \throws Error (out_of_memory) the total work space exceeds the context's budget
  [[nodiscard]] DeviceBuffer<char> work_buffer(std::size_t bytes);

 private:
  const DeviceContext& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  CusparseHandle handle_;
  DeviceBuffer<std::int32_t> a_row_ptr_;
  DeviceBuffer<std::int32_t> b_row_ptr_;
  DeviceBuffer<std::int32_t> c_row_ptr_;
  DeviceBuffer<std::uint32_t> c_col_idx_;
  DeviceBuffer<Value> c_values_;
  std::uint64_t work_space_ = 0;
};

}  // namespace sortie::spgemm::cuda
