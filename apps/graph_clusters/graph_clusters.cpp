// SPDX-License-Identifier: Apache-2.0
#include "sortie/graph_clusters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "apps/graph_clusters/markov.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::graphs {
namespace {

using matrices::Csr;

void require_options(const ClusterOptions& options) {
  const auto require = [](bool holds, std::string_view name, auto found, std::string_view range) {
    if (!holds)
      throw Error(ErrorKind::usage, fmt::format("{}: found {}, expected {}", name, found, range));
  };
  const Pruning& pruning = options.pruning;
  require(options.inflation > 1 && std::isfinite(options.inflation), "inflation", options.inflation,
          "a number above 1");
  require(pruning.prune_below >= 0 && pruning.prune_below < 1, "prune below", pruning.prune_below,
          "a number of at least 0 and below 1");
  require(pruning.keep_top > 0, "keep top", pruning.keep_top, "at least 1");
  require(pruning.recover_top > 0, "recover top", pruning.recover_top, "at least 1");
  require(pruning.recover_below >= 0 && pruning.recover_below <= 1, "recover below",
          pruning.recover_below, "a number from 0 to 1");
  require(options.max_iterations > 0, "iterations", options.max_iterations, "at least 1");
}

/// \throws Error (input)
template <class Idx>
void require_weights(const Csr<double, Idx>& matrix, std::string_view name) {
  if (matrix.rows != matrix.cols)
    throw input_error(name, 0, fmt::format("{} rows and {} columns", matrix.rows, matrix.cols),
                      "a square matrix");
  if (matrix.rows > std::numeric_limits<std::int32_t>::max())
    throw input_error(name, 0, fmt::format("{} vertices", matrix.rows), "at most 2147483647");
  const std::uint64_t bad = first_index(0, matrix.values.size(), [&](std::uint64_t i) {
    return !(matrix.values[i] >= 0 && std::isfinite(matrix.values[i]));
  });
  if (bad == no_index) return;
  const auto row = std::ranges::upper_bound(matrix.row_ptr, static_cast<std::int64_t>(bad));
  throw input_error(name, 0,
                    fmt::format("the weight {} in row {}, column {}", matrix.values[bad],
                                row - matrix.row_ptr.begin(), matrix.col_idx[bad] + 1),
                    "a number of at least 0");
}

/// Entries of row `row` of the undirected graph, as visit(column, weight).
template <class Idx, class Visit>
void visit_edges(const Csr<double, Idx>& matrix, const Csr<double, Idx>& transpose,
                 std::int64_t row, const Visit& visit) {
  std::int64_t i = matrix.row_ptr[row];
  std::int64_t j = transpose.row_ptr[row];
  const std::int64_t end_i = matrix.row_ptr[row + 1];
  const std::int64_t end_j = transpose.row_ptr[row + 1];
  while (i < end_i || j < end_j) {
    const std::int64_t out = i < end_i ? matrix.col_idx[i] : matrix.cols;
    const std::int64_t in = j < end_j ? transpose.col_idx[j] : matrix.cols;
    const std::int64_t column = std::min(out, in);
    double weight = 0;
    if (out == column) weight = std::max(weight, matrix.values[i++]);
    if (in == column) weight = std::max(weight, transpose.values[j++]);
    if (column != row && weight > 0) visit(static_cast<std::int32_t>(column), weight);
  }
}

/// Calls work(row) for all rows, in parallel.
template <class Work>
void for_each_row(std::int64_t rows, const Work& work) {
  constexpr std::int64_t rows_per_task = 1 << 12;
  for_each_range(rows, rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) work(row);
  });
}

