// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/cli/spgemm_command.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_text.hpp"
#include "sortie/error.hpp"
#include "sortie/galerkin.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using matrices::MatrixText;

template <class Value, class Idx>
Csr<Value, Idx> absolute(Csr<Value, Idx> matrix) {
  for (Value& value : matrix.values) value = Value(std::abs(value));
  return matrix;
}

/// Compares C with two products by Eigen, within the rounding error of the sums of products.
/// \throws Error (check)
template <class Value, class Idx>
void verify(const Job& job, const SpgemmCommand& command, const Csr<Value, Idx>& a,
            const Csr<Value, Idx>& p, const Csr<Value, Idx>& c) {
  const PhaseTimer timer(job.context(), "verify");
  const Context host{job.host_context(), Backend::host};
  const spgemm::Algorithm checker = checking_algorithm(command);
  const Csr<Value, Idx> r = matrices::transpose(p);
  const Csr<Value, Idx> expected =
      spgemm::multiply(host, r, spgemm::multiply(host, a, p, checker), checker);
  const Csr<Value, Idx> magnitudes = spgemm::multiply(host, absolute(a), absolute(p));
  // No entry of C has more terms than its row has products of P^T * A.
  const std::int64_t terms = spgemm::product_size(r, a).longest_row_products + 4;
  const double tolerance =
      4.0 * static_cast<double>(terms) *
      static_cast<double>(std::numeric_limits<decltype(std::abs(Value{}))>::epsilon());
  if (command.drop_zeros) {
    spgemm::compare_without_zeros(c, expected, r, magnitudes, tolerance);
  } else {
    spgemm::compare(c, expected, r, magnitudes, tolerance);
  }
}

template <class Value, class Idx>
void choose_backend(Job& job, const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  if (!job.may_choose_backend()) return;
  const PhaseTimer timer(job.reading_context(), "choose backend");
  const spgemm::ProductSize size = spgemm::product_size(a, p);
  job.choose_backend(spgemm_seconds(size.products, size.bytes_a + size.bytes_b,
                                    threads_of(job.reading_context())));
}

template <class Value, class Idx>
void report_operands(RunReport& report, const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  report.set("algorithm", "galerkin");
  report.set("value_type", value_type(a));
  report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
  report_size(report, "a", size_of(a));
  report_size(report, "p", size_of(p));
}

/// `--dry-run`
template <class Value, class Idx>
void show_size(Job& job, const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  PhaseTimer timer(job.context(), "estimate");
  const spgemm::GalerkinSize size = spgemm::galerkin_size(job.context(), a, p);
  timer.stop();
  RunReport& report = job.report();
  report.set("dry_run", true);
  report_operands(report, a, p);
  report.set("rows_c", size.rows);
  report.set("cols_c", size.cols);
  report.set("nnz_c_bound", size.nnz_c_bound);
  report.set("products", size.products);
  report.set("triples", size.triples);
  report.set("bytes_c_bound", size.bytes_c_bound);
  report.set("work_space_least", size.space.least);
  report.set("work_space_most", size.space.most);
  report.set("work_space_limit", size.space.limit);
  report.set("fits", size.space.least <= size.space.limit);
  std::string text = line("A", size_of(a)) + line("P", size_of(p));
  text += fmt::format(
      "C  {} x {}, at most {} entries, {}\n{} products of P^T * A, {} with P at most\n"
      "work space on {}: ",
      size.rows, size.cols, size.nnz_c_bound, format_bytes(size.bytes_c_bound), size.products,
      size.triples, name(job.context().backend));
  const spgemm::WorkSpace& space = size.space;
  const std::string limit = fmt::format("{} {}", format_bytes(space.limit),
                                        job.memory_budget() == 0 ? "free" : "allowed");
  if (space.least > space.limit) {
    text += fmt::format("found {}, expected at least {}: the product would not fit", limit,
                        format_bytes(space.least));
  } else {
    text += fmt::format("at most {} of {}, at least {}", format_bytes(space.most), limit,
                        format_bytes(space.least));
  }
  job.summarize("", text);
}

