// SPDX-License-Identifier: Apache-2.0
#include "sortie/csr.hpp"

#include <fmt/format.h>

#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

namespace {

[[noreturn]] void fail(const std::string& found, const std::string& expected) {
  throw input_error("matrix", 0, found, expected);
}

void check_index(std::int64_t index, std::int64_t size, const char* kind, std::size_t entry) {
  if (index >= 0 && index < size) return;
  fail(fmt::format("{} index {} in entry {}", kind, index, entry),
       fmt::format("an index from 0 to {}", size - 1));
}

// The row index of every entry.
template <Scalar Value, Index Idx>
std::vector<Idx> expand_rows(const Csr<Value, Idx>& csr) {
  std::vector<Idx> rows(csr.col_idx.size());
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    std::fill(rows.begin() + csr.row_ptr[row], rows.begin() + csr.row_ptr[row + 1],
              static_cast<Idx>(row));
  }
  return rows;
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> assemble(std::int64_t rows, std::int64_t cols, const std::vector<Idx>& row_idx,
                         const std::vector<Idx>& col_idx, const std::vector<Value>& values) {
  const int parts = static_cast<int>(worker_threads());
  const auto ranges = detail::even_ranges(std::ssize(row_idx), parts);
  const detail::EntryList<Value, Idx> list{row_idx.data(), col_idx.data(), values.data(), ranges};
  return detail::assemble_rows(rows, cols, list, Symmetry::general, parts);
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> to_csr(const Coo<Value, Idx>& coo) {
  if (coo.col_idx.size() != coo.row_idx.size() || coo.values.size() != coo.row_idx.size()) {
    fail(fmt::format("{} row indices, {} column indices and {} values", coo.row_idx.size(),
                     coo.col_idx.size(), coo.values.size()),
         "as many of each");
  }
  for (std::size_t entry = 0; entry < coo.row_idx.size(); ++entry) {
    check_index(coo.row_idx[entry], coo.rows, "row", entry);
    check_index(coo.col_idx[entry], coo.cols, "column", entry);
  }
  return assemble(coo.rows, coo.cols, coo.row_idx, coo.col_idx, coo.values);
}

template <Scalar Value, Index Idx>
Coo<Value, Idx> to_coo(const Csr<Value, Idx>& csr) {
  return {csr.rows, csr.cols, expand_rows(csr), csr.col_idx, csr.values};
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> transpose(const Csr<Value, Idx>& csr) {
  return assemble(csr.cols, csr.rows, csr.col_idx, expand_rows(csr), csr.values);
}

template <Scalar Value, Index Idx>
std::int64_t drop_zeros(Csr<Value, Idx>& csr) {
  std::int64_t kept = 0;
  std::int64_t begin = 0;
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    const std::int64_t end = csr.row_ptr[row + 1];
    for (std::int64_t i = begin; i < end; ++i) {
      if (csr.values[i] == Value{}) continue;
      csr.col_idx[kept] = csr.col_idx[i];
      csr.values[kept++] = csr.values[i];
    }
    csr.row_ptr[row + 1] = kept;
    begin = end;
  }
  const std::int64_t dropped = csr.nnz() - kept;
  csr.col_idx.resize(kept);
  csr.values.resize(kept);
  return dropped;
}

template <Scalar Value, Index Idx>
void validate(const Csr<Value, Idx>& csr) {
  if (csr.rows < 0 || csr.cols < 0)
    fail(fmt::format("{} rows and {} columns", csr.rows, csr.cols), "sizes of at least 0");
  if (std::ssize(csr.row_ptr) != csr.rows + 1) {
    fail(fmt::format("{} row offsets", csr.row_ptr.size()),
         fmt::format("{} for {} rows", csr.rows + 1, csr.rows));
  }
  if (csr.row_ptr.front() != 0) fail(fmt::format("first row offset {}", csr.row_ptr.front()), "0");
  if (csr.values.size() != csr.col_idx.size() || csr.row_ptr.back() != csr.nnz()) {
    fail(fmt::format("{} columns, {} values and a last row offset of {}", csr.nnz(),
                     csr.values.size(), csr.row_ptr.back()),
         "as many of each");
  }
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    const std::int64_t begin = csr.row_ptr[row];
    const std::int64_t end = csr.row_ptr[row + 1];
    if (end < begin || end > csr.nnz()) {
      fail(fmt::format("offsets {} to {} for row {}", begin, end, row),
           fmt::format("ascending offsets up to {}", csr.nnz()));
    }
    std::int64_t smallest = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t col = csr.col_idx[i];
      if (col < smallest || col >= csr.cols) {
        fail(fmt::format("column {} in row {}", col, row),
             fmt::format("ascending columns, here from {} to {}", smallest, csr.cols - 1));
      }
      smallest = col + 1;
    }
  }
}

#define SORTIE_INSTANTIATE(Value, Idx)                        \
  template Csr<Value, Idx> to_csr(const Coo<Value, Idx>&);    \
  template Coo<Value, Idx> to_coo(const Csr<Value, Idx>&);    \
  template Csr<Value, Idx> transpose(const Csr<Value, Idx>&); \
  template std::int64_t drop_zeros(Csr<Value, Idx>&);         \
  template void validate(const Csr<Value, Idx>&);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
