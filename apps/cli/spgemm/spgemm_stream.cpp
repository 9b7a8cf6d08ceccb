// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/spgemm/spgemm_modes.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/timing.hpp"
#include "apps/cli/spgemm/spgemm_outcome.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/spgemm_check.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using spgemm::Algorithm;

/// Rows first .. first + rows of a matrix.
template <class Value, class Idx>
Csr<Value, Idx> rows_of(const Csr<Value, Idx>& matrix, std::int64_t first, std::int64_t rows) {
  const auto offsets = matrix.row_ptr.begin() + first;
  const std::int64_t begin = offsets[0];
  const std::int64_t end = offsets[rows];
  Csr<Value, Idx> part;
  part.rows = rows;
  part.cols = matrix.cols;
  part.row_ptr.assign(offsets, offsets + rows + 1);
  for (std::int64_t& offset : part.row_ptr) offset -= begin;
  part.col_idx.assign(matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end);
  part.values.assign(matrix.values.begin() + begin, matrix.values.begin() + end);
  return part;
}

/// One product whose rows are written to a file.
template <class Value, class Idx>
class StreamedProduct {
 public:
  StreamedProduct(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands)
      : job_(job),
        command_(command),
        operands_(operands),
        algorithm_(spgemm::parse_algorithm(command.algorithm)),
        file_({.threads = job.context().threads, .progress = {}}, command.output, operands.a().rows,
              operands.b().cols) {}

  void run() {
    // Every repetition computes all of C; only the first one writes it.
    std::vector<double> seconds;
    for (int round = 0; round < command_.common.repeat; ++round) {
      double beside = 0;  // seconds spent on the finished rows, subtracted below
      const double all = bench::timed_seconds([&] {
        spgemm::multiply_in_chunks(
            job_.context(), operands_.a(), operands_.b(),
            [&](Csr<Value, Idx>& rows) {
              if (round == 0) beside += bench::timed_seconds([&] { take(rows); });
            },
            algorithm_);
      });
      seconds.push_back(all - beside);
    }
    {
      PhaseTimer timer(job_.context(), "write");
      file_.commit();
    }
    finish(bench::median(std::move(seconds)));
  }

 private:
  void take(Csr<Value, Idx>& rows) {
    if (command_.drop_zeros) {
      PhaseTimer timer(job_.context(), "drop zeros");
      zeros_dropped_ += matrices::drop_zeros(rows);
    }
    if (command_.verify) verify(rows);
    PhaseTimer timer(job_.context(), "write");
    file_.append(rows);
    ++chunks_;
  }

  void verify(const Csr<Value, Idx>& rows) const {
    PhaseTimer timer(job_.context(), "verify");
    const std::int64_t first = file_.rows_written();
    const spgemm::ProductCheck<Value, Idx> check(
        job_.context(), rows_of(operands_.a(), first, rows.rows), operands_.b(),
        checking_algorithm(algorithm_), first);
    if (command_.drop_zeros) {
      check.compare_without_zeros(rows);
    } else {
      check.compare(rows);
    }
  }

  void finish(double seconds) {
    const ProductOutcome outcome{.algorithm = algorithm_,
                                 .rows_c = operands_.a().rows,
                                 .cols_c = operands_.b().cols,
                                 .nnz_c = file_.nnz(),
                                 .products = spgemm::count_products(operands_.a(), operands_.b()),
                                 .seconds = seconds,
                                 .verified = command_.verify};
    RunReport& report = job_.report();
    report_outcome(report, operands_, outcome);
    report.set("streamed", true);
    report.set("chunks", chunks_);
    if (command_.drop_zeros) report.set("zeros_dropped", zeros_dropped_);
    job_.summarize(command_.output, describe_outcome(job_.context(), operands_, outcome) +
                                        fmt::format("\nwritten in {} chunks of rows", chunks_));
  }

  Job& job_;
  const SpgemmCommand& command_;
  const Operands<Value, Idx>& operands_;
  Algorithm algorithm_;
  matrices::MatrixMarketRows<Value, Idx> file_;
  std::int64_t chunks_ = 0;
  std::int64_t zeros_dropped_ = 0;
};

}  // namespace

template <class Value, class Idx>
bool wants_streaming(const Context& context, const SpgemmCommand& command,
                     const Operands<Value, Idx>& operands) {
  return context.memory_budget != 0 && !command.output.empty() &&
         WholeFile::takes_rewrites(command.output) &&
         spgemm::makes_chunks(spgemm::parse_algorithm(command.algorithm)) &&
         spgemm::product_size(operands.a(), operands.b()).bytes_c_bound > context.memory_budget;
}

template <class Value, class Idx>
void stream_product(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands) {
  StreamedProduct<Value, Idx>(job, command, operands).run();
}

#define INSTANTIATE(Value, Idx)                                       \
  template bool wants_streaming(const Context&, const SpgemmCommand&, \
                                const Operands<Value, Idx>&);         \
  template void stream_product(Job&, const SpgemmCommand&, const Operands<Value, Idx>&);
SORTIE_CLI_FOR_EACH_OPERANDS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::cli
