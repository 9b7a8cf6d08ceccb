// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/phase_timer.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/graph_clusters.hpp"
#include "sortie/run_report.hpp"

#ifdef __CUDACC__
#define SORTIE_ON_BOTH __host__ __device__
#else
#define SORTIE_ON_BOTH
#endif

/// What the backends of Markov clustering have in common.
///
/// mcl's matrices are column-stochastic; these are their transposes, so that a row is the column of
/// a vertex in mcl's terms, and each row of the next matrix is computed by itself.
namespace sortie::graphs {

/// Values below are removed after inflation: the product of two others is a normal number, at
/// least 2^-126. They are too small to change any sum of a row that contains 1 / entries or more.
inline constexpr float least_value = 0x1p-63F;

/// Least value that is kept after expansion. Above 0: what is 0 is not an entry.
[[nodiscard]] inline float least_expanded(const Pruning& pruning) {
  return std::max(static_cast<float>(pruning.prune_below),
                  std::numeric_limits<float>::denorm_min());
}

/// Least value that is kept after inflation, unless the row has only smaller ones: the greatest are
/// kept then. An entry f of a row adds at most f to any entry of the next row, where less than
/// prune_below has no effect. With a tenth of it, ca-CondMat and wiki-Vote take half the time, and
/// the modularity of the graphs of docs/graph-clusters.md changes by less than 0.2 %.
[[nodiscard]] inline float least_inflated(const Pruning& pruning) {
  return std::max(static_cast<float>(pruning.prune_below / 10), least_value);
}

/// All rows are stable if (max - sum of squares) * entries is below this in every row.
inline constexpr double stable_chaos = 1e-4;

/// Inflation of an entry, up to the scale of its row.
///
/// Powers are relative to the greatest value of the row, so that they do not underflow. All
/// backends round alike: the power has double precision before it is rounded to float.
struct Inflation {
  double exponent = 2;

  SORTIE_ON_BOTH float operator()(float value, float greatest) const {
    if (exponent == 2) return value * value;
    return static_cast<float>(
        std::pow(static_cast<double>(value) / static_cast<double>(greatest), exponent));
  }
};

/// Sums of a row after pruning. The sums of up to 2^20 entries of at least 2^-14 are exact, so that
/// their order has no effect; without pruning they are in the order of columns.
struct RowSums {
  double sum = 0;
  double squares = 0;
  double inflated = 0;
  float greatest = 0;
  std::int64_t entries = 0;

  /// Above 0 for a row whose entries differ; 0 for one of equal entries.
  [[nodiscard]] SORTIE_ON_BOTH double chaos() const {
    return (static_cast<double>(greatest) / sum - squares / (sum * sum)) *
           static_cast<double>(entries);
  }
};

/// The last matrix of a clustering.
struct Limit {
  matrices::Csr<float> matrix;
  std::int64_t iterations = 0;
  bool converged = false;
};

/// Iterates until all rows are stable. Progress: "clustering"; figures "products", "nnz_most".
/// \param clustering  iterate() computes the next matrix and returns its chaos; matrix(), nnz();
///                    products() of all iterations
template <class Clustering>
[[nodiscard]] Limit iterate_to_limit(const HostContext& context, const ClusterOptions& options,
                                     Clustering& clustering) {
  Limit limit;
  std::int64_t most = 0;
  while (!limit.converged && limit.iterations < options.max_iterations) {
    limit.converged = clustering.iterate() < stable_chaos;
    most = std::max(most, clustering.nnz());
    report_progress(context, "clustering", ++limit.iterations, 0);
  }
  report_progress(context, "clustering", limit.iterations, limit.iterations);
  if (context.report != nullptr) {
    context.report->set("products", clustering.products());
    context.report->set("nnz_most", most);
  }
  limit.matrix = clustering.matrix();
  return limit;
}

/// The row-stochastic matrix of a graph with loops. \pre the graph is valid and symmetric
[[nodiscard]] matrices::Csr<float> stochastic_matrix(const HostContext& context,
                                                     const matrices::Csr<double>& graph);

/// The clusters of a limit.
[[nodiscard]] Clusters clusters_of(const Limit& limit);

/// The limit by a plain sequential algorithm, the reference of the backends.
[[nodiscard]] Limit plain_limit(const matrices::Csr<float>& matrix, const ClusterOptions& options);

/// The limit by the backend of the context.
[[nodiscard]] Limit find_limit(const Context& context, matrices::Csr<float> matrix,
                               const ClusterOptions& options);

namespace host {
[[nodiscard]] Limit find_limit(const HostContext& context, matrices::Csr<float> matrix,
                               const ClusterOptions& options);
}
#ifdef SORTIE_HAVE_CUDA
namespace cuda {
[[nodiscard]] Limit find_limit(const Context& context, matrices::Csr<float> matrix,
                               const ClusterOptions& options);
}
#endif

}  // namespace sortie::graphs
