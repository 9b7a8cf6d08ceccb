// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/cli/command.hpp"
#include "core/background_task.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_market_rows.hpp"
#include "matrices/npz_rows.hpp"
#include "matrices/rows_view.hpp"

namespace sortie::cli {

/// Writes rows of C on a thread, while the next are computed and while they arrive from the device.
///
///     device   rows 1   | rows 2                | rows 3
///     bus               | copy 1                | copy 2 ...
///     writing           |   format and write 1  |   format and write 2 ...
template <class Value, class Idx>
class ProductOutput {
 public:
  using Rows = matrices::ArrivingRows<Value, Idx>;

  /// \param path  "" for none
  ProductOutput(const Job& job, const std::string& path, bool as_npz, std::int64_t rows,
                std::int64_t cols)
      : job_(job), path_(path), as_npz_(as_npz), rows_(rows), cols_(cols) {}

  /// Waits until the rows before are written, and starts to write these.
  void take(Rows rows) {
    wait();
    chunks_ += 1;
    nnz_ += rows.nnz();
    last_ = rows;
    if (path_.empty()) return;
    if (rows.rows != rows_ && !text_ && !npz_) {
      if (as_npz_) {
        npz_.emplace(context(), path_, rows_, cols_);
      } else {
        text_.emplace(context(), path_, rows_, cols_);
      }
    }
    writing_.emplace([this, rows = std::move(rows)] { write(rows); });
  }

  /// Waits for the end of the writing. Every row has been taken.
  void finish() {
    wait();
    const PhaseTimer timer(job_.context(), "write");
    if (text_) text_->commit();
    if (npz_) npz_->commit();
  }

  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  /// The rows taken last.
  [[nodiscard]] const Rows& last() const { return last_; }

 private:
  /// The report is of the calling thread: the phase "write" is the time that it waits.
  [[nodiscard]] HostContext context() const {
    HostContext context = job_.host_context();
    context.progress = {};
    return context;
  }
  void write(const Rows& rows) {
    if (text_) {
      text_->append(view_of(rows));
    } else if (npz_) {
      npz_->append(view_of(rows));
    } else if (as_npz_) {
      matrices::write_npz(context(), path_, rows);
    } else {
      matrices::write_matrix_market(context(), path_, rows);
    }
  }
  void wait() {
    if (!writing_) return;
    const PhaseTimer timer(job_.context(), "write");
    writing_->wait();
    writing_.reset();
  }

  const Job& job_;
  std::string path_;
  bool as_npz_;
  std::int64_t rows_;
  std::int64_t cols_;
  // If C comes in several chunks, one of them.
  std::optional<matrices::MatrixMarketRowsWriter<Value, Idx>> text_;
  std::optional<matrices::NpzRowsWriter<Value, Idx>> npz_;
  Rows last_;
  std::int64_t chunks_ = 0;
  std::int64_t nnz_ = 0;
  std::optional<BackgroundTask> writing_;  ///< last: its end waits for the thread
};

}  // namespace sortie::cli
