// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <limits>

#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/progress.hpp"
#include "core/whole_file.hpp"
#include "matrices/entry_writer.hpp"
#include "matrices/instantiate.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/run_report.hpp"

namespace sortie::matrices {

namespace {

const std::string& require_rewritable(const std::string& path) {
  if (WholeFile::takes_rewrites(path)) return path;
  throw Error(ErrorKind::output,
              fmt::format("{}: found a stream, expected a regular file, which a matrix written in "
                          "chunks of rows requires",
                          path == "-" ? "<stdout>" : path));
}

}  // namespace

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

  State(const HostContext& given, const std::string& name, std::int64_t all_rows,
        std::int64_t all_cols)
      : context(given),
        path(name),
        rows(all_rows),
        cols(all_cols),
        file(require_rewritable(name)) {}

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
    : state_(std::make_unique<State>(context, path, rows, cols)) {
  start_host_runtime(context.threads);
  state_->file.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n",
                                 detail::EntryForm<Csr<Value, Idx>>::field));
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
  detail::write_entries(state_->file, rows, state_->rows_written,
                        [](std::int64_t, std::int64_t) {});
  state_->rows_written += rows.rows;
  state_->nnz += rows.nnz();
  report_progress(state_->context, "write matrix", static_cast<std::uint64_t>(state_->rows_written),
                  static_cast<std::uint64_t>(state_->rows));
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

#define SORTIE_INSTANTIATE(Value, Idx) template class MatrixMarketRows<Value, Idx>;
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
