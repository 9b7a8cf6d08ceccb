// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sortie/error.hpp"

namespace sortie::cli {

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
  const std::int64_t rows_b = command.transpose_b ? header_b().cols : header_b().rows;
  if (a.header.cols == rows_b) return;
  throw Error(ErrorKind::input,
              fmt::format("{} ({} x {}) and {}{} ({} x {}): found {} columns and {} rows, expected "
                          "equal numbers",
                          a.name, a.header.rows, a.header.cols, b ? b->name : a.name,
                          command.transpose_b ? " transposed, as read" : "", header_b().rows,
                          header_b().cols, a.header.cols, rows_b));
}

bool OperandTexts::need_wide_index() const {
  return std::max({a.header.rows, a.header.cols, header_b().rows, header_b().cols}) >
         std::numeric_limits<std::int32_t>::max();
}

bool OperandTexts::any_complex() const {
  return a.header.field == matrices::Field::complex || header_b().field == matrices::Field::complex;
}

}  // namespace sortie::cli
