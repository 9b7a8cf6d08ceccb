#include "sortie/matrices/matrix_market_rows.hpp"

#include <fmt/format.h>

#include <limits>

#include "sortie/core/error.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/matrices/entry_writer.hpp"
#include "sortie/matrices/instantiate.hpp"

namespace sortie::matrices {

namespace {

const std::string& require_rewritable(const std::string& path) {
  if (WholeFile::takes_rewrites(path)) return path;
  throw Error(ErrorKind::output,
              fmt::format("{}: found no file that can be gone back in, expected one for a matrix "
                          "that is written in chunks of rows",
                          path == "-" ? "<stdout>" : path));
}

}  // namespace

template <Scalar Value, Index Idx>
MatrixMarketRows<Value, Idx>::MatrixMarketRows(const Context& context, const std::string& path,
                                               std::int64_t rows, std::int64_t cols)
    : path_(path), rows_(rows), cols_(cols), file_(require_rewritable(path)) {
  start_host_runtime(context.threads);
  file_.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n",
                          detail::EntryForm<Csr<Value, Idx>>::field));
  sizes_at_ = file_.bytes_written();
  file_.write(sizes());
}

template <Scalar Value, Index Idx>
std::string MatrixMarketRows<Value, Idx>::sizes() const {
  constexpr int most_digits = std::numeric_limits<std::int64_t>::digits10 + 1;
  const std::string entries = fmt::format("{}", nnz_);
  const std::string comment(most_digits - entries.size(), ' ');
  return fmt::format("%{}\n{} {} {}\n", comment, rows_, cols_, entries);
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::append(const Csr<Value, Idx>& rows) {
  if (rows.cols != cols_ || rows.rows > rows_ - rows_written_) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: found {} x {} rows to append, expected at most {} x {}", path_,
                            rows.rows, rows.cols, rows_ - rows_written_, cols_));
  }
  detail::write_entries(file_, rows, rows_written_, [](std::int64_t, std::int64_t) {});
  rows_written_ += rows.rows;
  nnz_ += rows.nnz();
}

template <Scalar Value, Index Idx>
void MatrixMarketRows<Value, Idx>::commit() {
  if (rows_written_ != rows_) {
    throw Error(ErrorKind::usage, fmt::format("{}: found {} rows at the end, expected {}", path_,
                                              rows_written_, rows_));
  }
  file_.rewrite(sizes_at_, sizes());
  file_.commit();
}

#define SORTIE_INSTANTIATE(Value, Idx) template class MatrixMarketRows<Value, Idx>;
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
