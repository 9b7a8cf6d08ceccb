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
#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/npz_file.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"

/// The factors of `sortie spgemm`, from their files to their arrays.
namespace sortie::cli {

/// A file read into memory, so that the header can be examined before the entries are parsed, also
/// for standard input. Of an .npz file that can be read in any order, only the header is read.
struct MatrixText {
  MatrixText(const HostContext& context, const std::string& path)
      : name(path == "-" ? "<stdin>" : path) {
    PhaseTimer timer(context, "read");
    if (matrices::is_npz_file(path)) {
      open_npz(matrices::NpzFile(path, threads_of(context)));
      return;
    }
    bytes = read_all(path, 0, threads_of(context));
    timer.set_bytes(bytes.size);
    if (matrices::starts_as_npz(bytes.span())) {
      open_npz(matrices::NpzFile(name, std::move(bytes)));
    } else {
      header = matrices::parse_matrix_market_header(name, bytes.span());
    }
  }

  std::string name;
  ByteBuffer bytes;
  std::optional<matrices::NpzFile> npz;  ///< instead of `bytes`
  matrices::MatrixMarketHeader header;   ///< of an .npz file: what it would be

 private:
  void open_npz(matrices::NpzFile file) {
    const matrices::NpzHeader& found = file.header();
    header.field = found.complex ? matrices::Field::complex : matrices::Field::real;
    header.rows = found.rows;
    header.cols = found.cols;
    header.entries = found.entries;
    npz.emplace(std::move(file));
  }
};

/// The texts of A and, if B is not A, of B.
struct OperandTexts {
  /// \throws Error (input) as the reader, or for incompatible shapes
  OperandTexts(const HostContext& context, const std::string& path_a, const std::string& path_b,
               bool transpose_b)
      : a(context, path_a) {
    if (!path_b.empty()) b.emplace(context, path_b);
    const std::int64_t rows_b = transpose_b ? header_b().cols : header_b().rows;
    if (a.header.cols == rows_b) return;
    throw Error(ErrorKind::input,
                fmt::format("{} ({} x {}) and {}{} ({} x {}): found {} columns and {} rows, "
                            "expected equal numbers",
                            a.name, a.header.rows, a.header.cols, b ? b->name : a.name,
                            transpose_b ? " transposed, as read" : "", header_b().rows,
                            header_b().cols, a.header.cols, rows_b));
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
  Operands(const Job& job, bool transpose_b, OperandTexts texts)
      : a(parse(job, std::move(texts.a))) {
    if (texts.b) other_b = parse(job, std::move(*texts.b));
    if (!transpose_b) return;
    const PhaseTimer timer(job.reading_context(), "transpose");
    other_b = matrices::transpose(b());
  }

  [[nodiscard]] const Matrix& b() const { return other_b ? *other_b : a; }

  Matrix a;
  std::optional<Matrix> other_b;

 private:
  static Matrix parse(const Job& job, MatrixText text) {
    if (text.npz) return parse_npz(job, std::move(*text.npz));
    const PhaseTimer timer(job.reading_context(), "parse", text.bytes.size);
    return matrices::parse_matrix_market<Value, Idx>(job.host_context(), text.name,
                                                     text.bytes.span());
  }
  static Matrix parse_npz(const Job& job, matrices::NpzFile file) {
    const HostContext context = job.host_context();
    HostMemoryBudget budget(context);
    start_host_runtime(context.threads);
    PhaseTimer reading(job.reading_context(), "read", file.bytes());
    auto arrays = file.load<Value, Idx>(context, budget);
    reading.stop();
    const PhaseTimer timer(job.reading_context(), "parse", file.bytes());
    return matrices::assemble_npz(std::move(arrays), budget);
  }
};

}  // namespace sortie::cli
