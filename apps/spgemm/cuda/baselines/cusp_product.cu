// SPDX-License-Identifier: Apache-2.0
#include <cusp/csr_matrix.h>
#include <cusp/multiply.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/system_error.h>

#include <limits>
#include <new>
#include <string>

#include "apps/spgemm/cuda/baselines/cusp_product.hpp"
#include "apps/spgemm/cuda/baselines/sort_rows.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_scope.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

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

}  // namespace

template <class Value>
struct CuspProduct<Value>::Matrices {
  CuspMatrix<Value> a;
  CuspMatrix<Value> b;
  CuspMatrix<Value> c;
};

template <class Value>
CuspProduct<Value>::CuspProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                const DeviceCsrView<Value>& b)
    : context_(context), matrices_(std::make_unique<Matrices>()) {
  check_cuda(cudaStreamSynchronize(context.stream));
  translated([&] {
    matrices_->a = to_cusp(a);
    matrices_->b = to_cusp(b);
  });
}

template <class Value>
CuspProduct<Value>::~CuspProduct() = default;

template <class Value>
void CuspProduct<Value>::multiply() {
  translated([&] {
    matrices_->c = CuspMatrix<Value>();
    cusp::multiply(matrices_->a, matrices_->b, matrices_->c);
  });
  check_cuda(cudaStreamSynchronize(nullptr));
}

template <class Value>
DeviceCsr<Value> CuspProduct<Value>::take_result() {
  const CuspMatrix<Value>& product = matrices_->c;
  DeviceCsr<Value> c;
  c.rows = static_cast<std::int64_t>(product.num_rows);
  c.cols = static_cast<std::int64_t>(product.num_cols);
  translated([&] {
    c.row_ptr = from_cusp<std::int64_t>(product.row_offsets, context_.stream);
    c.col_idx = from_cusp<std::uint32_t>(product.column_indices, context_.stream);
    c.values = from_cusp<Value>(product.values, context_.stream);
  });
  matrices_->c = CuspMatrix<Value>();
  sort_rows(c, context_.stream);
  return c;
}

template class CuspProduct<float>;
template class CuspProduct<double>;

}  // namespace sortie::spgemm::cuda
