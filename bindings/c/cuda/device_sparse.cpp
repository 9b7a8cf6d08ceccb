// SPDX-License-Identifier: Apache-2.0

// Products of matrices in device memory.

#include <cuda_runtime_api.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/c/cuda/element_kernels.hpp"
#include "bindings/c/sparse.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/device_spgemm_plan.hpp"

namespace sortie::c {
namespace {

using spgemm::cuda::BorrowedCsr;
using spgemm::cuda::DeviceCsr;
using spgemm::cuda::SpgemmPlan;

/// 32-bit columns of a result: signed, unless the matrix has more columns than that can number.
sortie_type column_type(std::int64_t cols) {
  return cols > (std::int64_t{1} << 31) ? SORTIE_U32 : SORTIE_I32;
}

template <class Value>
BorrowedCsr<Value> borrowed(const sortie_csr_view& view, CUstream_st* stream) {
  const auto with_columns = [&](const auto* columns) {
    const auto* const values = static_cast<const Value*>(view.values);
    return view.row_ptr_type == SORTIE_I32
               ? BorrowedCsr<Value>(view.rows, view.cols, view.nnz,
                                    static_cast<const std::int32_t*>(view.row_ptr), columns, values,
                                    stream)
               : BorrowedCsr<Value>(view.rows, view.cols, view.nnz,
                                    static_cast<const std::int64_t*>(view.row_ptr), columns, values,
                                    stream);
  };
  return view.col_idx_type == SORTIE_I32
             ? with_columns(static_cast<const std::int32_t*>(view.col_idx))
             : with_columns(static_cast<const std::int64_t*>(view.col_idx));
}

/// Whether B is A: then its row pointers are converted once.
bool are_same(const sortie_csr_view& a, const sortie_csr_view& b) {
  return a.row_ptr == b.row_ptr && a.col_idx == b.col_idx && a.values == b.values &&
         a.rows == b.rows && a.cols == b.cols && a.nnz == b.nnz &&
         a.row_ptr_type == b.row_ptr_type && a.col_idx_type == b.col_idx_type;
}

template <class Value>
class DeviceMatrix : public sortie_csr {
 public:
  DeviceMatrix(DeviceCsr<Value> matrix, int device) : matrix_(std::move(matrix)), device_(device) {}
  ~DeviceMatrix() override {
    release_on_device(device_, [this] { matrix_ = {}; });
  }

  [[nodiscard]] sortie_csr_view view() const override {
    return {matrix_.rows,
            matrix_.cols,
            matrix_.nnz(),
            SORTIE_I64,
            column_type(matrix_.cols),
            type_of<Value>,
            SORTIE_DEVICE_MEMORY,
            matrix_.row_ptr.data(),
            matrix_.col_idx.data(),
            matrix_.values.data()};
  }

  void copy(CUstream_st* stream, std::size_t row_ptr_bytes, void* row_ptr,
            std::size_t col_idx_bytes, void* col_idx, void* values) const override {
    const CurrentDevice scope(device_);
    const auto nnz = static_cast<std::uint64_t>(matrix_.nnz());
    if (row_ptr != nullptr)
      convert_indices(matrix_.row_ptr.data(), sizeof(std::int64_t), row_ptr, row_ptr_bytes,
                      matrix_.row_ptr.size(), stream);
    if (col_idx != nullptr)
      convert_indices(matrix_.col_idx.data(), sizeof(std::uint32_t), col_idx, col_idx_bytes, nnz,
                      stream);
    if (values != nullptr && nnz != 0)
      check_cuda(cudaMemcpyAsync(values, matrix_.values.data(), matrix_.values.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
  }

 private:
  DeviceCsr<Value> matrix_;
  int device_;
};

template <class Value>
class DevicePlan : public sortie_plan {
 public:
  DevicePlan(const Context& context, const sortie_csr_view& a, const sortie_csr_view& b,
             CUstream_st* stream)
      : device_(context.device),
        a_(borrowed<Value>(a, stream)),
        b_(borrowed<Value>(b, stream)),
        plan_(std::in_place, without_calls(context), a_->view(), b_->view(), stream) {}
  ~DevicePlan() override {
    release_on_device(device_, [this] {
      plan_.reset();
      b_.reset();
      a_.reset();
    });
  }

  [[nodiscard]] sortie_csr_view view() const override {
    return {plan_->rows(),
            plan_->cols(),
            plan_->nnz(),
            SORTIE_I64,
            column_type(plan_->cols()),
            type_of<Value>,
            SORTIE_DEVICE_MEMORY,
            plan_->row_ptr().data(),
            plan_->col_idx().data(),
            nullptr};
  }

  void multiply(const Context&, const void* a_values, const void* b_values,
                void* c_values) override {
    const CurrentDevice scope(device_);
    plan_->multiply(static_cast<const Value*>(a_values), static_cast<const Value*>(b_values),
                    static_cast<Value*>(c_values));
  }

 private:
  /// The plan outlives the call, and with it the caller's progress function.
  static Context without_calls(Context context) {
    context.progress = {};
    return context;
  }

  int device_;
  std::optional<BorrowedCsr<Value>> a_;  ///< own converted indices
  std::optional<BorrowedCsr<Value>> b_;
  std::optional<SpgemmPlan<Value>> plan_;
};

}  // namespace

std::unique_ptr<sortie_csr> multiply_on_device(const Context& context, const sortie_csr_view& a,
                                               const sortie_csr_view& b, CUstream_st* stream) {
  const DeviceScope device(context);
  return with_value_type(a.value_type, [&]<class Value>(Value) -> std::unique_ptr<sortie_csr> {
    const BorrowedCsr<Value> first = borrowed<Value>(a, stream);
    std::optional<BorrowedCsr<Value>> other;
    if (!are_same(a, b)) other.emplace(borrowed<Value>(b, stream));
    return std::make_unique<DeviceMatrix<Value>>(
        spgemm::cuda::multiply_on_device(context, first.view(), (other ? *other : first).view(),
                                         stream),
        context.device);
  });
}

std::unique_ptr<sortie_plan> plan_on_device(const Context& context, const sortie_csr_view& a,
                                            const sortie_csr_view& b, CUstream_st* stream) {
  const DeviceScope device(context);
  return with_value_type(a.value_type, [&]<class Value>(Value) -> std::unique_ptr<sortie_plan> {
    return std::make_unique<DevicePlan<Value>>(context, a, b, stream);
  });
}

}  // namespace sortie::c
