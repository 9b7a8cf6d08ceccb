#pragma once

#include <cstdint>
#include <vector>

#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::host {

/// Number of words of as many columns as Mask has bits that row `row` has entries in.
/// \tparam Matrix  Csr or Pattern
template <class Mask, class Matrix>
[[nodiscard]] std::int64_t count_words(const Matrix& matrix, std::int64_t row) {
  using Idx = typename Matrix::index_type;
  constexpr Idx width = 8 * sizeof(Mask);
  std::int64_t words = 0;
  Idx before = -1;
  for (std::int64_t i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
    const Idx word = matrix.col_idx[i] / width;
    words += word != before ? 1 : 0;
    before = word;
  }
  return words;
}

/// How many of the products of A * B there are for each word of B that they lie in, as some of the
/// entries of A tell; 1 where there are none.
/// Complexity: as some thousand rows of B.
template <class Mask, class Matrix>
[[nodiscard]] double products_per_word(const Matrix& a, const Matrix& b) {
  constexpr std::int64_t looked_at = 2048;
  const auto entries = static_cast<std::int64_t>(a.col_idx.size());
  const std::int64_t step = entries / looked_at + 1;
  std::int64_t products = 0;
  std::int64_t words = 0;
  for (std::int64_t i = 0; i < entries; i += step) {
    const std::int64_t k = a.col_idx[i];
    products += b.row_ptr[k + 1] - b.row_ptr[k];
    words += count_words<Mask>(b, k);
  }
  return words == 0 ? 1.0 : static_cast<double>(products) / static_cast<double>(words);
}

/// The columns of every row of a matrix as words of a bitmap: bit b of mask(i) stands for column
/// Width * word(i) + b.
///
/// Where columns of a row lie close together there are far fewer words than entries, and a row of a
/// product can be marked in a bitmap in so many fewer steps.
/// Memory: sizeof(Idx) + sizeof(Mask) bytes a word, 8 bytes a row.
/// Source: the compression of Deveci, Trott, Rajamanickam: Multi-threaded sparse matrix-matrix
/// multiplication for many-core and GPU architectures (Parallel Computing 2018).
/// \tparam Mask  unsigned; its bits are the columns of a word
template <matrices::Index Idx, class Mask>
class ColumnWords {
 public:
  static constexpr int width = 8 * static_cast<int>(sizeof(Mask));

  /// Bytes of memory for a matrix of so many rows and entries, at most.
  static std::uint64_t bytes(std::int64_t rows, std::int64_t nnz) {
    return 8 * (rows + 1) + nnz * (sizeof(Idx) + sizeof(Mask));
  }

  /// Complexity: O(nnz), on all threads.
  /// \pre the host runtime runs
  /// \tparam Matrix  Csr or Pattern
  template <class Matrix>
  explicit ColumnWords(const Matrix& matrix);

  /// Words begins()[row] .. begins()[row + 1] are those of row `row`, from left to right.
  [[nodiscard]] const std::int64_t* begins() const { return begins_.data(); }
  [[nodiscard]] const Idx* words() const { return words_.data(); }
  [[nodiscard]] const Mask* masks() const { return masks_.data(); }

 private:
  std::vector<std::int64_t> begins_;
  std::vector<Idx> words_;
  std::vector<Mask> masks_;
};

}  // namespace sortie::spgemm::host
