// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "core/phase_timer.hpp"
#include "matrices/matrix_market_text.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

bool needs_wide_index(const matrices::MatrixMarketHeader& header) {
  return std::max(header.rows, header.cols) > std::numeric_limits<std::int32_t>::max();
}

void require_conforming(const SpgemmCommand& command, const MatrixText& a, const MatrixText& b) {
  const std::int64_t rows_b = command.transpose_b ? b.header.cols : b.header.rows;
  if (a.header.cols == rows_b) return;
  throw Error(
      ErrorKind::input,
      fmt::format("{} ({}) and {}{} ({}): found {} columns and {} rows, expected equal numbers",
                  a.name, shape(a.header.rows, a.header.cols), b.name,
                  command.transpose_b ? " transposed, as read" : "",
                  shape(b.header.rows, b.header.cols), a.header.cols, rows_b));
}

template <class Value, class Idx>
matrices::Csr<Value, Idx> parse(const Context& context, MatrixText text) {
  PhaseTimer timer(context, "parse", text.bytes.size);
  HostContext reading = context;
  reading.memory_budget = 0;  // --max-memory is of the work space of the product
  reading.report = nullptr;
  return matrices::parse_matrix_market<Value, Idx>(reading, text.name, text.bytes.span());
}

}  // namespace

MatrixText::MatrixText(const Context& context, const std::string& path)
    : name(path == "-" ? "<stdin>" : path) {
  PhaseTimer timer(context, "read");
  bytes = read_all(path);
  timer.set_bytes(bytes.size);
  header = matrices::parse_matrix_market_header(name, bytes.span());
}

OperandTexts::OperandTexts(const Context& context, const SpgemmCommand& command)
    : a(context, command.path_a) {
  if (!command.path_b.empty()) b.emplace(context, command.path_b);
  require_conforming(command, a, b ? *b : a);
}

bool OperandTexts::need_wide_index() const {
  return needs_wide_index(a.header) || needs_wide_index(header_b());
}

bool OperandTexts::any_complex() const {
  return a.header.field == matrices::Field::complex || header_b().field == matrices::Field::complex;
}

template <class Value, class Idx>
Operands<Value, Idx>::Operands(const Context& context, const SpgemmCommand& command,
                               OperandTexts texts)
    : a_(parse<Value, Idx>(context, std::move(texts.a))) {
  if (texts.b) b_ = parse<Value, Idx>(context, std::move(*texts.b));
  if (command.transpose_b) b_ = matrices::transpose(b());
}

spgemm::Algorithm checking_algorithm(spgemm::Algorithm checked) {
  const spgemm::Algorithm eigen = spgemm::parse_algorithm("eigen");
  return checked == eigen ? spgemm::parse_algorithm("reference") : eigen;
}

std::string shape(std::int64_t rows, std::int64_t cols) {
  return fmt::format("{} x {}", rows, cols);
}

void report_shape(RunReport& report, const std::string& matrix, std::int64_t rows,
                  std::int64_t cols, std::int64_t nnz) {
  report.set("rows_" + matrix, rows);
  report.set("cols_" + matrix, cols);
  report.set("nnz_" + matrix, nnz);
}

template <>
std::string value_type<float>() {
  return "f32";
}
template <>
std::string value_type<double>() {
  return "f64";
}
template <>
std::string value_type<std::complex<double>>() {
  return "complex";
}

#define INSTANTIATE(Value, Idx) template class Operands<Value, Idx>;
SORTIE_CLI_FOR_EACH_OPERANDS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::cli
