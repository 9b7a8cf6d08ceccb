// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/spgemm_chunks.hpp"

namespace sortie::spgemm::cuda {

/// Appends columns and values of a device matrix, or of some rows of one, to those of a host
/// matrix. Leaves row_ptr unchanged. Synchronises the stream. Instantiated like to_device().
/// \throws Error (out_of_memory, device)
template <class Column, class Value, class Idx>
void append_entries(const DeviceBuffer<Column>& col_idx, const DeviceBuffer<Value>& values,
                    matrices::Csr<Value, Idx>& host);

/// Entries of consecutive rows of C.
template <class Value, class Column>
struct ProductChunk {
  DeviceBuffer<Column> col_idx;
  DeviceBuffer<Value> values;
};

/// A product C = A * B on the device: its constructor counts rows or products, next() computes the
/// next rows of C until all are done. multiply(), multiply_in_chunks() and multiply_on_device() are
/// written once for all products (product.cpp).
template <class Product>
concept DeviceProduct = requires(Product product) {
  {product.next()->col_idx.data()};
  {product.next()->values.data()};
  {
    product.row_ptr()
    } -> std::same_as<DeviceBuffer<std::int64_t>&>;  // complete after the last chunk
  { product.nnz() } -> std::same_as<std::int64_t>;
  { product.rows_done() } -> std::same_as<std::int64_t>;  // rows that next() has returned
};

/// Concatenates the buffers `member` of all chunks, and empties them.
template <class Chunk, class T>
[[nodiscard]] DeviceBuffer<T> joined(std::vector<Chunk>& chunks, std::int64_t size,
                                     DeviceBuffer<T> Chunk::*member, cudaStream_t stream) {
  DeviceBuffer<T> all(static_cast<std::size_t>(size), stream);
  std::size_t begin = 0;
  for (Chunk& chunk : chunks) {
    DeviceBuffer<T> part = std::move(chunk.*member);
    if (part.size() == 0) continue;
    check_cuda(cudaMemcpyAsync(all.data() + begin, part.data(), part.bytes(),
                               cudaMemcpyDeviceToDevice, stream));
    begin += part.size();
  }
  return all;
}

/// All rows of C on the device. With several chunks, two copies of C exist while they are joined.
template <DeviceProduct Product, class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> product_on_device(const DeviceContext& context,
                                                         Product& product,
                                                         const DeviceCsrView<Value, Column>& a,
                                                         const DeviceCsrView<Value, Column>& b) {
  std::vector<ProductChunk<Value, Column>> chunks;
  while (auto chunk = product.next()) chunks.push_back(std::move(*chunk));

  DeviceCsr<Value, Column> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr = std::move(product.row_ptr());
  if (chunks.size() == 1) {
    c.col_idx = std::move(chunks.front().col_idx);
    c.values = std::move(chunks.front().values);
    return c;
  }
  c.col_idx = joined(chunks, product.nnz(), &ProductChunk<Value, Column>::col_idx, context.stream);
  c.values = joined(chunks, product.nnz(), &ProductChunk<Value, Column>::values, context.stream);
  return c;
}

/// All rows of C on the host, copied chunk by chunk, so that C may exceed the device memory.
template <class Idx, DeviceProduct Product, class Value, class Column>
[[nodiscard]] matrices::Csr<Value, Idx> product_on_host(const DeviceContext& context,
                                                        Product& product,
                                                        const DeviceCsrView<Value, Column>& a,
                                                        const DeviceCsrView<Value, Column>& b) {
  matrices::Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  while (auto chunk = product.next()) {
    DevicePhase phase(context, "copy out");
    append_entries(chunk->col_idx, chunk->values, c);
    phase.stop();
  }
  c.row_ptr.resize(product.row_ptr().size());
  product.row_ptr().copy_to(std::span(c.row_ptr));
  check_cuda(cudaStreamSynchronize(context.stream));
  return c;
}

/// Passes the rows of C to `sink` in chunks on the host. C never exists as a whole.
/// \param cols  columns of C
template <DeviceProduct Product, class Value, class Idx>
void product_in_chunks(const DeviceContext& context, Product& product, std::int64_t cols,
                       const ProductSink<Value, Idx>& sink) {
  const std::int64_t* const row_ptr = product.row_ptr().data();
  std::int64_t first_row = 0;
  matrices::Csr<Value, Idx> rows;  // reused for every chunk
  while (auto chunk = product.next()) {
    DevicePhase phase(context, "copy out");
    rows.rows = product.rows_done() - first_row;
    rows.cols = cols;
    rows.row_ptr.resize(static_cast<std::size_t>(rows.rows) + 1);
    check_cuda(cudaMemcpyAsync(rows.row_ptr.data(), row_ptr + first_row,
                               rows.row_ptr.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                               context.stream));
    rows.col_idx.clear();
    rows.values.clear();
    append_entries(chunk->col_idx, chunk->values, rows);
    check_cuda(cudaStreamSynchronize(context.stream));
    phase.stop();
    chunk.reset();
    const std::int64_t before = rows.row_ptr.front();
    for (std::int64_t& offset : rows.row_ptr) offset -= before;
    first_row = product.rows_done();
    sink(rows);
  }
}

}  // namespace sortie::spgemm::cuda
