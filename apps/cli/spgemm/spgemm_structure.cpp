// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_modes.hpp"

#include <fmt/format.h>

#include <complex>
#include <optional>
#include <utility>

#include "core/checksum.hpp"
#include "core/phase_timer.hpp"
#include "sortie/csr.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"

namespace sortie::cli {
namespace {

using matrices::Pattern;
using spgemm::Algorithm;

template <class Idx>
std::string checksum_of(const Pattern<Idx>& pattern) {
  std::uint64_t sum = checksum_seed;
  sum = extend_checksum(sum, pattern.row_ptr.data(), pattern.row_ptr.size() * sizeof(std::int64_t));
  sum = extend_checksum(sum, pattern.col_idx.data(), pattern.col_idx.size() * sizeof(Idx));
  return fmt::format("{:016x}", sum);
}

template <class Idx>
void verify(Job& job, const Pattern<Idx>& a, const Pattern<Idx>& b, const Pattern<Idx>& c,
            Algorithm other) {
  PhaseTimer timer(job.context(), "verify");
  Context host = job.context();
  host.backend = Backend::host;
  host.report = nullptr;
  spgemm::compare(c, spgemm::multiply_structure(host, a, b, other));
  job.report().set("verified_by", std::string(spgemm::name(other)));
}

}  // namespace

template <class Value, class Idx>
void multiply_structures(Job& job, const SpgemmCommand& command, Operands<Value, Idx> operands) {
  const bool b_is_a = operands.b_is_a();
  const Pattern<Idx> a = matrices::pattern_of(std::move(operands).take_a());
  std::optional<Pattern<Idx>> other_b;
  if (!b_is_a) other_b = matrices::pattern_of(std::move(operands).take_b());
  const Pattern<Idx>& b = b_is_a ? a : *other_b;
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);

  Pattern<Idx> c;
  const double seconds = job.repeated([&] {
    c = {};
    c = spgemm::multiply_structure(job.context(), a, b, algorithm);
  });
  const std::int64_t products = spgemm::count_products(a, b);
  RunReport& report = job.report();
  report.set("algorithm", command.algorithm);
  report.set("value_type", std::string("pattern"));
  report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
  report_shape(report, "a", a.rows, a.cols, a.nnz());
  report_shape(report, "b", b.rows, b.cols, b.nnz());
  report_shape(report, "c", c.rows, c.cols, c.nnz());
  report.set("products", products);
  report.set("multiply_seconds", seconds);
  report.set("checksum_c", checksum_of(c));

  const Algorithm other = checking_algorithm(algorithm);
  if (command.verify) verify(job, a, b, c, other);
  if (!command.output.empty()) {
    PhaseTimer timer(job.context(), "write");
    matrices::write_matrix_market(job.host_context(), command.output, c);
  }
  const auto line = [](const char* label, const Pattern<Idx>& pattern) {
    return fmt::format("{}  {}, {} entries\n", label, shape(pattern.rows, pattern.cols),
                       pattern.nnz());
  };
  std::string text = line("A", a);
  if (!b_is_a) text += line("B", b);
  text += line("C", c);
  text += fmt::format("structure of {} products in {:.3f} ms on {} ({})", products, 1e3 * seconds,
                      name(job.context().backend), command.algorithm);
  if (command.verify) {
    text += fmt::format("\nverified: equal to the structure by {}", spgemm::name(other));
  }
  job.summarize(command.output, text);
}

#define INSTANTIATE(Value, Idx) \
  template void multiply_structures(Job&, const SpgemmCommand&, Operands<Value, Idx>);
INSTANTIATE(float, std::int32_t)
INSTANTIATE(float, std::int64_t)
INSTANTIATE(std::complex<double>, std::int32_t)
INSTANTIATE(std::complex<double>, std::int64_t)
#undef INSTANTIATE

}  // namespace sortie::cli
