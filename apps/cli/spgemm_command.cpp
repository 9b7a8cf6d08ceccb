// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/bench/timing.hpp"
#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/product_output.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/cli/spgemm_command.hpp"
#include "apps/cli/spgemm_operands.hpp"
#include "apps/spgemm/arriving_product.hpp"
#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/ranks/product_steps.hpp"
#include "core/files/checksum.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/rows_view.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using matrices::Pattern;
using spgemm::Algorithm;

/// Sets the figures that all modes have in common.
template <class Matrix>
void report_operands(RunReport& report, const SpgemmCommand& command, const Matrix& a,
                     const Matrix& b) {
  report.set("algorithm", command.algorithm);
  report.set("value_type", value_type(a));
  report.set("index_bits", std::int64_t{8 * sizeof(typename Matrix::index_type)});
  report_size(report, "a", size_of(a));
  report_size(report, "b", size_of(b));
}

/// Reports and summarizes a product C, which is a structure if A is one.
/// \param more  end of the summary
template <class Matrix>
void finish(Job& job, const SpgemmCommand& command, const Matrix& a, const Matrix& b,
            const MatrixSize& c, double seconds, const std::string& more = "") {
  PhaseTimer counting(job.context(), "count products");
  const std::int64_t products = spgemm::count_products(a, b);
  counting.stop();
  const bool structure = command.structure_only;
  RunReport& report = job.report();
  report_operands(report, command, a, b);
  report_size(report, "c", c);
  report.set("products", products);
  report.set("multiply_seconds", seconds);
  std::string text = line("A", size_of(a));
  if (&b != &a) text += line("B", size_of(b));
  text += line("C", c);
  text += fmt::format("{}{} products in {:.3f} ms on {} ({}", structure ? "structure of " : "",
                      products, 1e3 * seconds, name(job.context().backend), command.algorithm);
  if (structure) {
    text += ")";
  } else {
    const double gflops = seconds > 0 ? 2e-9 * static_cast<double>(products) / seconds : 0;
    report.set("gflops", gflops);
    text += fmt::format(", {}): {:.3f} GFLOP/s", value_type(a), gflops);
  }
  if (command.verify) {
    const std::string checker(spgemm::name(checking_algorithm(command)));
    report.set("verified_by", checker);
    text += fmt::format("\nverified: equal to the {} by {}", structure ? "structure" : "product",
                        checker);
  }
  job.summarize(command.output, text + more);
}

/// The seconds of the product on each backend decide where it runs.
template <class Value, class Idx>
void choose_backend(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  if (!job.may_choose_backend()) return;
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    const Backend other = backend == Backend::host ? Backend::cuda : Backend::host;
    if (!spgemm::runs_on(other, algorithm) && spgemm::runs_on(backend, algorithm))
      return job.choose_backend(backend, fmt::format("{} runs only there", command.algorithm));
  }
  const PhaseTimer timer(job.reading_context(), "choose backend");
  const auto bytes = [](const Csr<Value, Idx>& matrix) {
    return static_cast<std::uint64_t>(matrix.nnz()) * (sizeof(Value) + sizeof(Idx)) +
           matrix.row_ptr.size() * sizeof(std::int64_t);
  };
  const std::uint64_t operand_bytes =
      bytes(operands.a) + (operands.other_b ? bytes(operands.b()) : 0);
  job.choose_backend(spgemm_seconds(spgemm::count_products(operands.a, operands.b()), operand_bytes,
                                    threads_of(job.reading_context())));
}

/// True if C is formatted and written as it arrives from the device, and nothing else needs it.
bool writes_arriving_rows(const Job& job, const SpgemmCommand& command) {
  return job.context().backend == Backend::cuda && !command.verify && !command.drop_zeros &&
         spgemm::makes_chunks(spgemm::parse_algorithm(command.algorithm)) &&
         (command.output.empty() || WholeFile::takes_rewrites(command.output));
}