/// Number of the cluster of each vertex: the least of the vertices that attract the others.
std::vector<std::int32_t> interpret(const Csr<float>& limit) {
  const auto vertices = static_cast<std::size_t>(limit.rows);
  // Entries of a stable row are equal, apart from small ones that further iterations would remove.
  const auto for_each_large = [&](std::int64_t row, const auto& visit) {
    const auto begin = limit.row_ptr[row];
    const auto end = limit.row_ptr[row + 1];
    float greatest = 0;
    for (auto i = begin; i < end; ++i) greatest = std::max(greatest, limit.values[i]);
    for (auto i = begin; i < end; ++i)
      if (limit.values[i] >= greatest / 2) visit(limit.col_idx[i]);
  };
  std::vector<std::int32_t> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t vertex) {
    while (parent[vertex] != vertex) vertex = parent[vertex] = parent[parent[vertex]];
    return vertex;
  };
  std::vector<char> attracts(vertices, 0);
  for (std::int64_t row = 0; row < limit.rows; ++row)
    for_each_large(row, [&](std::int32_t column) { attracts[column] = 1; });
  // Attractors that share a row of an attractor are of one cluster. The least is the root.
  for (std::int64_t row = 0; row < limit.rows; ++row) {
    if (attracts[row] == 0) continue;
    for_each_large(row, [&](std::int32_t column) {
      const std::int32_t a = root(static_cast<std::int32_t>(row));
      const std::int32_t b = root(column);
      parent[std::max(a, b)] = std::min(a, b);
    });
  }
  // Of a vertex between several clusters, that of the least vertex which is in no other, as in mcl.
  constexpr std::int32_t none = -1;
  std::vector<std::int32_t> cluster(vertices, none);
  std::vector<std::int32_t> least(vertices, none);
  for (std::int64_t row = 0; row < limit.rows; ++row) {
    std::int32_t only = none;
    bool is_between = false;
    for_each_large(row, [&](std::int32_t column) {
      is_between |= only != none && only != root(column);
      only = root(column);
    });
    if (is_between) continue;
    cluster[row] = only;
    if (least[only] == none) least[only] = static_cast<std::int32_t>(row);
  }
  for (std::int64_t row = 0; row < limit.rows; ++row) {
    if (cluster[row] != none) continue;
    for_each_large(row, [&](std::int32_t column) {
      const std::int32_t found = root(column);
      if (cluster[row] == none || least[found] < least[cluster[row]]) cluster[row] = found;
    });
  }
  return cluster;
}

}  // namespace

Clusters clusters_of(const Limit& limit) {
  const std::vector<std::int32_t> cluster = interpret(limit.matrix);
  struct Found {
    std::int64_t size = 0;
    std::int32_t least = -1;
    std::int64_t begin = 0;
  };
  std::vector<Found> found(cluster.size());
  for (std::size_t vertex = 0; vertex < cluster.size(); ++vertex) {
    Found& of = found[cluster[vertex]];
    if (of.size++ == 0) of.least = static_cast<std::int32_t>(vertex);
  }
  std::vector<Found*> sorted;
  for (Found& of : found)
    if (of.size > 0) sorted.push_back(&of);
  std::ranges::sort(sorted, [](const Found* a, const Found* b) {
    return a->size != b->size ? a->size > b->size : a->least < b->least;
  });
  Clusters clusters;
  for (Found* of : sorted) {
    of->begin = clusters.begins.back();
    clusters.begins.push_back(of->begin + of->size);
  }
  clusters.members.resize(cluster.size());
  for (std::size_t vertex = 0; vertex < cluster.size(); ++vertex)
    clusters.members[found[cluster[vertex]].begin++] = static_cast<std::int32_t>(vertex);
  clusters.iterations = limit.iterations;
  clusters.converged = limit.converged;
  return clusters;
}

