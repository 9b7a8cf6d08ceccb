#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::bench {

struct SpgemmOptions {
  /// Files, or gen:er:ROWS:ROW_NNZ, gen:rmat:SCALE:EDGE_FACTOR, gen:banded:ROWS:HALF_BANDWIDTH,
  /// gen:stencil5:N (N x N), gen:stencil7:N, gen:stencil27:N (N x N x N), each with :UNKNOWNS a
  /// point where it is not 1, gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ,
  /// gen:web:ROWS:NNZ:PRODUCTS:MAX_ROW_NNZ:SITE_ROWS:LOCALITY (matrices::WebGraph)
  std::vector<std::string> sources;
  bool single_precision = false;
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<spgemm::Algorithm> algorithms;  ///< empty: all that the backend has
  /// What results are compared with: computed on the host once a source (spgemm::ProductCheck).
  spgemm::Algorithm checked_by = spgemm::Algorithm::eigen;
  bool transpose_b = false;  ///< A * A^T in place of A * A
  bool transfers = false;    ///< on CUDA: from host memory to host memory as well
};

/// A * A, or A * A^T, for every source on the context's backend, one row an algorithm. GFLOP/s
/// counts two operations a product, of complex numbers, too. Files of complex matrices are
/// multiplied as such.
///
/// On the host, from host memory to host memory. On CUDA from device memory to device memory ("...
/// on the device"), with memory served from a pool that is filled already, and again with a pool
/// that was emptied before each repetition (Row::allocating_seconds). cusparse-reuse and fused have
/// a second row, "... values", for computing values alone where the structure is known; that of
/// fused is spgemm::cuda::SpgemmPlan. Every result is compared with that of options.checked_by.
/// Sortie's own algorithms tell their phases (Row::phases), on CUDA by events; "rest" is what lies
/// between the phases.
///
/// A source that cannot be read, or is not square for A * A, or is complex where single precision
/// is asked for, has one row with neither method nor result that says so (Row::failure), and the
/// next source follows. \throws Error (usage) unknown generator
std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink);

/// The phases of a run as Row has them, and "rest": what the phases leave of its seconds.
[[nodiscard]] PhaseSeconds phase_seconds(const RunReport& report, double all_seconds);

/// A table of such rows for people: a heading when `with_heading`, then a line a row.
[[nodiscard]] std::string spgemm_table(std::span<const Row> rows, bool with_heading);
/// The same with another line under each row that has phases.
[[nodiscard]] std::string spgemm_phase_table(std::span<const Row> rows, bool with_heading);

/// One algorithm as spgemm_on_device() runs it.
template <class Value>
struct SpgemmMethod {
  spgemm::Algorithm algorithm;                             ///< one of CUDA's
  Row row;                                                 ///< all but seconds and agrees
  std::function<bool(const matrices::Csr<Value>&)> check;  ///< says whether a result is right
};

/// A * B on the context's CUDA device, operands and result resident there. Of cuSPARSE only the
/// library's own work and its allocations are timed, not the narrowing of offsets before and the
/// sorting of rows after it. For float, double and std::complex<double>, and only in
/// builds with CUDA.
template <class Value>
[[nodiscard]] std::vector<Row> spgemm_on_device(const Context& context,
                                                const matrices::Csr<Value>& a,
                                                const matrices::Csr<Value>& b,
                                                std::vector<SpgemmMethod<Value>> methods,
                                                int repetitions);

}  // namespace sortie::bench
