// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/chunked_rows.hpp"
#include "matrices/matrix_market_format.hpp"
#include "matrices/matrix_market_rows.hpp"
#include "matrices/row_assembly.hpp"
#include "matrices/rows_view.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"

namespace sortie::matrices {

namespace {

using namespace detail;

/// Writes the entries of a matrix row by row.
/// \param first_row  0-based row number of row 0 of the matrix in the file
/// \param tell       called repeatedly as tell(blocks done, total blocks)
template <class Value, Index Idx, class Tell>
void write_entries(WholeFile& file, TextBuffers<Value>& buffers, const RowsView<Value, Idx>& matrix,
                   std::int64_t first_row, const Tell& tell) {
  constexpr std::int64_t size = entries_per_block<Value>;
  OutputBlocks blocks;
  blocks.count = static_cast<std::uint64_t>((matrix.nnz() + size - 1) / size);
  blocks.make = [&](int worker, std::uint64_t block) {
    const std::int64_t begin = static_cast<std::int64_t>(block) * size;
    const std::int64_t end = std::min(matrix.nnz(), begin + size);
    return format_entries(matrix, first_row, begin, end, buffers.of(worker));
  };
  blocks.tell = [&](std::uint64_t written) { tell(written, blocks.count); };
  write_blocks(file, buffers.workers(), blocks);
}

template <class Value, Index Idx>
void write(const HostContext& context, const std::string& path,
           const RowsView<Value, Idx>& matrix) {
  PhaseTimer timer(context, "write matrix");
  WholeFile file(path);
  file.write(banner<Value>());
  file.write(size_line(matrix.rows, matrix.cols, matrix.nnz()));
  TextBuffers<Value> buffers(static_cast<std::uint64_t>(threads_of(context)));
  write_entries(file, buffers, matrix, 0, [&](std::uint64_t done, std::uint64_t blocks) {
    report_progress(context, "write matrix", done, blocks);
  });
  timer.set_bytes(file.bytes_written());
  file.commit();
}

}  // namespace

template <Element Value, Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Csr<Value, Idx>& matrix) {
  start_host_runtime(context.threads);
  write(context, path, view_of(matrix));
}

template <Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Pattern<Idx>& pattern) {
  start_host_runtime(context.threads);
  write(context, path, view_of(pattern));
}

template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int32_t>&);
template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int64_t>&);

template <Scalar Value, Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const ArrivingRows<Value, Idx>& rows) {
  write(context, path, view_of(rows));
}

// --- Chunks of rows ------------------------------------------------------------------------------

template <Scalar Value, Index Idx>
struct MatrixMarketRowsWriter<Value, Idx>::Output {
  WholeFile file;
  TextBuffers<Value> buffers;
  std::uint64_t sizes_at;  ///< first byte of sizes() in the file
};

/// The comment and the size line; the total length is the same for any number of entries.
template <Scalar Value, Index Idx>
std::string MatrixMarketRowsWriter<Value, Idx>::sizes() const {
  constexpr int most_digits = std::numeric_limits<std::int64_t>::digits10 + 1;
  const std::string entries = fmt::format("{}", nnz_);
  const std::string comment(most_digits - entries.size(), ' ');
  return fmt::format("%{}\n{} {} {}\n", comment, rows_, cols_, entries);
}

template <Scalar Value, Index Idx>
MatrixMarketRowsWriter<Value, Idx>::MatrixMarketRowsWriter(const HostContext& context,
                                                           const std::string& path,
                                                           std::int64_t rows, std::int64_t cols)
    : context_(context),
      path_(path),
      rows_(rows),
      cols_(cols),
      output_(new Output{WholeFile(detail::require_rewritable(path)),
                         TextBuffers<Value>(static_cast<std::uint64_t>(threads_of(context))), 0}) {
  output_->file.write(banner<Value>());
  output_->sizes_at = output_->file.bytes_written();
  output_->file.write(sizes());
}

template <Scalar Value, Index Idx>
MatrixMarketRowsWriter<Value, Idx>::~MatrixMarketRowsWriter() = default;

template <Scalar Value, Index Idx>
void MatrixMarketRowsWriter<Value, Idx>::append(const RowsView<Value, Idx>& rows) {
  detail::require_next_rows(path_, rows, rows_ - rows_written_, cols_);
  PhaseTimer timer(context_, "write matrix");
  WholeFile& file = output_->file;
  const std::uint64_t bytes_before = file.bytes_written();
  write_entries(file, output_->buffers, rows, rows_written_, [](std::uint64_t, std::uint64_t) {});
  timer.set_bytes(file.bytes_written() - bytes_before);
  rows_written_ += rows.rows;
  nnz_ += rows.nnz();
  report_progress(context_, "write matrix", rows_written_, rows_);
}

template <Scalar Value, Index Idx>
void MatrixMarketRowsWriter<Value, Idx>::commit() {
  detail::require_all_rows(path_, rows_written_, rows_);
  const PhaseTimer timer(context_, "write matrix");
  output_->file.rewrite(output_->sizes_at, sizes());
  output_->file.commit();
}

template <Scalar Value, Index Idx>
struct MatrixMarketRows<Value, Idx>::State {
  MatrixMarketRowsWriter<Value, Idx> writer;
};

template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>::MatrixMarketRows(const HostContext& context, const std::string& path,
                                               std::int64_t rows, std::int64_t cols) {
  start_host_runtime(context.threads);
  state_.reset(new State{{context, path, rows, cols}});
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
  return state_->writer.rows_written();
}

template <Scalar Value, Index Idx>
std::int64_t MatrixMarketRows<Value, Idx>::nnz() const {
  return state_->writer.nnz();
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::append(const Csr<Value, Idx>& rows) {
  state_->writer.append(view_of(rows));
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::commit() {
  state_->writer.commit();
}

#define SORTIE_INSTANTIATE(Value, Idx) \
  template void write_matrix_market(const HostContext&, const std::string&, const Csr<Value, Idx>&);
SORTIE_MATRICES_FOR_EACH_OTHER_ELEMENT(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Idx)                                      \
  template void write_matrix_market(const HostContext&, const std::string&, \
                                    const Csr<Value, Idx>&);                \
  template void write_matrix_market(const HostContext&, const std::string&, \
                                    const ArrivingRows<Value, Idx>&);       \
  template class MatrixMarketRowsWriter<Value, Idx>;                        \
  template class MatrixMarketRows<Value, Idx>;
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