template <matrices::Index Idx>
Csr<double> undirected_graph(const HostContext& context, const Csr<double, Idx>& matrix,
                             std::string_view name) {
  start_host_runtime(context.threads);
  require_weights(matrix, name);
  // The transpose, and a result of as many entries as both.
  require_budget(context, "undirected graph",
                 bytes_of({{matrix.nnz(), sizeof(Idx) + sizeof(double)},
                           {2 * matrix.nnz(), sizeof(std::int32_t) + sizeof(double)},
                           {2 * (matrix.rows + 1), sizeof(std::int64_t)}}));
  const Csr<double, Idx> transpose = matrices::transpose(matrix);
  Csr<double> graph{matrix.rows, matrix.cols, {}, {}, {}};
  graph.row_ptr.resize(matrix.rows + 1);
  for_each_row(matrix.rows, [&](std::int64_t row) {
    std::int64_t edges = 0;
    visit_edges(matrix, transpose, row, [&](std::int32_t, double) { ++edges; });
    graph.row_ptr[row + 1] = edges;
  });
  std::partial_sum(graph.row_ptr.begin(), graph.row_ptr.end(), graph.row_ptr.begin());
  graph.col_idx.resize(graph.row_ptr.back());
  graph.values.resize(graph.row_ptr.back());
  for_each_row(matrix.rows, [&](std::int64_t row) {
    std::int64_t to = graph.row_ptr[row];
    visit_edges(matrix, transpose, row, [&](std::int32_t column, double weight) {
      graph.col_idx[to] = column;
      graph.values[to++] = weight;
    });
  });
  report_progress(context, "undirected graph", matrix.rows, matrix.rows);
  return graph;
}

template Csr<double> undirected_graph(const HostContext&, const Csr<double, std::int32_t>&,
                                      std::string_view);
template Csr<double> undirected_graph(const HostContext&, const Csr<double, std::int64_t>&,
                                      std::string_view);

Csr<float> stochastic_matrix(const HostContext& context, const Csr<double>& graph) {
  start_host_runtime(context.threads);
  Csr<float> matrix{graph.rows, graph.cols, {}, {}, {}};
  matrix.row_ptr.resize(graph.rows + 1);
  matrix.col_idx.resize(graph.nnz() + graph.rows);
  matrix.values.resize(graph.nnz() + graph.rows);
  for_each_row(graph.rows, [&](std::int64_t row) {
    const std::int64_t begin = graph.row_ptr[row];
    const std::int64_t end = graph.row_ptr[row + 1];
    const auto columns = std::span(graph.col_idx).subspan(begin, end - begin);
    double greatest = 0;
    double sum = 1;  // of the loop; weights are relative to the greatest, so that none overflows
    for (std::int64_t i = begin; i < end; ++i) greatest = std::max(greatest, graph.values[i]);
    for (std::int64_t i = begin; i < end; ++i) sum += graph.values[i] / greatest;
    const std::int64_t before =
        std::ranges::lower_bound(columns, static_cast<std::int32_t>(row)) - columns.begin();
    std::int64_t to = begin + row;
    matrix.row_ptr[row] = to;
    for (std::int64_t i = begin; i <= end; ++i) {
      if (i == begin + before) {
        matrix.col_idx[to] = static_cast<std::int32_t>(row);
        matrix.values[to++] = static_cast<float>(1 / sum);
      }
      if (i == end) break;
      matrix.col_idx[to] = graph.col_idx[i];
      matrix.values[to++] =
          std::max(static_cast<float>(graph.values[i] / greatest / sum), least_value);
    }
  });
  matrix.row_ptr.back() = matrix.nnz();
  return matrix;
}

Limit find_limit(const Context& context, Csr<float> matrix, const ClusterOptions& options) {
#ifdef SORTIE_HAVE_CUDA
  if (resolve_backend(context) == Backend::cuda)
    return cuda::find_limit(context, std::move(matrix), options);
#else
  static_cast<void>(resolve_backend(context));
#endif
  return host::find_limit(context, std::move(matrix), options);
}

Clusters find_clusters(const Context& context, const Csr<double>& graph,
                       const ClusterOptions& options) {
  require_options(options);
  require_weights(graph, "graph");
  PhaseTimer expansion(context, "expansion");
  const Limit limit = find_limit(context, stochastic_matrix(context, graph), options);
  expansion.stop();
  const PhaseTimer timer(context, "interpretation");
  Clusters clusters = clusters_of(limit);
  if (context.report != nullptr) context.report->set("iterations", limit.iterations);
  return clusters;
}

}  // namespace sortie::graphs
