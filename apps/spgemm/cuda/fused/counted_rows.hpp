// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/fused/large_rows.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"
#include "apps/spgemm/cuda/fused/sorted_rows.hpp"

/// The two passes of the fused product over consecutive rows of C: count entries, compute entries.
namespace sortie::spgemm::cuda {

/// Usable part of the free memory if the caller sets no budget. One eighth stays free because free
/// blocks of the pool may be fragmented.
[[nodiscard]] constexpr std::uint64_t usable_part(std::uint64_t bytes) {
  return bytes - bytes / 8;
}

/// Bytes of the fused product per row of A, in addition to C. For its whole lifetime: number of
/// products, offset in C. For a chunk: list of rows, staging slots, offsets of the chunk.
inline constexpr std::uint64_t fused_bytes_per_row = sizeof(std::uint64_t) + sizeof(std::int64_t);
inline constexpr std::uint64_t fused_bytes_per_row_of_chunk =
    2 * sizeof(std::uint32_t) + sizeof(std::int64_t);

/// Bytes of an entry of C: column and value.
template <class Value>
inline constexpr std::uint64_t entry_bytes = sizeof(std::uint32_t) + sizeof(Value);

/// Upper bound of the bytes that rows take, including their entries of C and excluding the optional
/// row bitmaps and StagedRows.
template <class Value>
[[nodiscard]] constexpr std::uint64_t max_bytes_of_rows(std::int64_t rows, const RowBins& bins) {
  return static_cast<std::uint64_t>(rows) * fused_bytes_per_row_of_chunk +
         static_cast<std::uint64_t>(bins.products) *
             (entry_bytes<Value> + large_row_bytes_per_product);
}

/// Rows whose entries are counted. Large rows can be recomputed any number of times.
struct CountedRows {
  LargeRows large;
  LargeRowCounters found{};
  std::int64_t entries = 0;  ///< of C in all these rows
};

/// Counts the entries of C in rows from the structure of A and B. The host waits for the counts.
/// \param bitmap_words  capacity for bitmaps of large rows; see bitmap_words_for()
/// \param row_ptr       rows + 1, as written by find_row_bins(); receives the offsets of the rows
///                      from the first row
/// \param staged        receives the small and medium rows, which are then already computed; may be
///                      null
/// \throws Error (out_of_memory, device)
/// Extra memory: that of LargeRows.
template <class Value>
[[nodiscard]] CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                                     std::int64_t rows, std::int64_t bitmap_words,
                                     std::int64_t* row_ptr, StagedRows<Value>* staged,
                                     cudaStream_t stream);

/// Computes columns and values of counted rows. Only launches kernels: no allocation, no host
/// synchronisation.
/// \param operands  of the counted structure; values may differ if `staged` is null
/// \param staged    as passed to count_rows(); if null, all rows are computed here
/// \throws Error (device)
template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
