// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/host_runtime.hpp"
#include "sortie/device_csr.hpp"

/// What products on CUDA share: their memory, arrays of indices, copies of operands and results.
namespace sortie::spgemm::cuda {

/// Entries of consecutive rows of C in device memory.
template <class Value, class Column>
using DeviceEntries = RowEntries<DeviceBuffer<Column>, DeviceBuffer<Value>>;

/// Usable part of the free memory if the caller sets no budget. One eighth stays free because free
/// blocks of the pool may be fragmented.
[[nodiscard]] constexpr std::uint64_t usable_part(std::uint64_t bytes) {
  return bytes - bytes / 8;
}

/// Bytes that a product may take on the current device. \throws Error (device)
[[nodiscard]] inline std::uint64_t product_memory_budget(const HostContext& context) {
  const std::uint64_t budget = device_memory_budget(context);
  return context.memory_budget == 0 ? usable_part(budget) : budget;
}

/// What one algorithm has found that another one then needs.
struct CountedProducts {
  std::int64_t products;  ///< of all rows
  std::uint64_t budget;   ///< product_memory_budget()
};

/// Bytes of `budget` that a chunk of rows may take. Earlier chunks of C may still be on the device.
[[nodiscard]] inline std::uint64_t bytes_left(std::uint64_t budget, bool is_first_chunk) {
  return is_first_chunk ? budget : std::min(budget, usable_part(device_memory_free()));
}

/// to[i] = from[i] for device arrays of integers of different width.
/// Instantiated for int64 -> uint32, uint32 -> int64, int64 -> int32 and int32 -> int64.
/// \pre every number fits To
template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, cudaStream_t stream);

/// to[i] = from[i] + amount for `count` offsets on the device. \throws Error (device)
void shift_offsets(const std::int64_t* from, std::int64_t amount, std::int64_t* to,
                   std::int64_t count, cudaStream_t stream);

/// Replaces each of `count` device integers by the sum of those before it.
/// \throws Error (out_of_memory, device)
void exclusive_sum(std::int64_t* data, std::int64_t count, cudaStream_t stream);

/// Rows that are copied one behind the other. All arrays are on the device.
struct RowsToGather {
  std::int64_t count = 0;
  const std::uint32_t* rows = nullptr;
  const std::int64_t* offsets = nullptr;  ///< where each begins in the copy, and the end
  std::int64_t begin = 0;                 ///< offsets[0]
  std::int64_t end = 0;                   ///< offsets[count]
};

/// Copies the entries of these rows of a matrix to `to_col_idx` and `to_values`; where one is null,
/// only to the other. \throws Error (device)
/// Complexity: O(entries log(rows)).
template <class Value>
void gather_rows(const RowsToGather& gathered, const DeviceCsrView<Value>& from,
                 std::uint32_t* to_col_idx, Value* to_values, cudaStream_t stream);

/// Sets `count` device numbers to 1. \throws Error (device)
void fill_ones(float* numbers, std::int64_t count, cudaStream_t stream);

/// Columns on the device, in another width if need be, copied by several threads.
template <class Column, class Idx>
[[nodiscard]] DeviceBuffer<Column> columns_to_device(const std::vector<Idx>& columns,
                                                     cudaStream_t stream, int threads);

/// to_device() on several threads.
template <class Column, class Value, class Idx>
[[nodiscard]] DeviceCsr<Value, Column> copied_to_device(const matrices::Csr<Value, Idx>& host,
                                                        cudaStream_t stream, int threads);

/// Copies A and B to the device (once if they are the same object), with the narrowest column type
/// that holds all columns, and returns function(A, B) for views of the copies. The context's device
/// must be current.
template <class Value, class Idx, class Function>
auto with_operands(const DeviceContext& context, const matrices::Csr<Value, Idx>& a,
                   const matrices::Csr<Value, Idx>& b, const Function& function) {
  const auto with_columns = [&]<class Column>(Column) {
    DevicePhase phase(context, "copy in");
    const int threads = threads_of(context);
    const auto device_a = copied_to_device<Column>(a, context.stream, threads);
    DeviceCsr<Value, Column> device_b;
    if (&a != &b) device_b = copied_to_device<Column>(b, context.stream, threads);
    phase.stop();
    return function(view(device_a), &a == &b ? view(device_a) : view(device_b));
  };
  if constexpr (sizeof(Idx) == sizeof(std::int64_t)) {
    if (needs_wide_columns(a.cols) || needs_wide_columns(b.cols))
      return with_columns(std::uint64_t{});
  }
  return with_columns(std::uint32_t{});
}

