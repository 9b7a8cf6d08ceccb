// SPDX-License-Identifier: Apache-2.0
//
// `sortie spgemm` on the ranks of an MPI job, or on devices of one process: each rank reads,
// multiplies, checks and writes a part.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apps/bench/timing.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/cli/spgemm_command.hpp"
#include "apps/spgemm/ranks/device_rows.hpp"
#include "apps/spgemm/ranks/matrix_output.hpp"
#include "apps/spgemm/ranks/matrix_source.hpp"
#include "apps/spgemm/ranks/product_steps.hpp"
#include "cluster/device_share.hpp"
#include "cluster/shared_output.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"

namespace sortie::cli {
namespace {

using cluster::DividedMatrix;
using cluster::MatrixSource;
using cluster::Ranks;
using matrices::Csr;
using matrices::Pattern;

/// \throws Error (usage) an option that this command does not take on ranks
void check_command(const SpgemmCommand& command) {
  const auto refuse = [](std::string_view found, std::string_view expected) {
    throw Error(ErrorKind::usage, fmt::format("found {} on ranks, expected {}", found, expected));
  };
  if (command.path_a == "-" && command.path_b == "-")
    refuse("standard input for A and B", "at least one file");
  if (command.transpose_b && command.path_a == "-" && command.path_b.empty())
    refuse("standard input for A and its transpose", "a file, which is read twice");
  if (command.dry_run) refuse("--dry-run", "it without mpirun");
  if (const std::string option = semiring_option(command); !option.empty())
    refuse(option, "one process on one device");
  if (command.gpus > 0 && job_ranks() != nullptr) refuse("--gpus", "one device for each rank");
  if (command.split && (command.output.empty() || command.output == "-"))
    refuse("--split without a name of files", "-o NAME");
  if (wants_npz(command)) refuse("an output NAME.npz", "a Matrix Market file");
}

/// The files of A and, if it is read by itself, of B.
struct Sources {
  Sources(Ranks& ranks, const HostContext& context, const SpgemmCommand& command)
      : a(ranks, context, command.path_a) {
    // The transpose of A is read by itself: its rows are divided otherwise.
    if (!command.path_b.empty() || command.transpose_b)
      b.emplace(ranks, context, command.path_b.empty() ? command.path_a : command.path_b);
    ranks.together("check sizes", [&] {
      const matrices::MatrixMarketHeader& of_b = (b ? *b : a).header();
      const std::int64_t rows_b = command.transpose_b ? of_b.cols : of_b.rows;
      if (a.header().cols == rows_b) return;
      throw Error(ErrorKind::input,
                  fmt::format("{} ({} x {}) and {}{} ({} x {}): found {} columns and {} rows, "
                              "expected equal numbers",
                              a.name(), a.header().rows, a.header().cols, (b ? *b : a).name(),
                              command.transpose_b ? " transposed, as read" : "", of_b.rows,
                              of_b.cols, a.header().cols, rows_b));
    });
  }

  [[nodiscard]] bool need_wide_index() const {
    const auto most = [](const MatrixSource& source) {
      return std::max(source.header().rows, source.header().cols);
    };
    return std::max(most(a), b ? most(*b) : 0) > std::numeric_limits<std::int32_t>::max();
  }
  [[nodiscard]] bool any_complex() const {
    return a.header().field == matrices::Field::complex ||
           (b && b->header().field == matrices::Field::complex);
  }
  /// A line that names files that rank 0 reads alone; empty if there are none.
  [[nodiscard]] std::string read_alone() const {
    std::string names;
    if (!a.is_divided()) names = a.name();
    if (b && !b->is_divided() && b->name() != names)
      names += fmt::format("{}{}", names.empty() ? "" : " and ", b->name());
    if (names.empty()) return names;
    return fmt::format("\nread by rank 0, since it cannot be divided: {}", names);
  }

  MatrixSource a;
  std::optional<MatrixSource> b;
};

/// A product, and what the summary says of it.
template <class Matrix>
class RanksJob {
 public:
  RanksJob(Ranks& ranks, Job& job, const SpgemmCommand& command, cluster::TrafficPlan& plan,
           std::string where, std::string read_alone)
      : ranks_(ranks),
        job_(job),
        command_(command),
        plan_(plan),
        where_(std::move(where)),
        more_(std::move(read_alone)) {}

