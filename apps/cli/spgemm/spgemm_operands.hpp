// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/cli/common_options.hpp"
#include "apps/cli/job.hpp"
#include "core/byte_source.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/spgemm.hpp"

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

/// The parsed operands A and B.
template <class Value, class Idx>
class Operands {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Parses the texts and frees them.
  Operands(const Context& context, const SpgemmCommand& command, OperandTexts texts);

  [[nodiscard]] const Matrix& a() const { return a_; }
  [[nodiscard]] const Matrix& b() const { return b_ ? *b_ : a_; }
  [[nodiscard]] bool b_is_a() const { return !b_; }

  /// The parsed matrices; B only if it is not A.
  [[nodiscard]] Matrix take_a() && { return std::move(a_); }
  [[nodiscard]] Matrix take_b() && { return std::move(*b_); }

 private:
  Matrix a_;
  std::optional<Matrix> b_;
};

/// The algorithm that --verify compares with: different from the checked one and independent of the
/// sorting layer.
[[nodiscard]] spgemm::Algorithm checking_algorithm(spgemm::Algorithm checked);

/// Formats a shape, e.g. "24 x 24".
[[nodiscard]] std::string shape(std::int64_t rows, std::int64_t cols);

/// Sets the figures rows_X, cols_X and nnz_X of the report.
void report_shape(RunReport& report, const std::string& matrix, std::int64_t rows,
                  std::int64_t cols, std::int64_t nnz);

/// "f32", "f64" or "complex"
template <class Value>
[[nodiscard]] std::string value_type();

}  // namespace sortie::cli

/// Expands MACRO(Value, Idx) for all types of operands.
#define SORTIE_CLI_FOR_EACH_OPERANDS(MACRO) \
  MACRO(float, std::int32_t)                \
  MACRO(float, std::int64_t)                \
  MACRO(double, std::int32_t)               \
  MACRO(double, std::int64_t)               \
  MACRO(std::complex<double>, std::int32_t) \
  MACRO(std::complex<double>, std::int64_t)