/// True if with_operands() takes 64-bit columns for a C with so many columns.
template <class Idx>
[[nodiscard]] bool wide_columns(std::int64_t cols) {
  return sizeof(Idx) == sizeof(std::int64_t) && needs_wide_columns(cols);
}

/// Appends columns and values of a device matrix, or of some rows of one, to those of a host
/// matrix. Leaves row_ptr unchanged. Synchronises the stream. Instantiated like to_device().
/// \param threads  that may copy
/// \throws Error (out_of_memory, device)
template <class Column, class Value, class Idx>
void append_entries(const DeviceBuffer<Column>& col_idx, const DeviceBuffer<Value>& values,
                    matrices::Csr<Value, Idx>& host, int threads = default_host_threads());

/// Concatenates the buffers `member` of all parts, and empties them.
template <class Entries, class T>
[[nodiscard]] DeviceBuffer<T> concatenated(std::vector<Entries>& parts, std::int64_t entries,
                                           DeviceBuffer<T> Entries::*member, cudaStream_t stream) {
  DeviceBuffer<T> all(entries, stream);
  std::size_t begin = 0;
  for (Entries& part : parts) {
    const DeviceBuffer<T> array = std::move(part.*member);
    if (array.size() == 0) continue;
    check_cuda(cudaMemcpyAsync(all.data() + begin, array.data(), array.bytes(),
                               cudaMemcpyDeviceToDevice, stream));
    begin += array.size();
  }
  return all;
}

/// All rows of C on the device. With several chunks, two copies of C exist while they are joined.
template <Product P, class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> product_on_device(const DeviceContext& context, P& product,
                                                         const DeviceCsrView<Value, Column>& a,
                                                         const DeviceCsrView<Value, Column>& b) {
  DeviceCsr<Value, Column> c{a.rows, b.cols, {}, {}, {}};
  take_all_rows(product, c, [&](auto& parts, std::int64_t entries, DeviceCsr<Value, Column>& all) {
    all.col_idx = concatenated(parts, entries, &P::Entries::col_idx, context.stream);
    all.values = concatenated(parts, entries, &P::Entries::values, context.stream);
  });
  return c;
}

/// All rows of C on the host, copied chunk by chunk, so that C may exceed the device memory.
template <class Idx, Product P, class Value, class Column>
[[nodiscard]] matrices::Csr<Value, Idx> product_on_host(const DeviceContext& context, P& product,
                                                        const DeviceCsrView<Value, Column>& a,
                                                        const DeviceCsrView<Value, Column>& b) {
  matrices::Csr<Value, Idx> c{a.rows, b.cols, {}, {}, {}};
  while (auto entries = product.next()) {
    DevicePhase phase(context, "copy out");
    append_entries(entries->col_idx, entries->values, c, threads_of(context));
    phase.stop();
  }
  c.row_ptr.resize(product.row_ptr().size());
  product.row_ptr().copy_to(std::span(c.row_ptr));
  check_cuda(cudaStreamSynchronize(context.stream));
  return c;
}

/// spgemm::multiply_part() of a B that is on the device of `call`.
/// \throws as spgemm::multiply_part()
template <class Value, class Idx>
[[nodiscard]] matrices::Csr<Value, Idx> multiply_rows(const DeviceContext& call,
                                                      const matrices::Csr<Value, Idx>& a,
                                                      const DeviceCsrView<Value>& b,
                                                      const WholeProduct* whole,
                                                      Algorithm algorithm);

}  // namespace sortie::spgemm::cuda
