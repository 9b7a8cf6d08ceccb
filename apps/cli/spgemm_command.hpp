// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_plan.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_check.hpp"

/// What `sortie spgemm` and `mpirun sortie spgemm` have in common.
namespace sortie::cli {

/// The command line of `sortie spgemm`.
struct SpgemmCommand {
  CommonOptions common;
  std::string path_a;
  std::string path_b;
  std::string galerkin;  ///< P of C = P^T * A * P
  std::string output;
  bool transpose_a = false;
  bool transpose_b = false;
  std::string precision = "auto";
  std::string algorithm = "auto";
  bool verify = false;
  bool dry_run = false;
  RankPlanOptions plan;  ///< of --dry-run
  bool structure_only = false;
  bool drop_zeros = false;
  bool split = false;  ///< a file for each rank
  int gpus = 0;        ///< logical devices; 0: one process or rank with one device
  std::string semiring = "plus-times";
  std::string path_mask;
  bool mask_complement = false;
  std::optional<std::int64_t> keep_top;
  double drop_below = 0;
};

/// An option that run_semiring_spgemm() is for; empty if there is none.
[[nodiscard]] std::string semiring_option(const SpgemmCommand& command);

/// The values of --precision but "auto", and "pattern".
template <class Value, class Idx>
[[nodiscard]] std::string value_type(const matrices::Csr<Value, Idx>&) {
  return std::is_same_v<Value, float>                 ? "f32"
         : std::is_same_v<Value, double>              ? "f64"
         : std::is_same_v<Value, std::uint8_t>        ? "bool"
         : std::is_same_v<Value, std::int32_t>        ? "i32"
         : std::is_same_v<Value, std::int64_t>        ? "i64"
         : std::is_same_v<Value, Float16>             ? "f16"
         : std::is_same_v<Value, BFloat16>            ? "bf16"
         : std::is_same_v<Value, std::complex<float>> ? "complex-f32"
                                                      : "complex";
}
template <class Idx>
[[nodiscard]] std::string value_type(const matrices::Pattern<Idx>&) {
  return "pattern";
}

/// Rows, columns and entries of a matrix.
struct MatrixSize {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
};

template <class Matrix>
[[nodiscard]] MatrixSize size_of(const Matrix& matrix) {
  return {matrix.rows, matrix.cols, matrix.nnz()};
}

inline void report_size(RunReport& report, const std::string& matrix, const MatrixSize& size) {
  report.set("rows_" + matrix, size.rows);
  report.set("cols_" + matrix, size.cols);
  report.set("nnz_" + matrix, size.nnz);
}

/// A line of the summary, e.g. "A  24 x 24, 72 entries".
[[nodiscard]] inline std::string line(const char* label, const MatrixSize& size,
                                      const std::string& more = "") {
  return fmt::format("{}  {} x {}, {} entries{}\n", label, size.rows, size.cols, size.nnz, more);
}

/// The algorithm that --verify compares with: different from the checked one and independent of the
/// sorting layer.
[[nodiscard]] inline spgemm::Algorithm checking_algorithm(const SpgemmCommand& command) {
  return spgemm::parse_algorithm(command.algorithm == "eigen" ? "reference" : "eigen");
}

/// Drops zeros and verifies, as far as the command line asks for. C may be some rows of the product.
/// \param a          the same rows of A
/// \param first_row  number of the first of these rows
/// \return entries dropped
template <class Value, class Idx>
std::int64_t drop_and_verify(const Job& job, const SpgemmCommand& command,
                             const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& b,
                             matrices::Csr<Value, Idx>& c, std::int64_t first_row = 0) {
  std::int64_t dropped = 0;
  if (command.drop_zeros) {
    const PhaseTimer timer(job.context(), "drop zeros");
    dropped = matrices::drop_zeros(c);
  }
  if (command.verify) {
    const PhaseTimer timer(job.context(), "verify");
    const spgemm::ProductCheck<Value, Idx> check(job.context(), a, b, checking_algorithm(command),
                                                 first_row);
    if (command.drop_zeros) {
      check.compare_without_zeros(c);
    } else {
      check.compare(c);
    }
  }
  return dropped;
}

/// Whether C is written as an .npz file.
[[nodiscard]] inline bool wants_npz(const SpgemmCommand& command) {
  return command.output.ends_with(".npz");
}

/// Reports the checksum of C, if the report is wanted.
template <class... Arrays>
void report_checksum(Job& job, const SpgemmCommand& command, const Arrays&... arrays) {
  if (!job.wants_report() && !command.verify) return;
  const PhaseTimer timer(job.context(), "checksum");
  job.report().set("checksum_c", checksum_of(threads_of(job.context()), arrays...));
}

/// Writes C to the output, if there is one.
template <class Matrix>
void write_product(const Job& job, const SpgemmCommand& command, const Matrix& c) {
  if (command.output.empty()) return;
  const PhaseTimer timer(job.context(), "write");
  if (wants_npz(command)) return matrices::write_npz(job.host_context(), command.output, c);
  matrices::write_matrix_market(job.host_context(), command.output, c);
}

/// A value of --precision but "auto".
[[nodiscard]] inline std::string choose_precision(const SpgemmCommand& command, bool any_complex) {
  if (command.structure_only) return any_complex ? "complex" : "f32";  // values are not kept
  if (command.precision == "auto") return any_complex ? "complex" : "f64";
  return command.precision;
}

/// The command with a mask, over another semiring, of other types of values, or with filtered rows.
void run_semiring_spgemm(Job& job, const SpgemmCommand& command);

/// The command on ranks.
/// \param where  for the summary, e.g. "2 GPUs"; empty: ranks of an MPI job
void run_spgemm_on_ranks(cluster::Ranks& ranks, Job& job, const SpgemmCommand& command,
                         const std::string& where = {});

/// The command with --galerkin.
void run_galerkin(Job& job, const SpgemmCommand& command);

/// The command on --gpus devices of this process, a rank each.
void run_spgemm_on_devices(Job& job, const SpgemmCommand& command);

}  // namespace sortie::cli
