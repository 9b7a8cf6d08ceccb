#pragma once

#include <cstdint>
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

/// A * A for every source on the context's backend, from host memory to host memory, one row an
/// algorithm; GFLOP/s counts two operations a product. Every result is compared with Eigen's.
/// \throws Error (usage) unknown generator; (input) as the reader, or a matrix that is not square
std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink);

}  // namespace sortie::bench