/// The product if writes_arriving_rows(). If C does not fit on the device, or not in the memory
/// that the command line allows, it comes in chunks of rows, and the report contains "streamed" and
/// "chunks" instead of "checksum_c".
template <class Value, class Idx>
void multiply_to_file(Job& job, const SpgemmCommand& command,
                      const Operands<Value, Idx>& operands) {
  const Csr<Value, Idx>& a = operands.a;
  const Csr<Value, Idx>& b = operands.b();
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);
  std::optional<ProductOutput<Value, Idx>> output;
  std::vector<double> seconds;
  PhaseTimer multiplying(job.context(), "multiply");
  for (int round = 1; round <= command.common.repeat; ++round) {
    // Every repetition computes all of C; only the last one writes it.
    output.emplace(job, round < command.common.repeat ? "" : command.output, wants_npz(command),
                   a.rows, b.cols);
    double beside = 0;  // seconds spent on the finished rows, subtracted below
    const double all = bench::timed_seconds([&] {
      spgemm::multiply_arriving(
          job.context(), a, b,
          [&](matrices::ArrivingRows<Value, Idx> rows) {
            beside += bench::timed_seconds([&] { output->take(std::move(rows)); });
          },
          algorithm);
    });
    seconds.push_back(all - beside);
  }
  multiplying.stop();
  const auto& last = output->last();
  job.release_device([last] { last.await(last.nnz()); });
  output->finish();
  const bool is_whole = output->chunks() <= 1;
  if (is_whole) {
    last.await(last.nnz());
    report_checksum(job, command, last.row_ptr.items(), last.col_idx.items(), last.values.items());
  } else {
    job.report().set("streamed", true);
    job.report().set("chunks", output->chunks());
  }
  finish(job, command, a, b, {a.rows, b.cols, output->nnz()}, bench::median(std::move(seconds)),
         is_whole ? ""
                  : fmt::format("\n{} in {} chunks of rows",
                                command.output.empty() ? "computed" : "written", output->chunks()));
}

/// The product as a whole.
template <class Value, class Idx>
void multiply(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);
  Csr<Value, Idx> c;
  const double seconds = job.repeated("multiply", [&] {
    c = {};
    c = spgemm::multiply(job.context(), operands.a, operands.b(), algorithm);
  });
  const std::int64_t dropped = drop_and_verify(job, command, operands.a, operands.b(), c);
  if (command.drop_zeros) job.report().set("zeros_dropped", dropped);
  report_checksum(job, command, c.row_ptr, c.col_idx, c.values);
  write_product(job, command, c);
  finish(job, command, operands.a, operands.b(), size_of(c), seconds);
}

/// `--structure-only`: the structure of C, written as a pattern. Frees the values of the operands
/// first.
template <class Value, class Idx>
void multiply_structures(Job& job, const SpgemmCommand& command, Operands<Value, Idx> operands) {
  std::optional<Pattern<Idx>> other_b;
  if (operands.other_b) other_b = matrices::pattern_of(std::move(*operands.other_b));
  const Pattern<Idx> a = matrices::pattern_of(std::move(operands.a));
  const Pattern<Idx>& b = other_b ? *other_b : a;
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);
  Pattern<Idx> c;
  const double seconds = job.repeated("multiply", [&] {
    c = {};
    c = spgemm::multiply_structure(job.context(), a, b, algorithm);
  });
  if (command.verify) {
    const PhaseTimer timer(job.context(), "verify");
    Context host = job.context();
    host.backend = Backend::host;
    host.report = nullptr;
    spgemm::compare(c, spgemm::multiply_structure(host, a, b, checking_algorithm(command)));
  }
  report_checksum(job, command, c.row_ptr, c.col_idx);
  write_product(job, command, c);
  finish(job, command, a, b, size_of(c), seconds);
}

/// True if C is written to its file in chunks of rows as they are finished, and never held in
/// memory as a whole: the memory is limited (--max-memory), C may be larger than the limit, the
/// algorithm produces chunks, and the output is a regular file.
template <class Value, class Idx>
bool wants_streaming(const Context& context, const SpgemmCommand& command,
                     const Operands<Value, Idx>& operands) {
  if (context.memory_budget == 0) return false;
  const PhaseTimer timer(context, "estimate");
  return !command.output.empty() && WholeFile::takes_rewrites(command.output) &&
         spgemm::makes_chunks(spgemm::parse_algorithm(command.algorithm)) &&
         spgemm::product_size(operands.a, operands.b()).bytes_c_bound > context.memory_budget;
}

/// Rows first .. first + rows of a matrix.
template <class Value, class Idx>
Csr<Value, Idx> rows_of(const Csr<Value, Idx>& matrix, std::int64_t first, std::int64_t rows) {
  const auto offsets = matrix.row_ptr.begin() + first;
  const std::int64_t begin = offsets[0];
  const std::int64_t end = offsets[rows];
  Csr<Value, Idx> part{rows,
                       matrix.cols,
                       {offsets, offsets + rows + 1},
                       {matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end},
                       {matrix.values.begin() + begin, matrix.values.begin() + end}};
  for (std::int64_t& offset : part.row_ptr) offset -= begin;
  return part;
}

