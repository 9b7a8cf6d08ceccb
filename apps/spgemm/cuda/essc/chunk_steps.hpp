// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sortie/device_csr.hpp"

/// The steps of ESSC for consecutive rows: the products of A * B in expanded order (entry by entry
/// of A), and C from the sorted products. The products of one entry of C form a run; the first
/// product of a run is its head.
namespace sortie::spgemm::cuda {

/// Consecutive rows of A whose products are processed together.
struct RowChunk {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t first_entry = 0;  ///< of A
  std::int64_t entries = 0;
  std::int64_t first_product = 0;
  std::int64_t products = 0;  ///< at most max_chunk_products
  /// 0: a sort key is the column of a product. Otherwise it is (row << column_bits | column), with
  /// the row relative to the first row of the chunk.
  int column_bits = 0;
};

/// Product indices within a chunk have 32 bits: they are offsets of the segmented sort and payloads
/// of complex products.
inline constexpr std::int64_t max_chunk_products = 0xffffffff;

/// Largest number of rows from first_row on, at most max_rows, that have at most max_products
/// products in total; 0 if the first row has more.
/// \param row_offsets  first product of each row; rows + 1 ascending offsets
[[nodiscard]] inline std::int64_t rows_that_fit(std::span<const std::int64_t> row_offsets,
                                                std::int64_t first_row, std::int64_t max_products,
                                                std::int64_t max_rows) {
  const auto begin = row_offsets.begin() + first_row;
  // Differences are compared, since first + limit could overflow for a limit of 2^63 - 1.
  const auto beyond = std::partition_point(
      begin, row_offsets.end(),
      [&, first = *begin](std::int64_t offset) { return offset - first <= max_products; });
  return std::min<std::int64_t>(beyond - begin - 1, max_rows);
}

/// True for products that the sorts do not move, since they exceed 8 bytes: their payload is their
/// index among the products of the chunk.
template <class Value>
inline constexpr bool payload_is_index = sizeof(Value) > sizeof(std::uint64_t);
template <class Value>
using PayloadType = std::conditional_t<payload_is_index<Value>, std::uint32_t, Value>;

/// First product of each entry (i, k) of A, which has as many as row k of B has entries; nnz(A) + 1
/// offsets, the last is the number of all products.
template <class Column>
[[nodiscard]] DeviceBuffer<std::int64_t> entry_offsets(const Column* a_col_idx, std::int64_t nnz_a,
                                                       const std::int64_t* b_row_ptr,
                                                       cudaStream_t stream);

/// First product of each row of a chunk, relative to the first of the chunk: rows + 1 offsets.
/// \param row_ptr  offsets of all rows of A, on the device
template <class Offset>
[[nodiscard]] DeviceBuffer<Offset> row_offsets(const std::int64_t* row_ptr,
                                               const std::int64_t* entry_offsets,
                                               const RowChunk& chunk, cudaStream_t stream);

/// Products of a chunk, row by row.
template <class Value, class Key>
struct ExpandedProducts {
  Key* keys = nullptr;  ///< aligned to 16 bytes
  PayloadType<Value>* payloads = nullptr;
  Value* products = nullptr;  ///< only if the payload is the index of the product
};

/// Upper bound of the work space of expand() in bytes per product and per entry of A: 8 bytes per
/// 2048 entries or products, and 4 bytes per entry if keys hold rows.
inline constexpr std::int64_t expansion_bytes_per_entry = 5;

/// Writes all products of a chunk, in O(entries + products); balanced over threads for any row
/// lengths.
/// Source: the expansion of Bell, Dalton, Olson (SISC 2012), section 3.1; balanced by the
/// merge-path search of Odeh, Green, Mwassi, Shmueli, Birk (IPDPSW 2012).
template <class Value, class Column, class Key>
void expand(const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& b,
            const std::int64_t* entry_offsets, const RowChunk& chunk,
            const ExpandedProducts<Value, Key>& out, cudaStream_t stream);

struct RunHeads {
  /// Products per range for which heads are counted.
  static constexpr int range_products = 256;

  std::int64_t runs = 0;
  DeviceBuffer<std::uint32_t> bits;   ///< bit p % 32 of word p / 32: product p is a head
  DeviceBuffer<std::int64_t> before;  ///< heads before each range; last element: all heads
};

/// Finds the heads of the runs of equal (row, column) among the sorted keys of a chunk. Synchronises
/// the stream.
template <class Key>
[[nodiscard]] RunHeads find_run_heads(const Key* keys, const std::uint32_t* row_offsets,
                                      const RowChunk& chunk, cudaStream_t stream);

/// Writes the offsets of C at the end of each row of a chunk: row_ends[i] = first + number of runs
/// before the end of row i.
void write_row_ends(const RunHeads& heads, const std::uint32_t* row_offsets, const RowChunk& chunk,
                    std::int64_t first, std::int64_t* row_ends, cudaStream_t stream);

/// Writes one entry of C per run of sorted products: its column, and the sum of its products. The
/// order of summation depends on the length of the run only, so results are reproducible.
/// Complexity: O(products); one warp sums the longest run.
template <class Value, class Column, class Key>
void sum_runs(const RunHeads& heads, const ExpandedProducts<Value, Key>& sorted,
              const RowChunk& chunk, Column* columns, Value* sums, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda

/// Calls INSTANTIATE(Value, Column, Key) for every type of products and their sort keys.
#define SORTIE_FOR_EACH_SORTED_PRODUCT(INSTANTIATE)               \
  INSTANTIATE(float, std::uint32_t, std::uint32_t)                \
  INSTANTIATE(float, std::uint32_t, std::uint64_t)                \
  INSTANTIATE(float, std::uint64_t, std::uint64_t)                \
  INSTANTIATE(double, std::uint32_t, std::uint32_t)               \
  INSTANTIATE(double, std::uint32_t, std::uint64_t)               \
  INSTANTIATE(double, std::uint64_t, std::uint64_t)               \
  INSTANTIATE(std::complex<double>, std::uint32_t, std::uint32_t) \
  INSTANTIATE(std::complex<double>, std::uint32_t, std::uint64_t) \
  INSTANTIATE(std::complex<double>, std::uint64_t, std::uint64_t)
