// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sortie/csr.hpp"
#include "sortie/spgemm_chunks.hpp"

/// What products of both backends have in common.
namespace sortie::spgemm {

/// Columns and values of consecutive rows of C, in arrays of a backend.
template <class Columns, class Values>
struct RowEntries {
  Columns col_idx;
  Values values;
};

/// A product C = A * B on a backend. Its constructor counts entries or products; next() computes
/// the next rows of C until all are done. multiply(), multiply_in_chunks() and work_space() of a
/// backend follow from it (multiply.cpp in its folder).
template <class P>
concept Product = requires(P product) {
  typename P::Entries;  // RowEntries
  // The next rows; no value when all rows are done.
  { product.next() } -> std::same_as<std::optional<typename P::Entries>>;
  // Offsets of all rows of C, complete for the rows that next() has returned.
  {product.row_ptr()};
  // Rows that next() has returned.
  { product.rows_done() } -> std::same_as<std::int64_t>;
};

/// Computes all rows and moves them to `c`, whose shape is set.
/// \param join  join(parts, entries, c) concatenates the arrays of several parts with so many
///              entries together
template <Product P, class Matrix, class Join>
void take_all_rows(P& product, Matrix& c, const Join& join) {
  std::vector<typename P::Entries> parts;
  std::int64_t entries = 0;
  while (auto rows = product.next()) {
    entries += static_cast<std::int64_t>(rows->col_idx.size());
    parts.push_back(std::move(*rows));
  }
  c.row_ptr = std::move(product.row_ptr());
  if (parts.size() == 1) {
    c.col_idx = std::move(parts.front().col_idx);
    c.values = std::move(parts.front().values);
  } else {
    join(parts, entries, c);
  }
}

/// Passes the rows of C to `sink` in chunks on the host. C never exists as a whole.
/// \param cols     columns of C
/// \param to_host  to_host(entries, first_row, rows) moves or copies the entries of the rows from
///                 first_row on to `rows`, and their offsets in C
template <Product P, matrices::Scalar Value, matrices::Index Idx, class ToHost>
void pass_rows(P& product, std::int64_t cols, const ProductSink<Value, Idx>& sink,
               const ToHost& to_host) {
  matrices::Csr<Value, Idx> rows;  // reused for every chunk
  std::int64_t first_row = 0;
  while (auto entries = product.next()) {
    rows.rows = product.rows_done() - first_row;
    rows.cols = cols;
    rows.row_ptr.resize(static_cast<std::size_t>(rows.rows) + 1);
    to_host(*entries, first_row, rows);
    entries.reset();
    const std::int64_t before = rows.row_ptr.front();
    for (std::int64_t& offset : rows.row_ptr) offset -= before;
    first_row = product.rows_done();
    sink(rows);
  }
}

}  // namespace sortie::spgemm
