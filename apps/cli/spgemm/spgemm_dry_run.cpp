// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_modes.hpp"

#include <fmt/format.h>

#include <complex>
#include <optional>
#include <string>

#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::cli {
namespace {

using spgemm::ProductSize;
using spgemm::WorkSpace;

std::string describe(const Context& context, const SpgemmCommand& command,
                     const std::optional<WorkSpace>& space) {
  const std::string where =
      fmt::format("work space on {} ({})", name(context.backend), command.algorithm);
  if (!space) return where + ": unknown in advance, this algorithm ignores the limit";
  const std::string limit = fmt::format("{} {}", format_bytes(space->limit),
                                        context.memory_budget == 0 ? "free" : "allowed");
  if (space->least > space->limit) {
    return fmt::format("{}: found {}, expected at least {}: the product would not fit", where,
                       limit, format_bytes(space->least));
  }
  return fmt::format("{}: at most {} of {}, at least {}", where, format_bytes(space->most), limit,
                     format_bytes(space->least));
}

template <class Matrix>
std::string describe(const char* label, const Matrix& matrix, std::uint64_t bytes) {
  return fmt::format("{}  {}, {} entries, {}\n", label, shape(matrix.rows, matrix.cols),
                     matrix.nnz(), format_bytes(bytes));
}

void set_figures(RunReport& report, const ProductSize& size,
                 const std::optional<WorkSpace>& space) {
  report.set("rows_c", size.rows);
  report.set("cols_c", size.cols);
  report.set("nnz_c_bound", size.nnz_c_bound);
  report.set("products", size.products);
  report.set("longest_row", size.longest_row + 1);
  report.set("longest_row_products", size.longest_row_products);
  report.set("bytes_a", size.bytes_a);
  report.set("bytes_b", size.bytes_b);
  report.set("bytes_c_bound", size.bytes_c_bound);
  report.set("work_space_known", space.has_value());
  if (!space) return;
  report.set("work_space_least", space->least);
  report.set("work_space_most", space->most);
  report.set("work_space_limit", space->limit);
  report.set("fits", space->least <= space->limit);
}

}  // namespace

template <class Value, class Idx>
void show_estimate(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  PhaseTimer timer(job.context(), "estimate");
  const ProductSize size = spgemm::product_size(operands.a(), operands.b());
  const std::optional<WorkSpace> space = spgemm::work_space<Value, Idx>(
      job.context(), size, spgemm::parse_algorithm(command.algorithm));
  timer.stop();

  RunReport& report = job.report();
  report.set("dry_run", true);
  report.set("algorithm", command.algorithm);
  report.set("value_type", value_type<Value>());
  report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
  report_shape(report, "a", operands.a().rows, operands.a().cols, operands.a().nnz());
  report_shape(report, "b", operands.b().rows, operands.b().cols, operands.b().nnz());
  set_figures(report, size, space);

  std::string text = describe("A", operands.a(), size.bytes_a);
  if (!operands.b_is_a()) text += describe("B", operands.b(), size.bytes_b);
  text += fmt::format("C  {}, at most {} entries, {}\n", shape(size.rows, size.cols),
                      size.nnz_c_bound, format_bytes(size.bytes_c_bound));
  text += fmt::format("{} products", size.products);
  if (size.longest_row >= 0) {
    text += fmt::format(", at most {} in a row (row {})", size.longest_row_products,
                        size.longest_row + 1);
  }
  text += '\n' + describe(job.context(), command, space);
  job.summarize("", text);
}

#define INSTANTIATE(Value, Idx) \
  template void show_estimate(Job&, const SpgemmCommand&, const Operands<Value, Idx>&);
SORTIE_CLI_FOR_EACH_OPERANDS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::cli
