// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "matrices/rows_view.hpp"
#include "sortie/context.hpp"

/// Internal to Sortie: Matrix Market files of rows whose copy from a device may not be complete.
namespace sortie::matrices {

/// sortie::matrices::write_matrix_market() of such rows.
template <Scalar Value, Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const ArrivingRows<Value, Idx>& rows);

/// What MatrixMarketRows does, also for such rows.
template <Scalar Value, Index Idx>
class MatrixMarketRowsWriter {
 public:
  MatrixMarketRowsWriter(const HostContext& context, const std::string& path, std::int64_t rows,
                         std::int64_t cols);
  ~MatrixMarketRowsWriter();
  MatrixMarketRowsWriter(const MatrixMarketRowsWriter&) = delete;
  MatrixMarketRowsWriter& operator=(const MatrixMarketRowsWriter&) = delete;

  void append(const RowsView<Value, Idx>& rows);
  void commit();
  [[nodiscard]] std::int64_t rows_written() const { return rows_written_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }

 private:
  struct Output;

  [[nodiscard]] std::string sizes() const;

  HostContext context_;
  std::string path_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::unique_ptr<Output> output_;
  std::int64_t rows_written_ = 0;
  std::int64_t nnz_ = 0;
};

}  // namespace sortie::matrices
