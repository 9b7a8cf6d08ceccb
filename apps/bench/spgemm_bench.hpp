#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"

namespace sortie::bench {

struct SpgemmOptions {
  /// Files, or gen:er:ROWS:ROW_NNZ, gen:rmat:SCALE:EDGE_FACTOR, gen:banded:ROWS:HALF_BANDWIDTH,
  /// gen:stencil5:N (N x N), gen:stencil7:N, gen:stencil27:N (N x N x N),
  /// gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ
  std::vector<std::string> sources;
  bool single_precision = false;
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<spgemm::Algorithm> algorithms;  ///< empty: all that the backend has
};

/// A * A for every source on the context's backend, one row an algorithm, from host memory to host
/// memory; on CUDA then as well from device memory to device memory ("... on the device"). GFLOP/s
/// counts two operations a product. Every result is compared with Eigen's. \throws Error (usage)
/// unknown generator; (input) as the reader, or a matrix that is not square
std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink);

/// One algorithm as spgemm_on_device() runs it.
template <class Value>
struct SpgemmMethod {
  spgemm::Algorithm algorithm;                             ///< one of CUDA's, not `automatic`
  Row row;                                                 ///< all but seconds and agrees
  std::function<bool(const matrices::Csr<Value>&)> check;  ///< says whether a result is right
};

/// A * A on the context's CUDA device, operand and result resident there. Of cuSPARSE only the
/// library's own work and its allocations are timed, not the narrowing of offsets before and the
/// sorting of rows after it. For float and double, and only in builds with CUDA.
template <class Value>
[[nodiscard]] std::vector<Row> spgemm_on_device(const Context& context,
                                                const matrices::Csr<Value>& matrix,
                                                std::vector<SpgemmMethod<Value>> methods,
                                                int repetitions);

}  // namespace sortie::bench