/// The product if wants_streaming(). Drops zeros and verifies rows chunk by chunk; the expected
/// rows of a chunk, which --verify requires, do not count as limited memory. The report contains
/// "streamed" and "chunks" instead of "checksum_c".
/// \tparam File  MatrixMarketRows or NpzRows
template <class File, class Value, class Idx>
void stream_product(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  const Csr<Value, Idx>& a = operands.a;
  const Csr<Value, Idx>& b = operands.b();
  const Algorithm algorithm = spgemm::parse_algorithm(command.algorithm);
  File file({.threads = job.context().threads, .progress = {}}, command.output, a.rows, b.cols);
  std::int64_t chunks = 0;
  std::int64_t dropped = 0;
  const auto take = [&](Csr<Value, Idx>& rows) {
    const std::int64_t first = file.rows_written();
    const Csr<Value, Idx> rows_of_a =
        command.verify ? rows_of(a, first, rows.rows) : Csr<Value, Idx>{};
    dropped += drop_and_verify(job, command, rows_of_a, b, rows, first);
    const PhaseTimer timer(job.context(), "write");
    file.append(rows);
    ++chunks;
  };
  // Every repetition computes all of C; only the first one writes it.
  std::vector<double> seconds;
  PhaseTimer multiplying(job.context(), "multiply");
  for (int round = 0; round < command.common.repeat; ++round) {
    double beside = 0;  // seconds spent on the finished rows, subtracted below
    const double all = bench::timed_seconds([&] {
      spgemm::multiply_in_chunks(
          job.context(), a, b,
          [&](Csr<Value, Idx>& rows) {
            if (round == 0) beside += bench::timed_seconds([&] { take(rows); });
          },
          algorithm);
    });
    seconds.push_back(all - beside);
  }
  multiplying.stop();
  {
    const PhaseTimer timer(job.context(), "write");
    file.commit();
  }
  job.report().set("streamed", true);
  job.report().set("chunks", chunks);
  if (command.drop_zeros) job.report().set("zeros_dropped", dropped);
  finish(job, command, a, b, {a.rows, b.cols, file.nnz()}, bench::median(std::move(seconds)),
         fmt::format("\nwritten in {} chunks of rows", chunks));
}

