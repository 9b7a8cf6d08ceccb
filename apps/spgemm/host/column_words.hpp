// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm::host {

template <class Mask, matrices::Index Idx>
[[nodiscard]] Idx word_of(Idx column) {
  constexpr unsigned width = 8 * sizeof(Mask);
  return static_cast<Idx>(static_cast<std::make_unsigned_t<Idx>>(column) / width);
}

/// Number of words of rows first .. last - 1: aligned groups of as many columns as Mask has bits,
/// with at least one entry of the row. One loop over all entries counts those in another word than
/// the entry before; one loop over rows adds the rows that begin in the word of the preceding entry.
/// \tparam Matrix  Csr or Pattern
template <class Mask, class Matrix>
[[nodiscard]] std::int64_t count_words(const Matrix& matrix, std::int64_t first,
                                       std::int64_t last) {
  const auto* const columns = matrix.col_idx.data();
  const std::int64_t begin = matrix.row_ptr[first];
  const std::int64_t end = matrix.row_ptr[last];
  std::int64_t words = 0;
  for (std::int64_t i = begin + 1; i < end; ++i)
    words += word_of<Mask>(columns[i]) != word_of<Mask>(columns[i - 1]) ? 1 : 0;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t i = matrix.row_ptr[row];
    if (i == matrix.row_ptr[row + 1]) continue;
    words += i == begin || word_of<Mask>(columns[i]) == word_of<Mask>(columns[i - 1]) ? 1 : 0;
  }
  return words;
}

/// Average number of products of A * B per word of B, estimated from up to 2048 entries of A; 1 if
/// there are none.
template <class Mask, class Matrix>
[[nodiscard]] double products_per_word(const Matrix& a, const Matrix& b) {
  constexpr std::int64_t sampled = 2048;
  const auto entries = static_cast<std::int64_t>(a.col_idx.size());
  const std::int64_t step = entries / sampled + 1;
  std::int64_t products = 0;
  std::int64_t words = 0;
  for (std::int64_t i = 0; i < entries; i += step) {
    const std::int64_t k = a.col_idx[i];
    products += b.row_ptr[k + 1] - b.row_ptr[k];
    words += count_words<Mask>(b, k, k + 1);
  }
  return words == 0 ? 1.0 : static_cast<double>(products) / static_cast<double>(words);
}

/// The columns of every row of a matrix as (word number, bit mask) pairs: bit b of masks()[i]
/// stands for column width * words()[i] + b. If the columns of a row lie close together, there are
/// far fewer words than entries, and marking them in a bitmap takes fewer steps.
/// Source: the compression of Deveci, Trott, Rajamanickam: Multi-threaded sparse matrix-matrix
/// multiplication for many-core and GPU architectures (Parallel Computing 2018).
/// \tparam Mask  unsigned type; its bits are the columns of a word
template <matrices::Index Idx, class Mask>
class ColumnWords {
 public:
  static constexpr int width = 8 * static_cast<int>(sizeof(Mask));

  /// Upper bound of the memory in bytes for a matrix with this many rows and entries.
  static std::uint64_t bytes(std::int64_t rows, std::int64_t nnz) {
    return 8 * (rows + 1) + nnz * (sizeof(Idx) + sizeof(Mask));
  }

  /// Complexity: O(nnz), on all threads. \pre the host runtime is running
  template <class Matrix>
  explicit ColumnWords(const Matrix& matrix) {
    // Several 100 000 entries per block in most matrices, so that scheduling cost is negligible.
    constexpr std::int64_t rows_per_block = 1 << 12;
    std::vector<std::int64_t> firsts((matrix.rows + rows_per_block - 1) / rows_per_block + 1, 0);
    for_each_block_of(matrix.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      firsts[first / rows_per_block + 1] = count_words<Mask>(matrix, first, last);
    });
    std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
    resize_for_overwrite(begins_, matrix.rows + 1);
    resize_for_overwrite(words_, firsts.back());
    resize_for_overwrite(masks_, firsts.back());
    for_each_block_of(matrix.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      std::int64_t to = firsts[first / rows_per_block] - 1;
      for (std::int64_t row = first; row < last; ++row) {
        begins_[row] = to + 1;
        Idx before = -1;
        Mask mask = 0;
        for (std::int64_t i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
          // Written for every entry, since a branch would often be mispredicted.
          const Idx column = matrix.col_idx[i];
          const Idx word = word_of<Mask>(column);
          const bool next = word != before;
          mask = static_cast<Mask>((next ? Mask{0} : mask) | Mask{1} << column % width);
          to += next ? 1 : 0;
          words_[to] = before = word;
          masks_[to] = mask;
        }
      }
    });
    begins_.back() = firsts.back();
  }

  /// Words begins()[row] .. begins()[row + 1] - 1 belong to row `row`, in ascending order.
  [[nodiscard]] const std::int64_t* begins() const { return begins_.data(); }
  [[nodiscard]] const Idx* words() const { return words_.data(); }
  [[nodiscard]] const Mask* masks() const { return masks_.data(); }

 private:
  std::vector<std::int64_t> begins_;
  std::vector<Idx> words_;
  std::vector<Mask> masks_;
};

/// A and B, shared by all threads, and B's columns as bitmap words where they save time.
template <matrices::Scalar Value, matrices::Index Idx>
struct RowOperands {
  const matrices::Csr<Value, Idx>& a;
  const matrices::Csr<Value, Idx>& b;
  std::optional<ColumnWords<Idx, std::uint64_t>> words;       ///< 64 columns per word
  std::optional<ColumnWords<Idx, std::uint8_t>> byte_blocks;  ///< 8 columns per word
};

}  // namespace sortie::spgemm::host
