// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <complex>
#include <type_traits>
#include <utility>

#include "apps/cli/command.hpp"
#include "apps/cli/spgemm/spgemm_modes.hpp"
#include "apps/cli/spgemm/spgemm_operands.hpp"
#include "apps/cli/spgemm/spgemm_outcome.hpp"
#include "core/checksum.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using spgemm::Algorithm;

template <class Value, class Idx>
std::string checksum_of(const Csr<Value, Idx>& matrix) {
  std::uint64_t sum = checksum_seed;
  const auto extend = [&sum](const auto& array) {
    sum = extend_checksum(sum, array.data(), array.size() * sizeof(array[0]));
  };
  extend(matrix.row_ptr);
  extend(matrix.col_idx);
  extend(matrix.values);
  return fmt::format("{:016x}", sum);
}

template <class Value, class Idx>
class Multiplication {
 public:
  Multiplication(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands)
      : job_(job),
        command_(command),
        operands_(operands),
        algorithm_(spgemm::parse_algorithm(command.algorithm)) {}

  void run() {
    const double seconds = job_.repeated([this] {
      c_ = {};
      c_ = spgemm::multiply(job_.context(), a(), b(), algorithm_);
    });
    if (command_.drop_zeros) {
      PhaseTimer timer(job_.context(), "drop zeros");
      job_.report().set("zeros_dropped", matrices::drop_zeros(c_));
    }
    if (command_.verify) verify();
    const ProductOutcome outcome{.algorithm = algorithm_,
                                 .rows_c = c_.rows,
                                 .cols_c = c_.cols,
                                 .nnz_c = c_.nnz(),
                                 .products = spgemm::count_products(a(), b()),
                                 .seconds = seconds,
                                 .verified = command_.verify};
    report_outcome(job_.report(), operands_, outcome);
    job_.report().set("checksum_c", checksum_of(c_));
    if (!command_.output.empty()) {
      PhaseTimer timer(job_.context(), "write");
      matrices::write_matrix_market(job_.host_context(), command_.output, c_);
    }
    job_.summarize(command_.output, describe_outcome(job_.context(), operands_, outcome));
  }

 private:
  [[nodiscard]] const Csr<Value, Idx>& a() const { return operands_.a(); }
  [[nodiscard]] const Csr<Value, Idx>& b() const { return operands_.b(); }

  void verify() const {
    PhaseTimer timer(job_.context(), "verify");
    const spgemm::ProductCheck<Value, Idx> check(job_.context(), a(), b(),
                                                 checking_algorithm(algorithm_));
    if (command_.drop_zeros) {
      check.compare_without_zeros(c_);
    } else {
      check.compare(c_);
    }
  }

  Job& job_;
  const SpgemmCommand& command_;
  const Operands<Value, Idx>& operands_;
  Algorithm algorithm_;
  Csr<Value, Idx> c_;
};

std::string choose_precision(const SpgemmCommand& command, bool any_complex) {
  if (command.structure_only) return any_complex ? "complex" : "f32";  // values are not kept
  if (command.precision == "auto") return any_complex ? "complex" : "f64";
  return command.precision;
}

void run_spgemm(Job& job, const SpgemmCommand& command) {
  if (command.path_a == "-" && command.path_b == "-") {
    throw Error(ErrorKind::usage, "found standard input for A and B, expected at least one file");
  }
  if (!command.dry_run) job.announce_output(command.output);
  OperandTexts texts(job.context(), command);
  const std::string precision = choose_precision(command, texts.any_complex());
  const auto run_with_types = [&]<class Value, class Idx>(Value, Idx) {
    Operands<Value, Idx> operands(job.context(), command, std::move(texts));
    if constexpr (!std::is_same_v<Value, double>) {
      if (command.structure_only) return multiply_structures(job, command, std::move(operands));
    }
    if (command.dry_run) return show_estimate(job, command, operands);
    if (wants_streaming(job.context(), command, operands))
      return stream_product(job, command, operands);
    Multiplication<Value, Idx>(job, command, operands).run();
  };
  const auto run_with = [&](auto value) {
    if (texts.need_wide_index()) return run_with_types(value, std::int64_t{});
    run_with_types(value, std::int32_t{});
  };
  if (precision == "f32") return run_with(float{});
  if (precision == "f64") return run_with(double{});
  run_with(std::complex<double>{});
}

}  // namespace

Command add_spgemm_command(CLI::App& program) {
  auto command = std::make_shared<SpgemmCommand>();
  CLI::App* parser = program.add_subcommand("spgemm", "Multiply sparse matrices: C = A * B");
  add_common_options(*parser, command->common);
  parser->add_option("A", command->path_a, "Matrix Market file, plain or gzip; -: standard input")
      ->required();
  parser->add_option("B", command->path_b, "Second factor (default: A)");
  parser->add_flag("--transpose-b", command->transpose_b, "Multiply by the transpose of B");
  parser->add_option("-o,--output", command->output,
                     "Write C to this Matrix Market file (-: standard output)");
  auto* precision =
      parser->add_option("--precision", command->precision, "f32, f64, complex or auto")
          ->check(CLI::IsMember({"auto", "f32", "f64", "complex"}))
          ->capture_default_str();
  parser
      ->add_option("--algorithm", command->algorithm,
                   "auto, fused, essc, row-wise, reference, eigen, kokkos-kernels, graphblas, esc, "
                   "cusparse, cusparse-alg1 ... alg3, cusparse-reuse, cusp")
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare C with the product of another algorithm; exit 3 if they differ");
  auto* dry_run = parser->add_flag("--dry-run", command->dry_run,
                                   "Show the size and memory of the product without computing it");
  auto* drop_zeros =
      parser->add_flag("--drop-zeros", command->drop_zeros, "Remove entries of C that are zero");
  parser
      ->add_flag("--structure-only", command->structure_only,
                 "Compute only the structure of C, written as a pattern; values are not used")
      ->excludes(precision)
      ->excludes(dry_run)
      ->excludes(drop_zeros);
  return make_command(parser, command, run_spgemm);
}

}  // namespace sortie::cli
