// SPDX-License-Identifier: Apache-2.0
#include "baselines/spgemm/cuda/cusp_for_cuda13.cuh"  // before CUSP

#include <cusp/csr_matrix.h>
#include <cusp/multiply.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/system_error.h>

#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "baselines/spgemm/cuda/sort_rows.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::baselines {

using cuda::DeviceCsr;
using cuda::DeviceCsrView;

namespace {

void check_size(const char* what, std::int64_t size) {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  if (size > limit) {
    throw Error(ErrorKind::unavailable, "CUSP: found " + std::to_string(size) + " " + what +
                                            ", expected at most " + std::to_string(limit) +
                                            ": this baseline takes 32-bit indices only");
  }
}

/// Runs `work` and translates exceptions of CUSP and Thrust to Error.
template <class Work>
void translated(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc& error) {  // including Thrust's
    throw Error(ErrorKind::out_of_memory, std::string("CUSP: out of memory with ") +
                                              std::to_string(device_memory_free()) +
                                              " bytes free: " + error.what());
  } catch (const thrust::system_error& error) {
    throw Error(ErrorKind::device, std::string("CUSP: ") + error.what());
  }
}

template <class From, class To>
void copy(const From* from, std::size_t count, To to) {
  const thrust::device_ptr<const From> begin(from);
  thrust::copy(begin, begin + static_cast<std::ptrdiff_t>(count), to);
}

template <class Value>
using CuspMatrix = cusp::csr_matrix<int, Value, cusp::device_memory>;

template <class Value>
CuspMatrix<Value> to_cusp(const DeviceCsrView<Value>& matrix) {
  check_size("rows", matrix.rows);
  check_size("columns", matrix.cols);
  check_size("entries", matrix.nnz);
  CuspMatrix<Value> result(static_cast<std::size_t>(matrix.rows),
                           static_cast<std::size_t>(matrix.cols),
                           static_cast<std::size_t>(matrix.nnz));
  copy(matrix.row_ptr, static_cast<std::size_t>(matrix.rows) + 1, result.row_offsets.begin());
  copy(matrix.col_idx, static_cast<std::size_t>(matrix.nnz), result.column_indices.begin());
  copy(matrix.values, static_cast<std::size_t>(matrix.nnz), result.values.begin());
  return result;
}

template <class T, class Array>
DeviceBuffer<T> from_cusp(const Array& array, cudaStream_t stream) {
  DeviceBuffer<T> buffer(array.size(), stream);
  check_cuda(cudaStreamSynchronize(stream));
  thrust::copy(array.begin(), array.end(), thrust::device_ptr<T>(buffer.data()));
  return buffer;
}

/// CUSP uses the default stream and allocates with cudaMalloc. \tparam Value  float or double
template <class Value>
class CuspProduct : public DeviceBaseline<Value, std::uint32_t> {
 public:
  /// Copies the operands to CUSP matrices.
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1
  CuspProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
              const DeviceCsrView<Value>& b)
      : context_(context) {
    check_cuda(cudaStreamSynchronize(context.stream));
    translated([&] {
      a_ = to_cusp(a);
      b_ = to_cusp(b);
    });
  }

  /// Synchronises the device.
  void compute() override {
    DevicePhase phase(context_, "cusp");
    translated([&] {
      c_ = CuspMatrix<Value>();
      cusp::multiply(a_, b_, c_);
    });
    check_cuda(cudaStreamSynchronize(nullptr));
    phase.stop();
  }

  DeviceCsr<Value> take_result() override {
    DeviceCsr<Value> c;
    c.rows = static_cast<std::int64_t>(c_.num_rows);
    c.cols = static_cast<std::int64_t>(c_.num_cols);
    translated([&] {
      c.row_ptr = from_cusp<std::int64_t>(c_.row_offsets, context_.stream);
      c.col_idx = from_cusp<std::uint32_t>(c_.column_indices, context_.stream);
      c.values = from_cusp<Value>(c_.values, context_.stream);
    });
    c_ = CuspMatrix<Value>();
    cuda::sort_rows(c, context_.stream);
    return c;
  }

 private:
  const DeviceContext& context_;
  CuspMatrix<Value> a_;
  CuspMatrix<Value> b_;
  CuspMatrix<Value> c_;
};

}  // namespace

template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusp(const DeviceContext& context,
                                                            const DeviceCsrView<Value, Column>& a,
                                                            const DeviceCsrView<Value, Column>& b) {
  if constexpr (std::is_same_v<Column, std::uint32_t> && std::is_floating_point_v<Value>) {
    return std::make_unique<CuspProduct<Value>>(context, a, b);
  } else {
    throw Error(ErrorKind::unavailable,
                "CUSP: found complex values or more than 2^32 columns, expected f32 or f64 values "
                "and 32-bit indices, for which this baseline is built");
  }
}

#define SORTIE_INSTANTIATE(Value, Column)                               \
  template std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusp( \
      const DeviceContext&, const DeviceCsrView<Value, Column>&,        \
      const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::baselines
