// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"

namespace sortie::matrices {

namespace {

/// Entries per buffer: about 1 MiB of text, which stays in the L2 cache between formatting and
/// writing.
constexpr std::int64_t entries_per_block = std::int64_t{1} << 15;

/// Maximum length of an index (19 digits) and of a double in shortest form
/// ("-2.2250738585072014e-308"), each including the separator after it.
constexpr std::size_t max_index_length = 20;
constexpr std::size_t max_number_length = 25;

/// Numbers after the indices of an entry.
template <class Matrix>
constexpr std::size_t numbers_per_entry = 1;
template <Index Idx>
constexpr std::size_t numbers_per_entry<Pattern<Idx>> = 0;
template <Index Idx>
constexpr std::size_t numbers_per_entry<Csr<std::complex<double>, Idx>> = 2;

template <class Matrix>
std::string banner() {
  constexpr std::array fields{"pattern", "real", "complex"};
  return fmt::format("%%MatrixMarket matrix coordinate {} general\n",
                     fields[numbers_per_entry<Matrix>]);
}

template <class Number>
char* put(char* at, Number number, char separator) {
  at = std::to_chars(at, at + max_number_length, number).ptr;
  *at = separator;
  return at + 1;
}

/// Formats the entries [begin, end), which may start and end within rows.
/// \param first_row  0-based row number of row 0 of the matrix in the file
template <class Matrix>
std::string_view format_entries(const Matrix& matrix, std::int64_t first_row, std::int64_t begin,
                                std::int64_t end, std::vector<char>& buffer) {
  constexpr std::size_t max_entry_length =
      2 * max_index_length + numbers_per_entry<Matrix> * max_number_length;
  buffer.resize(max_entry_length * (end - begin));
  char* at = buffer.data();
  const auto& row_ptr = matrix.row_ptr;
  std::int64_t row = std::upper_bound(row_ptr.begin(), row_ptr.end(), begin) - row_ptr.begin() - 1;
  for (std::int64_t i = begin; i < end; ++i) {
    while (row_ptr[row + 1] <= i) ++row;
    at = put(at, first_row + row + 1, ' ');
    constexpr std::size_t numbers = numbers_per_entry<Matrix>;
    at = put(at, static_cast<std::int64_t>(matrix.col_idx[i]) + 1, numbers == 0 ? '\n' : ' ');
    if constexpr (numbers == 2) {
      at = put(at, matrix.values[i].real(), ' ');
      at = put(at, matrix.values[i].imag(), '\n');
    } else if constexpr (numbers == 1) {
      at = put(at, matrix.values[i], '\n');
    }
  }
  return {buffer.data(), at};
}

/// Writes the entries of a matrix row by row. Each thread formats one block; then the blocks are
/// written in order.
/// \param first_row  0-based row number of row 0 of the matrix in the file
/// \param tell       called repeatedly as tell(blocks done, total blocks)
template <class Matrix, class Tell>
void write_entries(WholeFile& file, const Matrix& matrix, std::int64_t first_row,
                   const Tell& tell) {
  const std::int64_t blocks = (matrix.nnz() + entries_per_block - 1) / entries_per_block;
  const std::int64_t batch = std::min(blocks, static_cast<std::int64_t>(worker_threads()));
  std::vector<std::vector<char>> buffers(batch);
  std::vector<std::string_view> texts(batch);
  for (std::int64_t first = 0; first < blocks; first += batch) {
    const std::int64_t count = std::min(batch, blocks - first);
    for_each_range(count, 1, [&](std::int64_t i, std::int64_t) {
      const std::int64_t begin = (first + i) * entries_per_block;
      const std::int64_t end = std::min(matrix.nnz(), begin + entries_per_block);
      texts[i] = format_entries(matrix, first_row, begin, end, buffers[i]);
    });
    for (std::int64_t i = 0; i < count; ++i) file.write(texts[i]);
    tell(first + count, blocks);
  }
}

const std::string& require_rewritable(const std::string& path) {
  if (WholeFile::takes_rewrites(path)) return path;
  throw Error(ErrorKind::output,
              fmt::format("{}: found a stream, expected a regular file, which a matrix written in "
                          "chunks of rows requires",
                          path == "-" ? "<stdout>" : path));
}

template <class Matrix>
void write(const HostContext& context, const std::string& path, const Matrix& matrix) {
  start_host_runtime(context.threads);
  PhaseTimer timer(context, "write matrix");
  WholeFile file(path);
  file.write(banner<Matrix>());
  file.write(fmt::format("{} {} {}\n", matrix.rows, matrix.cols, matrix.nnz()));
  write_entries(file, matrix, 0, [&](std::int64_t done, std::int64_t blocks) {
    report_progress(context, "write matrix", done, blocks);
  });
  timer.set_bytes(file.bytes_written());
  file.commit();
}

}  // namespace

template <Scalar Value, Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Csr<Value, Idx>& matrix) {
  write(context, path, matrix);
}

