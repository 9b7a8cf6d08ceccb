// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/essc/payload.hpp"
#include "sortie/device_buffer.hpp"

/// From sorted products to C. The products of one entry of C form a run; the first product of a run
/// is its head.
namespace sortie::spgemm::cuda {

struct RunHeads {
  /// Products per range for which heads are counted.
  static constexpr int range_products = 256;

  std::int64_t products = 0;
  std::int64_t runs = 0;
  DeviceBuffer<std::uint32_t> bits;   ///< bit p % 32 of word p / 32: product p is a head
  DeviceBuffer<std::int64_t> before;  ///< heads before each range; last element: all heads
};

/// Finds the heads of the runs of equal (row, column) in sorted products. Synchronises the stream.
///
/// \param keys         `products` keys, sorted within rows; aligned to 16 bytes
/// \param row_offsets  first product of each row; rows + 1 offsets
/// Complexity: O(products + rows). Memory of the result: 5 bytes per 32 products.
template <class Key>
[[nodiscard]] RunHeads find_run_heads(const Key* keys, std::int64_t products,
                                      const std::uint32_t* row_offsets, std::int64_t rows,
                                      KeyLayout layout, cudaStream_t stream);

/// Writes the offsets of C at the end of each of `rows` rows: row_ends[i] = first + number of runs
/// before the end of row i. Complexity: O(rows).
void write_row_ends(const RunHeads& heads, const std::uint32_t* row_offsets, std::int64_t rows,
                    std::int64_t first, std::int64_t* row_ends, cudaStream_t stream);

/// Writes one entry of C per run of sorted products: its column, and the sum of its products. The
/// order of summation depends on the length of the run only, so results are reproducible.
///
/// \param keys      as passed to find_run_heads()
/// \param payloads  sorted with the keys
/// \param products  the products by index, if payloads are indices
/// \param columns, sums  receive one entry per run
/// Complexity: O(products); one warp sums the longest run.
template <class Value, class Column, class Key>
void sum_runs(const RunHeads& heads, const Key* keys, KeyLayout layout,
              const PayloadType<Value>* payloads, const Value* products, Column* columns,
              Value* sums, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
