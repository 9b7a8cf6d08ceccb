#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sortie/apps/cli/common_options.hpp"
#include "sortie/apps/cli/job.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/byte_source.hpp"
#include "sortie/matrices/csr.hpp"
#include "sortie/matrices/matrix_market.hpp"

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

/// A file read into memory, so that its header can be looked at before its entries, also when it is
/// standard input.
struct MatrixText {
  MatrixText(const Context& context, const std::string& path);

  std::string name;
  ByteBuffer bytes;
  matrices::MatrixMarketHeader header;
};

/// The texts of A and, where it is not A, of B.
struct OperandTexts {
  /// \throws Error (input) as the reader, or shapes that do not conform
  OperandTexts(const Context& context, const SpgemmCommand& command);

  [[nodiscard]] const matrices::MatrixMarketHeader& header_b() const {
    return b ? b->header : a.header;
  }
  /// True when rows or columns pass 2^31 - 1.
  [[nodiscard]] bool need_wide_index() const;
  [[nodiscard]] bool any_complex() const;

  MatrixText a;
  std::optional<MatrixText> b;
};

/// A and B as they are multiplied.
template <class Value, class Idx>
class Operands {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Parses the texts and lets them go.
  Operands(const Context& context, const SpgemmCommand& command, OperandTexts texts);

  [[nodiscard]] const Matrix& a() const { return a_; }
  [[nodiscard]] const Matrix& b() const { return b_ ? *b_ : a_; }
  [[nodiscard]] bool b_is_a() const { return !b_; }

  /// What was parsed; B only where it is not A.
  [[nodiscard]] Matrix take_a() && { return std::move(a_); }
  [[nodiscard]] Matrix take_b() && { return std::move(*b_); }

 private:
  Matrix a_;
  std::optional<Matrix> b_;
};

/// The algorithm that --verify compares with: another one than the one to be checked, and
/// independent of the sorting layer.
[[nodiscard]] spgemm::Algorithm checking_algorithm(spgemm::Algorithm checked);

/// "24 x 24"
[[nodiscard]] std::string shape(std::int64_t rows, std::int64_t cols);

/// Sets the figures rows_X, cols_X and nnz_X of the report.
void report_shape(RunReport& report, const std::string& matrix, std::int64_t rows,
                  std::int64_t cols, std::int64_t nnz);

/// "f32", "f64" or "complex"
template <class Value>
[[nodiscard]] std::string value_type();

}  // namespace sortie::cli

/// The types that operands are read as: MACRO(Value, Idx) for each.
#define SORTIE_CLI_FOR_EACH_OPERANDS(MACRO) \
  MACRO(float, std::int32_t)                \
  MACRO(float, std::int64_t)                \
  MACRO(double, std::int32_t)               \
  MACRO(double, std::int64_t)               \
  MACRO(std::complex<double>, std::int32_t) \
  MACRO(std::complex<double>, std::int64_t)
