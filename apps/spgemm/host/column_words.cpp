// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/column_words.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"

namespace sortie::spgemm::host {

template <matrices::Index Idx, class Mask>
template <class Matrix>
ColumnWords<Idx, Mask>::ColumnWords(const Matrix& matrix) {
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

#define INSTANTIATE(Value, Idx)                                                  \
  template ColumnWords<Idx, std::uint64_t>::ColumnWords(const Csr<Value, Idx>&); \
  template ColumnWords<Idx, std::uint8_t>::ColumnWords(const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
