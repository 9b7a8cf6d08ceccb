// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "core/files/whole_file.hpp"
#include "sortie/error.hpp"

/// Internal to matrices: what the writers of matrices in chunks of rows check.
namespace sortie::matrices::detail {

/// Returns the path. \throws Error (output) it is not of a regular file
inline const std::string& require_rewritable(const std::string& path) {
  if (WholeFile::takes_rewrites(path)) return path;
  throw Error(ErrorKind::output,
              fmt::format("{}: found a stream, expected a regular file, which a matrix written in "
                          "chunks of rows requires",
                          path == "-" ? "<stdout>" : path));
}

/// \throws Error (usage) the rows to append are more than `rows_left`, or have other columns
template <class Rows>
void require_next_rows(const std::string& path, const Rows& rows, std::int64_t rows_left,
                       std::int64_t cols) {
  if (rows.cols == cols && rows.rows <= rows_left) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: found {} x {} rows to append, expected at most {} x {}", path,
                          rows.rows, rows.cols, rows_left, cols));
}

/// \throws Error (usage) rows are missing
inline void require_all_rows(const std::string& path, std::int64_t written, std::int64_t rows) {
  if (written == rows) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: found {} rows at the end, expected {}", path, written, rows));
}

}  // namespace sortie::matrices::detail
