#include "sortie/apps/spgemm/host/column_words.hpp"

#include <algorithm>
#include <numeric>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/host/parallel_blocks.hpp"
#include "sortie/apps/spgemm/host/result_arrays.hpp"
#include "sortie/core/host_runtime.hpp"

namespace sortie::spgemm::host {

namespace {

// Some hundred thousand entries in most matrices: enough for the hand-over not to show.
constexpr std::int64_t rows_per_block = 1 << 12;

/// Calls body(row) for every row, on all threads.
template <class Body>
void for_all_rows(std::int64_t rows, const Body& body) {
  for_each_block(host_threads(), 0, (rows + rows_per_block - 1) / rows_per_block,
                 [&](int, std::int64_t block) {
                   const std::int64_t end = std::min(rows, (block + 1) * rows_per_block);
                   for (std::int64_t row = block * rows_per_block; row < end; ++row) body(row);
                 });
}

}  // namespace

template <matrices::Index Idx, class Mask>
template <class Matrix>
ColumnWords<Idx, Mask>::ColumnWords(const Matrix& matrix) : begins_(matrix.rows + 1, 0) {
  for_all_rows(matrix.rows,
               [&](std::int64_t row) { begins_[row + 1] = count_words<Mask>(matrix, row); });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  resize_for_overwrite(words_, begins_.back());
  resize_for_overwrite(masks_, begins_.back());
  for_all_rows(matrix.rows, [&](std::int64_t row) {
    std::int64_t to = begins_[row] - 1;
    Idx before = -1;
    Mask mask = 0;
    for (std::int64_t i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
      const Idx column = matrix.col_idx[i];
      const Idx word = column / width;
      if (word != before) {
        words_[++to] = before = word;
        mask = 0;
      }
      mask = static_cast<Mask>(mask | Mask{1} << column % width);
      masks_[to] = mask;
    }
  });
}

#define INSTANTIATE(Value, Idx)                                                  \
  template ColumnWords<Idx, std::uint64_t>::ColumnWords(const Csr<Value, Idx>&); \
  template ColumnWords<Idx, std::uint8_t>::ColumnWords(const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