  /// \param b  null: A
  void run(DividedMatrix<Matrix> a, std::optional<DividedMatrix<Matrix>> b,
           std::optional<cluster::SharedOutput>& output) {
    const Context& context = job_.context();
    const MatrixSize size_a = whole(a);
    const MatrixSize size_b = b ? whole(*b) : size_a;
    a = cluster::balance_rows(ranks_, context, plan_, std::move(a), b ? &*b : nullptr);
    std::int64_t dropped = 0;
    double beside = 0;  // seconds spent on the finished rows
    const cluster::RowsVisit<Matrix> visit = [&](const Matrix& rows_a, const Matrix& rows_b,
                                                 Matrix& c, std::int64_t first_row) {
      beside += bench::timed_seconds([&] { dropped += check(rows_a, rows_b, c, first_row); });
    };
    const spgemm::Algorithm algorithm = spgemm::parse_algorithm(command_.algorithm);
    DividedMatrix<Matrix> c;
    std::vector<double> all_seconds;
    for (int round = 1; round <= command_.common.repeat; ++round) {
      c = {};
      const bool has_checks = command_.verify || command_.drop_zeros;
      const bool is_visited = has_checks && round == command_.common.repeat;
      const double taken = bench::timed_seconds([&] {
        c = cluster::multiply_rows(ranks_, context, plan_, a, b ? *b : a, algorithm,
                                   is_visited ? visit : cluster::RowsVisit<Matrix>());
      });
      all_seconds.push_back(taken - beside);
    }
    const double seconds = bench::median(std::move(all_seconds));
    a = {};
    b = {};
    const MatrixSize size_c = whole(c);
    dropped = static_cast<std::int64_t>(ranks_.sum(static_cast<std::uint64_t>(dropped)));
    // Nothing is exchanged later, and no file appears if the bytes differ.
    plan_.finish(context);
    if (output) {
      const PhaseTimer timer(context, "write");
      cluster::write_rows(ranks_, job_.host_context(), *output, c);
    } else if (!command_.output.empty()) {
      const PhaseTimer timer(context, "write");
      cluster::write_split(ranks_, job_.host_context(), command_.output, c);
    }
    RunReport& report = job_.report();
    report.set("algorithm", command_.algorithm);
    report.set("value_type", value_type(Matrix{}));
    report.set("index_bits", std::int64_t{8 * sizeof(typename Matrix::index_type)});
    report_size(report, "a", size_a);
    report_size(report, "b", size_b);
    report_size(report, "c", size_c);
    report.set("multiply_seconds", seconds);
    if (command_.drop_zeros) report.set("zeros_dropped", dropped);
    std::string text = line("A", size_a);
    if (!command_.path_b.empty() || command_.transpose_b) text += line("B", size_b);
    text += line("C", size_c);
    text += describe(seconds);
    job_.summarize(command_.output, text + more_);
  }

 private:
  MatrixSize whole(const DividedMatrix<Matrix>& matrix) {
    const std::uint64_t entries = ranks_.sum(static_cast<std::uint64_t>(matrix.block.nnz()));
    return {matrix.rows(), matrix.block.cols, static_cast<std::int64_t>(entries)};
  }

  /// Drops zeros and verifies. \return entries dropped
  std::int64_t check(const Matrix& a, const Matrix& b, Matrix& c, std::int64_t first_row) const {
    if constexpr (requires { c.values; }) {
      return drop_and_verify(job_, command_, a, b, c, first_row);
    } else {
      static_cast<void>(first_row);
      if (!command_.verify) return 0;
      const PhaseTimer timer(job_.context(), "verify");
      Context host = job_.context();
      host.backend = Backend::host;
      host.report = nullptr;
      spgemm::compare(c, spgemm::multiply_structure(host, a, b, checking_algorithm(command_)));
      return 0;
    }
  }