template <Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Pattern<Idx>& pattern) {
  write(context, path, pattern);
}

template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int32_t>&);
template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int64_t>&);

template <Scalar Value, Index Idx>
struct MatrixMarketRows<Value, Idx>::State {
  HostContext context;
  std::string path;
  std::int64_t rows;
  std::int64_t cols;
  WholeFile file;
  std::int64_t rows_written = 0;
  std::int64_t nnz = 0;
  std::uint64_t sizes_at = 0;  ///< first byte of sizes() in the file

  /// The comment and the size line; the total length is the same for any number of entries.
  [[nodiscard]] std::string sizes() const {
    constexpr int most_digits = std::numeric_limits<std::int64_t>::digits10 + 1;
    const std::string entries = fmt::format("{}", nnz);
    const std::string comment(most_digits - entries.size(), ' ');
    return fmt::format("%{}\n{} {} {}\n", comment, rows, cols, entries);
  }
};

template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>::MatrixMarketRows(const HostContext& context, const std::string& path,
                                               std::int64_t rows, std::int64_t cols)
    : state_(new State{context, path, rows, cols, WholeFile(require_rewritable(path))}) {
  start_host_runtime(context.threads);
  state_->file.write(banner<Csr<Value, Idx>>());
  state_->sizes_at = state_->file.bytes_written();
  state_->file.write(state_->sizes());
}

template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>::~MatrixMarketRows() = default;
template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>::MatrixMarketRows(MatrixMarketRows&&) noexcept = default;
template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>& MatrixMarketRows<Value, Idx>::operator=(MatrixMarketRows&&) noexcept =
    default;

template <Scalar Value, Index Idx>
std::int64_t MatrixMarketRows<Value, Idx>::rows_written() const {
  return state_->rows_written;
}

template <Scalar Value, Index Idx>
std::int64_t MatrixMarketRows<Value, Idx>::nnz() const {
  return state_->nnz;
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::append(const Csr<Value, Idx>& rows) {
  const std::int64_t rows_left = state_->rows - state_->rows_written;
  if (rows.cols != state_->cols || rows.rows > rows_left) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: found {} x {} rows to append, expected at most {} x {}",
                            state_->path, rows.rows, rows.cols, rows_left, state_->cols));
  }
  const PhaseTimer timer(state_->context, "write matrix");
  write_entries(state_->file, rows, state_->rows_written, [](std::int64_t, std::int64_t) {});
  state_->rows_written += rows.rows;
  state_->nnz += rows.nnz();
  report_progress(state_->context, "write matrix", state_->rows_written, state_->rows);
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::commit() {
  if (state_->rows_written != state_->rows) {
    throw Error(ErrorKind::usage, fmt::format("{}: found {} rows at the end, expected {}",
                                              state_->path, state_->rows_written, state_->rows));
  }
  state_->file.rewrite(state_->sizes_at, state_->sizes());
  state_->file.commit();
}

#define SORTIE_INSTANTIATE(Value, Idx)                                      \
  template void write_matrix_market(const HostContext&, const std::string&, \
                                    const Csr<Value, Idx>&);                \
  template class MatrixMarketRows<Value, Idx>;
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
