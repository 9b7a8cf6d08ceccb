// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::bench {

struct SpgemmOptions {
  /// Files, or generators: gen:er:ROWS:ROW_NNZ, gen:rmat:SCALE:EDGE_FACTOR,
  /// gen:banded:ROWS:HALF_BANDWIDTH, gen:stencil5:N, gen:stencil9:N (N x N), gen:stencil7:N,
  /// gen:stencil27:N (N x N x N), stencils optionally with NxN or NxNxN points, :UNKNOWNS per grid
  /// point (default 1), and :shuffled rows and columns,
  /// gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ,
  /// gen:web:ROWS:NNZ:PRODUCTS:MAX_ROW_NNZ:SITE_ROWS:LOCALITY (matrices::WebGraph)
  std::vector<std::string> sources;
  bool single_precision = false;
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<spgemm::Algorithm> algorithms;  ///< empty: all of the backend
  /// Reference for results, computed on the host once per source (spgemm::ProductCheck).
  spgemm::Algorithm checked_by = spgemm::parse_algorithm("eigen");
  bool transpose_b = false;  ///< A * A^T instead of A * A
  bool transfers = false;    ///< CUDA: also measure from host memory to host memory
};

/// A * A, or A * A^T, for every source on the context's backend; one row per algorithm. GFLOP/s
/// counts two operations per product, also for complex numbers. Complex files are not converted to
/// real matrices.
///
/// On the host: from host memory to host memory. On CUDA: from device memory to device memory ("...
/// on the device"), once with a memory pool that already holds the memory, and once with a pool
/// emptied before each repetition (Row::allocating_seconds). cusparse-reuse and fused have a second
/// row, "... values": values only, with known structure; for fused by spgemm::cuda::SpgemmPlan.
/// Every result is compared with that of options.checked_by. Sortie's own algorithms report phases
/// (Row::phases), measured on CUDA by events; "rest" is the time outside the phases.
///
/// A source that cannot be read, is not square for A * A, or is complex when single precision is
/// requested, has one row without method and result that contains the message (Row::failure); the
/// remaining sources are still measured. \throws Error (usage) unknown generator
std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink);

/// The phases of a run for Row::phases, and "rest": its time outside the phases.
[[nodiscard]] PhaseSeconds phase_seconds(const RunReport& report, double all_seconds);

/// A table of rows for output: a heading if `with_heading`, then one line per row.
[[nodiscard]] std::string spgemm_table(std::span<const Row> rows, bool with_heading);
/// The same with a second line for each row that has phases.
[[nodiscard]] std::string spgemm_phase_table(std::span<const Row> rows, bool with_heading);

/// One algorithm for spgemm_on_device().
template <class Value>
struct SpgemmMethod {
  spgemm::Algorithm algorithm;                             ///< a CUDA algorithm
  Row row;                                                 ///< all fields except seconds and agrees
  std::function<bool(const matrices::Csr<Value>&)> check;  ///< returns whether a result is correct
};

/// A * B on the context's CUDA device; operands and result stay in device memory. For cuSPARSE only
/// the library's own work and its allocations are timed, not the preceding conversion of offsets
/// nor the subsequent sort of rows. For float, double and std::complex<double>; only in builds with
/// CUDA.
template <class Value>
[[nodiscard]] std::vector<Row> spgemm_on_device(const Context& context,
                                                const matrices::Csr<Value>& a,
                                                const matrices::Csr<Value>& b,
                                                std::vector<SpgemmMethod<Value>> methods,
                                                int repetitions);

}  // namespace sortie::bench