template <class Value, class Idx>
void multiply(Job& job, const SpgemmCommand& command, const Csr<Value, Idx>& a,
              const Csr<Value, Idx>& p) {
  Csr<Value, Idx> c;
  const double seconds = job.repeated("multiply", [&] {
    c = {};
    c = spgemm::galerkin(job.context(), a, p);
  });
  RunReport& report = job.report();
  if (command.drop_zeros) {
    const PhaseTimer timer(job.context(), "drop zeros");
    report.set("zeros_dropped", matrices::drop_zeros(c));
  }
  std::string text = line("A", size_of(a)) + line("P", size_of(p)) + line("C", size_of(c)) +
                     fmt::format("P^T * A * P in {:.3f} ms on {} ({})", 1e3 * seconds,
                                 name(job.context().backend), value_type(a));
  if (command.verify) {
    verify(job, command, a, p, c);
    const std::string checker(spgemm::name(checking_algorithm(command)));
    report.set("verified_by", checker);
    text += "\nverified: equal to two products by " + checker;
  }
  report_checksum(job, command, c.row_ptr, c.col_idx, c.values);
  write_product(job, command, c);
  report_operands(report, a, p);
  report_size(report, "c", size_of(c));
  report.set("multiply_seconds", seconds);
  job.summarize(command.output, text);
}

/// \throws Error (input) shapes that do not conform
void check_shapes(const MatrixText& a, const MatrixText& p) {
  if (a.header.rows == p.header.rows && a.header.cols == p.header.rows) return;
  throw Error(
      ErrorKind::input,
      fmt::format("{} ({} x {}) and --galerkin {} ({} x {}): expected a square matrix with "
                  "as many rows as the prolongation",
                  a.name, a.header.rows, a.header.cols, p.name, p.header.rows, p.header.cols));
}

}  // namespace

void run_galerkin(Job& job, const SpgemmCommand& command) {
  if (job_ranks() != nullptr || command.gpus > 0 || command.plan.ranks > 0 || command.split) {
    throw Error(
        ErrorKind::usage,
        "found --galerkin with several ranks, --gpus, --ranks or --split, expected one process "
        "with one device");
  }
  if (command.algorithm != "auto") {
    throw Error(ErrorKind::usage, fmt::format("found --galerkin with --algorithm {}, expected auto",
                                              sortie::quoted(command.algorithm)));
  }
  if (command.path_a == "-" && command.galerkin == "-")
    throw Error(ErrorKind::usage, "found standard input for A and P, expected at least one file");
  if (!command.dry_run) job.announce_output(command.output);
  MatrixText text_p(job.reading_context(), command.galerkin);
  MatrixText text_a(job.reading_context(), command.path_a);
  check_shapes(text_a, text_p);
  const auto is_complex = [](const MatrixText& text) {
    return text.header.field == matrices::Field::complex;
  };
  const std::string precision = choose_precision(command, is_complex(text_a) || is_complex(text_p));
  const bool is_wide =
      std::max(text_p.header.rows, text_p.header.cols) > std::numeric_limits<std::int32_t>::max();
  const auto run_with_types = [&]<class Value, class Idx>(Value, Idx) {
    const auto parse = [&](MatrixText text) {
      return std::move(text).parse<Value, Idx>(job.host_context(), job.reading_context());
    };
    const Csr<Value, Idx> p = parse(std::move(text_p));
    const Csr<Value, Idx> a = parse(std::move(text_a));
    choose_backend(job, a, p);
    if (command.dry_run) return show_size(job, a, p);
    multiply(job, command, a, p);
  };
  const auto run_with = [&](auto value) {
    if (is_wide) return run_with_types(value, std::int64_t{});
    run_with_types(value, std::int32_t{});
  };
  if (precision == "f32") return run_with(float{});
  if (precision == "f64") return run_with(double{});
  run_with(std::complex<double>{});
}

}  // namespace sortie::cli
