#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/fused/operands.hpp"
#include "sortie/apps/spgemm/cuda/fused/row_bins.hpp"
#include "sortie/apps/spgemm/cuda/fused/sorted_rows.hpp"
#include "sortie/apps/spgemm/cuda/fused/window_rows.hpp"

/// The two halves of the fused product, counting and making, for neighbouring rows of C in bins.
namespace sortie::spgemm::cuda {

/// What may be taken of free memory where the caller sets no budget: one part in eight is left
/// alone, for free blocks of the pool are not always in one piece.
[[nodiscard]] constexpr std::uint64_t usable_part(std::uint64_t bytes) {
  return bytes - bytes / 8;
}

/// What the fused product takes besides C for each row of A: as long as it lives, its number of
/// products and its offset in C; and for the rows of a chunk, the list of them, their places and
/// their offsets.
inline constexpr std::uint64_t fused_bytes_per_row = sizeof(std::uint64_t) + sizeof(std::int64_t);
inline constexpr std::uint64_t fused_bytes_per_row_of_chunk =
    2 * sizeof(std::uint32_t) + sizeof(std::int64_t);

/// Of an entry of C: its column and its value.
template <class Value>
inline constexpr std::uint64_t entry_bytes = sizeof(std::uint32_t) + sizeof(Value);

/// Most bytes that rows take with their entries of C, beside what is optional: images and
/// StagedRows.
template <class Value>
[[nodiscard]] constexpr std::uint64_t most_bytes_of_rows(std::int64_t rows, const RowBins& bins) {
  return static_cast<std::uint64_t>(rows) * fused_bytes_per_row_of_chunk +
         static_cast<std::uint64_t>(bins.products) *
             (entry_bytes<Value> + window_bytes_per_product);
}

/// Rows whose entries are counted; those in windows can be made as often as wanted.
struct CountedRows {
  WindowRows windows;
  WindowCounters found{};
  std::int64_t entries = 0;  ///< of C in all the rows
};

/// Counts the entries of C in rows, by their structure, and waits until they are counted.
/// \param image_words  room for images of rows in windows; see image_words_for()
/// \param row_ptr      rows + 1, as find_row_bins() left them; takes the offsets of the rows from
///                     the first of them
/// \param staged       where rows of few products are made already, or null
/// \throws Error (out_of_memory, device)
/// Extra memory: that of WindowRows.
template <class Value>
[[nodiscard]] CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                                     std::int64_t rows, std::int64_t image_words,
                                     std::int64_t* row_ptr, StagedRows<Value>* staged,
                                     cudaStream_t stream);

/// Makes rows that have been counted: columns and values. Only launches kernels: nothing is
/// allocated, nothing waits.
/// \param operands  of the same structure as were counted; their values may be others where
///                  `staged` is null
/// \param staged    as it was for count_rows(), or null: then all rows are made here
/// \throws Error (device)
template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
