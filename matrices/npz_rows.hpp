// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "matrices/rows_view.hpp"
#include "sortie/context.hpp"

/// Internal to Sortie: .npz files of rows whose copy from a device may not be complete.
namespace sortie::matrices {

/// sortie::matrices::write_npz() of such rows.
template <Scalar Value, Index Idx>
void write_npz(const HostContext& context, const std::string& path,
               const ArrivingRows<Value, Idx>& rows);

/// What NpzRows does, also for such rows.
template <Scalar Value, Index Idx>
class NpzRowsWriter {
 public:
  NpzRowsWriter(const HostContext& context, const std::string& path, std::int64_t rows,
                std::int64_t cols);
  ~NpzRowsWriter();
  NpzRowsWriter(const NpzRowsWriter&) = delete;
  NpzRowsWriter& operator=(const NpzRowsWriter&) = delete;

  void append(const RowsView<Value, Idx>& rows);
  void commit();
  [[nodiscard]] std::int64_t rows_written() const;
  [[nodiscard]] std::int64_t nnz() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::matrices