  [[nodiscard]] std::string describe(double seconds) {
    RunReport& report = job_.report();
    const auto figure = [&](std::string_view name) {
      for (const auto& [key, value] : report.figures()) {
        if (key != name) continue;
        if (const auto* const number = std::get_if<std::int64_t>(&value))
          return static_cast<double>(*number);
        if (const auto* const number = std::get_if<std::uint64_t>(&value))
          return static_cast<double>(*number);
        if (const auto* const number = std::get_if<double>(&value)) return *number;
      }
      return 0.0;
    };
    const double products = figure("products");
    std::string text = fmt::format("{}{:.0f} products in {:.3f} ms on {} ({}",
                                   command_.structure_only ? "structure of " : "", products,
                                   1e3 * seconds, where_, command_.algorithm);
    if (command_.structure_only) {
      text += ")";
    } else {
      const double gflops = seconds > 0 ? 2e-9 * products / seconds : 0;
      report.set("gflops", gflops);
      text += fmt::format(", {}): {:.3f} GFLOP/s", value_type(Matrix{}), gflops);
    }
    text += fmt::format(
        "\n{:.0f} rows of B fetched, {} exchanged, imbalance {:.3f}", figure("fetched_rows"),
        format_bytes(static_cast<std::uint64_t>(figure("exchanged_bytes"))), figure("imbalance"));
    for (const auto& [key, value] : report.figures())
      if (key == "exchange_path") text += ", exchange " + std::get<std::string>(value);
    if (figure("rounds") > 1) text += fmt::format(", {:.0f} rounds", figure("rounds"));
    if (command_.verify) {
      const std::string checker(spgemm::name(checking_algorithm(command_)));
      report.set("verified_by", checker);
      text += fmt::format("\nverified: equal to the {} by {}",
                          command_.structure_only ? "structure" : "product", checker);
    }
    return text;
  }

  Ranks& ranks_;
  Job& job_;
  const SpgemmCommand& command_;
  cluster::TrafficPlan& plan_;
  std::string where_;
  std::string more_;
};

/// The structures of a matrix. Frees the values.
template <class Value, class Idx>
DividedMatrix<Pattern<Idx>> structure_of(DividedMatrix<Csr<Value, Idx>> matrix) {
  return {std::move(matrix.first_rows), matrices::pattern_of(std::move(matrix.block))};
}

}  // namespace

void run_spgemm_on_ranks(Ranks& ranks, Job& job, const SpgemmCommand& command,
                         const std::string& where) {
  ranks.together("check command", [&] {
    check_command(command);
    static_cast<void>(spgemm::parse_algorithm(command.algorithm));
    if (command.split) job.announce_output(cluster::split_name(command.output, ranks.rank()));
    job.choose_backend(Backend::host, "each rank multiplies on its threads");
    static_cast<void>(job.context());
  });
  std::optional<cluster::SharedOutput> output;
  if (!command.output.empty() && !command.split) output.emplace(ranks, command.output);
  const std::string place =
      where.empty() ? fmt::format("{} ranks of {} threads", ranks.size(), job.context().threads)
                    : where;
  cluster::connect_before_product(ranks, job.context());
  cluster::TrafficPlan plan(ranks);
  Sources sources(ranks, job.reading_context(), command);
  const std::string precision = choose_precision(command, sources.any_complex());
  const auto run_with_types = [&]<class Value, class Idx>(Value, Idx) {
    const HostContext context = job.reading_context();
    auto a = sources.a.read<Value, Idx>(context, plan, false);
    std::optional<DividedMatrix<Csr<Value, Idx>>> b;
    if (sources.b) b = sources.b->read<Value, Idx>(context, plan, command.transpose_b);
    if constexpr (!std::is_same_v<Value, double>) {
      if (command.structure_only) {
        std::optional<DividedMatrix<Pattern<Idx>>> pattern_b;
        if (b) pattern_b = structure_of(std::move(*b));
        RanksJob<Pattern<Idx>> of_structures(ranks, job, command, plan, place,
                                             sources.read_alone());
        return of_structures.run(structure_of(std::move(a)), std::move(pattern_b), output);
      }
    }
    RanksJob<Csr<Value, Idx>> of_values(ranks, job, command, plan, place, sources.read_alone());
    of_values.run(std::move(a), std::move(b), output);
  };
  const auto run_with = [&](auto value) {
    if (sources.need_wide_index()) return run_with_types(value, std::int64_t{});
    run_with_types(value, std::int32_t{});
  };
  if (precision == "f32") return run_with(float{});
  if (precision == "f64") return run_with(double{});
  run_with(std::complex<double>{});
}

void run_spgemm_on_devices(Job& job, const SpgemmCommand& command) {
  const std::vector<int> devices = devices_of_job(job, command.common, command.gpus);
  const std::string where = cluster::describe_devices(devices);
  cluster::run_on_devices(job.context(), devices, [&](Ranks& ranks, const Context& context) {
    if (ranks.rank() == 0) return run_spgemm_on_ranks(ranks, job, command, where);
    Job other(job, context);
    run_spgemm_on_ranks(ranks, other, command, where);
  });
}

}  // namespace sortie::cli
