// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"

/// Clusters of the vertices of weighted graphs.
namespace sortie::graphs {

/// Which entries of a row of a stochastic matrix are kept. After expansion, as by `mcl`:
///
/// 1. Entries below `prune_below` are removed.
/// 2. If more than `keep_top` remain, the `keep_top` largest are kept.
/// 3. If the rest sums to less than `recover_below` and has fewer than `recover_top` entries, the
///    `recover_top` largest entries of the row are kept instead.
///
/// Entries that equal the last one kept by 2 or 3 are kept, too, in ascending order of columns, but
/// no more than twice as many entries in all. If nothing is left, the largest entry is kept.
///
/// After inflation, entries below a tenth of `prune_below` are removed, which `mcl` does not do.
struct Pruning {
  double prune_below = 1e-4;
  std::int64_t keep_top = 1100;
  std::int64_t recover_top = 1400;
  double recover_below = 0.9;

  /// Keeps all entries.
  [[nodiscard]] static Pruning none() {
    constexpr std::int64_t all = std::numeric_limits<std::int32_t>::max();
    return {.prune_below = 0, .keep_top = all, .recover_top = all, .recover_below = 0};
  }
  friend bool operator==(const Pruning&, const Pruning&) = default;
};

/// Parameters of Markov clustering. The defaults are those of `mcl`.
struct ClusterOptions {
  double inflation = 2;  ///< exponent; greater values give smaller clusters
  Pruning pruning;
  std::int64_t max_iterations = 10'000;  ///< the clusters of the last iterand are returned then
};

/// A partition of the vertices.
struct Clusters {
  std::vector<std::int64_t> begins{0};  ///< of each cluster in `members`, and their number
  std::vector<std::int32_t> members;    ///< vertices from 0, ascending in each cluster
  std::int64_t iterations = 0;
  bool converged = true;

  /// Number of clusters.
  [[nodiscard]] std::int64_t count() const { return std::ssize(begins) - 1; }
};

/// The undirected graph of a matrix: its vertices are the rows, the weight of an edge is the
/// greater of a(i, j) and a(j, i). The diagonal and edges of weight 0 are left out.
/// \param name  for errors
/// \throws Error (input) the matrix is not square; a weight is negative or not a finite number
/// Complexity: O(nnz). Memory: the transpose and the result.
template <matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Csr<double> undirected_graph(
    const HostContext& context, const matrices::Csr<double, Idx>& matrix, std::string_view name);

/// Clusters of a graph by Markov clustering: random steps through the graph stay within a cluster.
///
/// Each vertex gets a loop that weighs as much as its heaviest edge (1 without edges), and rows are
/// scaled to the sum 1. Then expansion (the matrix times itself), pruning, and inflation (each
/// entry to the power of `inflation`, rows scaled to the sum 1) alternate until every row consists
/// of equal entries: until (max - sum of squares) * entries of each pruned row is below 1e-4. A
/// vertex belongs to the cluster of the columns of its row; if these are of several clusters, to
/// that of the least vertex which is in no other. Clusters are sorted by descending size, those of
/// one size by the least member.
///
/// The matrix has single precision, as in `mcl`. Sums of products, of rows and of powers have
/// double precision, so that equal flows remain equal whatever the order of vertices. Entries below
/// 2^-63 after inflation are removed even without pruning: products of the others are normal
/// numbers. The result does not depend on the number of threads.
///
/// \param context  backend, device, threads; memory budget of the matrices; progress: "clustering"
///                 in iterations; report: figures "iterations", "products", "nnz_most"; phases
///                 "expansion" and "interpretation"
/// \param graph    symmetric, as from undirected_graph()
/// \throws Error (usage)         inflation is not above 1, or a limit is out of range
/// \throws Error (input)         the graph is not square; a weight is negative or not finite
/// \throws Error (out_of_memory) the matrices do not fit the budget
/// Complexity: O(sum over entries (i, k) of the entries of row k) per iteration; with pruning, at
/// most 4 * recover_top^2 per vertex. Memory: 8 bytes per entry of two matrices (CUDA: 12, and
/// blocks of unpruned rows within the budget), and 69 bytes per vertex and host thread.
/// Source: van Dongen: Graph Clustering Via a Discrete Uncoupling Process (SIAM Journal on Matrix
/// Analysis and Applications 2008).
[[nodiscard]] SORTIE_API Clusters find_clusters(const Context& context,
                                                const matrices::Csr<double>& graph,
                                                const ClusterOptions& options = {});

/// Clusters the graph again with a plain sequential algorithm and compares.
/// \throws Error (check) naming the first vertex whose cluster differs
SORTIE_API void check_clusters(const HostContext& context, const matrices::Csr<double>& graph,
                               const ClusterOptions& options, const Clusters& clusters);

/// A graph, and the names of its vertices.
struct NamedGraph {
  matrices::Csr<double> graph;      ///< undirected
  std::vector<std::string> labels;  ///< empty: vertices are numbered from 1
};

/// Reads an undirected graph: a matrix (Matrix Market, or .npz of SciPy), or lines of two labels
/// and a weight (1 if it is missing), separated by blanks. Lines may be empty or begin with '#'.
/// Labels are numbered as they appear. Plain text, gzip or zstd, recognised by content; "-" is
/// standard input.
/// \throws Error (input) as read_matrix_market() and undirected_graph(); "FILE:LINE: ..." for a
///         line of another form, and for a weight that is negative or not a finite number
[[nodiscard]] SORTIE_API NamedGraph read_graph(const HostContext& context, const std::string& path);

/// Writes a line for each cluster, its members separated by tabs.
/// \param labels  as NamedGraph::labels
/// \throws Error (output)
SORTIE_API void write_clusters(const std::string& path, const Clusters& clusters,
                               const std::vector<std::string>& labels);

}  // namespace sortie::graphs
