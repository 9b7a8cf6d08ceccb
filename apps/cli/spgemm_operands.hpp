// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "apps/cli/command.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_text.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"

/// The factors of `sortie spgemm`, from their files to their arrays.
namespace sortie::cli {

using matrices::MatrixText;

/// The texts of A and, if B is not A, of B.
struct OperandTexts {
  /// \throws Error (input) as the reader, or for incompatible shapes
  OperandTexts(const HostContext& context, const std::string& path_a, const std::string& path_b,
               bool transpose_a, bool transpose_b)
      : a(context, path_a) {
    if (!path_b.empty()) b.emplace(context, path_b);
    const std::int64_t cols_a = transpose_a ? a.header.rows : a.header.cols;
    const std::int64_t rows_b = transpose_b ? header_b().cols : header_b().rows;
    if (cols_a == rows_b) return;
    const auto named = [](const MatrixText& text, bool transposed) {
      return fmt::format("{}{} ({} x {})", text.name, transposed ? " transposed, as read" : "",
                         text.header.rows, text.header.cols);
    };
    throw Error(ErrorKind::input,
                fmt::format("{} and {}: found {} columns and {} rows, expected "
                            "equal numbers",
                            named(a, transpose_a), named(b ? *b : a, transpose_b), cols_a, rows_b));
  }

  [[nodiscard]] const matrices::MatrixMarketHeader& header_b() const {
    return b ? b->header : a.header;
  }
  /// True if the number of rows or columns exceeds 2^31 - 1.
  [[nodiscard]] bool need_wide_index() const {
    return std::max({a.header.rows, a.header.cols, header_b().rows, header_b().cols}) >
           std::numeric_limits<std::int32_t>::max();
  }
  [[nodiscard]] bool any_complex() const {
    return a.header.field == matrices::Field::complex ||
           header_b().field == matrices::Field::complex;
  }

  MatrixText a;
  std::optional<MatrixText> b;
};

/// The parsed operands A and, if B is not A, B.
template <class Value, class Idx>
struct Operands {
  using Matrix = matrices::Csr<Value, Idx>;

  /// Parses the texts and frees them.
  Operands(const Job& job, bool transpose_a, bool transpose_b, OperandTexts texts)
      : a(parse(job, std::move(texts.a))) {
    if (texts.b) other_b = parse(job, std::move(*texts.b));
    if (!transpose_a && !transpose_b) return;
    const PhaseTimer timer(job.reading_context(), "transpose");
    if (transpose_b) other_b = matrices::transpose(b());
    if (!transpose_a) return;
    Matrix transposed = matrices::transpose(a);
    if (!other_b) other_b = std::move(a);
    a = std::move(transposed);
  }

  [[nodiscard]] const Matrix& b() const { return other_b ? *other_b : a; }

  Matrix a;
  std::optional<Matrix> other_b;

 private:
  static Matrix parse(const Job& job, MatrixText text) {
    return std::move(text).parse<Value, Idx>(job.host_context(), job.reading_context());
  }
};

}  // namespace sortie::cli
