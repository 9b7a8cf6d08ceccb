// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/cli/job.hpp"
#include "core/byte_source.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_market_text.hpp"
#include "sortie/csr.hpp"

namespace sortie::cli {

/// The command line of `sortie spgemm`.
struct SpgemmCommand {
  CommonOptions common;
  std::string path_a;
  std::string path_b;
  std::string output;
  bool transpose_b = false;
  std::string precision = "auto";
  std::string algorithm = "auto";
  bool verify = false;
  bool dry_run = false;
  bool structure_only = false;
  bool drop_zeros = false;
};

/// A file read into memory, so that the header can be examined before the entries are parsed, also
/// for standard input.
struct MatrixText {
  MatrixText(const Context& context, const std::string& path);

  std::string name;
  ByteBuffer bytes;
  matrices::MatrixMarketHeader header;
};

/// The texts of A and, if B is not A, of B.
struct OperandTexts {
  /// \throws Error (input) as the reader, or for incompatible shapes
  OperandTexts(const Context& context, const SpgemmCommand& command);

  [[nodiscard]] const matrices::MatrixMarketHeader& header_b() const {
    return b ? b->header : a.header;
  }
  /// True if the number of rows or columns exceeds 2^31 - 1.
  [[nodiscard]] bool need_wide_index() const;
  [[nodiscard]] bool any_complex() const;

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
    if (transpose_b) other_b = matrices::transpose(b());
  }

  [[nodiscard]] const Matrix& b() const { return other_b ? *other_b : a; }

  Matrix a;
  std::optional<Matrix> other_b;

 private:
  static Matrix parse(const Job& job, MatrixText text) {
    const PhaseTimer timer(job.context(), "parse", text.bytes.size);
    return matrices::parse_matrix_market<Value, Idx>(job.host_context(), text.name,
                                                     text.bytes.span());
  }
};

/// Multiplies the operands as the command line asks for, and writes and reports the product.
void run_spgemm(Job& job, const SpgemmCommand& command);

}  // namespace sortie::cli
