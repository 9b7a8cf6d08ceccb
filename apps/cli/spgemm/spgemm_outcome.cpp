// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_outcome.hpp"

#include <fmt/format.h>

#include <complex>

namespace sortie::cli {

template <class Value, class Idx>
void report_outcome(RunReport& report, const Operands<Value, Idx>& operands,
                    const ProductOutcome& outcome) {
  report.set("algorithm", std::string(spgemm::name(outcome.algorithm)));
  report.set("value_type", value_type<Value>());
  report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
  report_shape(report, "a", operands.a().rows, operands.a().cols, operands.a().nnz());
  report_shape(report, "b", operands.b().rows, operands.b().cols, operands.b().nnz());
  report_shape(report, "c", outcome.rows_c, outcome.cols_c, outcome.nnz_c);
  report.set("products", outcome.products);
  report.set("multiply_seconds", outcome.seconds);
  report.set("gflops", outcome.gflops());
  if (outcome.verified)
    report.set("verified_by", std::string(spgemm::name(checking_algorithm(outcome.algorithm))));
}

template <class Value, class Idx>
std::string describe_outcome(const Context& context, const Operands<Value, Idx>& operands,
                             const ProductOutcome& outcome) {
  const auto line = [](const char* label, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
    return fmt::format("{}  {}, {} entries\n", label, shape(rows, cols), nnz);
  };
  const auto line_of = [&](const char* label, const auto& csr) {
    return line(label, csr.rows, csr.cols, csr.nnz());
  };
  std::string text = line_of("A", operands.a());
  if (!operands.b_is_a()) text += line_of("B", operands.b());
  text += line("C", outcome.rows_c, outcome.cols_c, outcome.nnz_c);
  text += fmt::format("{} products in {:.3f} ms on {} ({}, {}): {:.3f} GFLOP/s", outcome.products,
                      1e3 * outcome.seconds, name(context.backend), spgemm::name(outcome.algorithm),
                      value_type<Value>(), outcome.gflops());
  if (outcome.verified) {
    text += fmt::format("\nverified: equal to the product by {}",
                        spgemm::name(checking_algorithm(outcome.algorithm)));
  }
  return text;
}

#define INSTANTIATE(Value, Idx)                                                                 \
  template void report_outcome(RunReport&, const Operands<Value, Idx>&, const ProductOutcome&); \
  template std::string describe_outcome(const Context&, const Operands<Value, Idx>&,            \
                                        const ProductOutcome&);
SORTIE_CLI_FOR_EACH_OPERANDS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::cli