std::string describe(const Context& context, const SpgemmCommand& command,
                     const std::optional<spgemm::WorkSpace>& space) {
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

/// `--dry-run`: prints and reports the size and the memory requirement of the product without
/// computing it. A product that would not fit in memory is reported, not an error.
template <class Value, class Idx>
void show_estimate(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  PhaseTimer timer(job.context(), "estimate");
  const spgemm::ProductSize size = spgemm::product_size(operands.a, operands.b());
  const auto space = spgemm::work_space<Value, Idx>(job.context(), size,
                                                    spgemm::parse_algorithm(command.algorithm));
  timer.stop();

  RunReport& report = job.report();
  report.set("dry_run", true);
  report_operands(report, command, operands.a, operands.b());
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
  if (space) {
    report.set("work_space_least", space->least);
    report.set("work_space_most", space->most);
    report.set("work_space_limit", space->limit);
    report.set("fits", space->least <= space->limit);
  }

  std::string text = line("A", size_of(operands.a), ", " + format_bytes(size.bytes_a));
  if (operands.other_b) text += line("B", size_of(operands.b()), ", " + format_bytes(size.bytes_b));
  text += fmt::format("C  {} x {}, at most {} entries, {}\n{} products", size.rows, size.cols,
                      size.nnz_c_bound, format_bytes(size.bytes_c_bound), size.products);
  if (size.longest_row >= 0) {
    text += fmt::format(", at most {} in a row (row {})", size.longest_row_products,
                        size.longest_row + 1);
  }
  job.summarize("", text + '\n' + describe(job.context(), command, space));
}

/// Multiplies the operands as the command line asks for, and writes and reports the product.
void run_spgemm(Job& job, const SpgemmCommand& command) {
  const bool divides = job_ranks() != nullptr || command.gpus > 0;
  if (command.transpose_a && divides)
    throw Error(ErrorKind::usage,
                "found --transpose-a with several ranks or --gpus, expected one "
                "process with one device");
  if (!command.galerkin.empty()) return run_galerkin(job, command);
  if (job_ranks() != nullptr) return run_spgemm_on_ranks(*job_ranks(), job, command);
  if (command.gpus > 0 && !command.dry_run) return run_spgemm_on_devices(job, command);
  if (!semiring_option(command).empty()) return run_semiring_spgemm(job, command);
  if (command.path_a == "-" && command.path_b == "-")
    throw Error(ErrorKind::usage, "found standard input for A and B, expected at least one file");
  if (command.split)
    throw Error(ErrorKind::usage, "found --split, expected several ranks (mpirun) with it");
  if (!command.dry_run) job.announce_output(command.output);
  OperandTexts texts(job.reading_context(), command.path_a, command.path_b, command.transpose_a,
                     command.transpose_b);
  const std::string precision = choose_precision(command, texts.any_complex());
  const auto run_with_types = [&]<class Value, class Idx>(Value, Idx) {
    Operands<Value, Idx> operands(job, command.transpose_a, command.transpose_b, std::move(texts));
    choose_backend(job, command, operands);
    if constexpr (!std::is_same_v<Value, double>) {
      if (command.structure_only) return multiply_structures(job, command, std::move(operands));
    }
    if (command.dry_run && command.plan.ranks > 0) {
      const int on_machine = rank_model(command.plan).ranks_on_machine;
      return show_rank_plan(job, command.plan, [&](int ranks) {
        return spgemm::plan_product(operands.a, operands.b(), ranks, on_machine);
      });
    }
    if (command.dry_run) return show_estimate(job, command, operands);
    if (writes_arriving_rows(job, command)) return multiply_to_file(job, command, operands);
    if (wants_streaming(job.context(), command, operands)) {
      if (wants_npz(command))
        return stream_product<matrices::NpzRows<Value, Idx>>(job, command, operands);
      return stream_product<matrices::MatrixMarketRows<Value, Idx>>(job, command, operands);
    }
    multiply(job, command, operands);
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

std::string semiring_option(const SpgemmCommand& command) {
  if (!command.path_mask.empty()) return "--mask";
  if (command.mask_complement) return "--mask-complement";
  if (command.semiring != "plus-times") return "--semiring " + command.semiring;
  if (command.keep_top) return "--keep-top";
  if (command.drop_below != 0) return "--drop-below";
  for (const char* const precision : {"bool", "i32", "i64", "f16", "bf16", "complex-f32"})
    if (command.precision == precision) return "--precision " + command.precision;
  return "";
}

Command add_spgemm_command(CLI::App& program) {
  auto command = std::make_shared<SpgemmCommand>();
  CLI::App* parser = program.add_subcommand("spgemm", "Multiply sparse matrices: C = A * B");
  add_common_options(*parser, command->common);
  parser
      ->add_option("A", command->path_a,
                   "Matrix Market file, plain, gzip or zstd, or sparse matrix of SciPy (.npz); -: "
                   "standard input")
      ->required();
  auto* path_b = parser->add_option("B", command->path_b, "Second factor (default: A)");
  auto* transpose_a =
      parser->add_flag("--transpose-a", command->transpose_a, "Multiply the transpose of A");
  auto* transpose_b =
      parser->add_flag("--transpose-b", command->transpose_b, "Multiply by the transpose of B");
  auto* galerkin = parser
                       ->add_option("--galerkin", command->galerkin,
                                    "Compute C = P^T * A * P with P from this file")
                       ->excludes(path_b)
                       ->excludes(transpose_a)
                       ->excludes(transpose_b);
  parser->add_option(
      "-o,--output", command->output,
      "Write C to this Matrix Market file (-: standard output), or NAME.npz for SciPy");
  auto* precision = parser
                        ->add_option("--precision", command->precision,
                                     "bool, i32, i64, f16, bf16, f32, f64, complex-f32, complex "
                                     "or auto")
                        ->check(CLI::IsMember({"auto", "bool", "i32", "i64", "f16", "bf16", "f32",
                                               "f64", "complex-f32", "complex"}))
                        ->capture_default_str();
  parser->add_option("--algorithm", command->algorithm, spgemm::algorithm_names())
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare C with the product of another algorithm; exit 3 if they differ");
  auto* dry_run = parser->add_flag("--dry-run", command->dry_run,
                                   "Show the size and memory of the product without computing it");
  add_plan_options(*parser, dry_run, command->plan);
  add_gpus_option(*parser, command->gpus);
  auto* drop_zeros =
      parser->add_flag("--drop-zeros", command->drop_zeros, "Remove entries of C that are zero");
  parser->add_flag("--split", command->split,
                   "On the ranks of an MPI job: each writes its rows to a file OUTPUT.0000, ...");
  parser
      ->add_flag("--structure-only", command->structure_only,
                 "Compute only the structure of C, written as a pattern; values are not used")
      ->excludes(precision)
      ->excludes(dry_run)
      ->excludes(drop_zeros)
      ->excludes(galerkin);
  parser
      ->add_option("--semiring", command->semiring,
                   "Addition and multiplication: plus-times, plus-pair, min-plus, max-plus, "
                   "max-times, or-and, any-pair")
      ->capture_default_str()
      ->excludes(galerkin);
  parser
      ->add_option("--mask", command->path_mask,
                   "Compute C only where this matrix has entries; their values do not count")
      ->excludes(galerkin);
  parser->add_flag("--mask-complement", command->mask_complement,
                   "Compute C only where the mask has no entries");
  parser
      ->add_option("--keep-top", command->keep_top,
                   "Keep the K entries of largest absolute value of each row of C")
      ->excludes(galerkin);
  parser
      ->add_option("--drop-below", command->drop_below,
                   "Leave out entries of C whose absolute value is below X")
      ->excludes(galerkin);
  Command made = make_command(parser, command, run_spgemm);
  made.runs_on_ranks = true;
  return made;
}

}  // namespace sortie::cli
