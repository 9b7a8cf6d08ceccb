// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/column_words.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm::host {

namespace {

// Several 100 000 entries per block in most matrices, so that scheduling cost is negligible.
constexpr std::int64_t rows_per_block = 1 << 12;

/// Calls body(block, first, last) for blocks of rows first .. last - 1, on all threads.
template <class Body>
void for_each_block_of_rows(std::int64_t rows, const Body& body) {
  for_each_block(host_threads(), 0, (rows + rows_per_block - 1) / rows_per_block,
                 [&](int, std::int64_t block) {
                   const std::int64_t first = block * rows_per_block;
                   body(block, first, std::min(rows, first + rows_per_block));
                 });
}

/// The word that contains column `column`.
template <class Mask, Index Idx>
Idx word_of(Idx column) {
  constexpr unsigned width = 8 * sizeof(Mask);
  return static_cast<Idx>(static_cast<std::make_unsigned_t<Idx>>(column) / width);
}

/// Number of words of rows first .. last - 1. One loop over all entries counts those in another
/// word than the entry before; one loop over rows adds the rows that begin in the word of the
/// preceding entry.
template <class Mask, class Matrix>
std::int64_t count_words(const Matrix& matrix, std::int64_t first, std::int64_t last) {
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

}  // namespace

template <matrices::Index Idx, class Mask>
template <class Matrix>
ColumnWords<Idx, Mask>::ColumnWords(const Matrix& matrix) {
  std::vector<std::int64_t> firsts((matrix.rows + rows_per_block - 1) / rows_per_block + 1, 0);
  for_each_block_of_rows(matrix.rows,
                         [&](std::int64_t block, std::int64_t first, std::int64_t last) {
                           firsts[block + 1] = count_words<Mask>(matrix, first, last);
                         });
  std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
  resize_for_overwrite(begins_, matrix.rows + 1);
  resize_for_overwrite(words_, firsts.back());
  resize_for_overwrite(masks_, firsts.back());
  for_each_block_of_rows(
      matrix.rows, [&](std::int64_t block, std::int64_t first, std::int64_t last) {
        std::int64_t to = firsts[block] - 1;
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

#define INSTANTIATE(Value, Idx)                                                  \
  template ColumnWords<Idx, std::uint64_t>::ColumnWords(const Csr<Value, Idx>&); \
  template ColumnWords<Idx, std::uint8_t>::ColumnWords(const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
