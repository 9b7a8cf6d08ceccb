// SPDX-License-Identifier: Apache-2.0
//
// triangles GRAPH [THREADS [REPEAT]]
//
// Counts the triangles and the cycles of four vertices of a graph, given as a Matrix Market or .npz file,
// by products over plus-pair, and its triangles with SuiteSparse:GraphBLAS where the build has it.
// Directions, weights and loops are ignored. Times are the least of REPEAT runs.
#ifdef SORTIE_HAVE_GRAPHBLAS
extern "C" {
#include <GraphBLAS.h>
}
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "sortie/semiring_spgemm.hpp"

namespace {

using sortie::matrices::Csr;
using sortie::matrices::Pattern;
using sortie::spgemm::Semiring;
using Counts = Csr<std::int64_t>;

/// Entries of a + a^T; only those below the diagonal, or all but the diagonal.
Counts edges(const Csr<double>& a, bool only_lower) {
  const Csr<double> transposed = sortie::matrices::transpose(a);
  Counts graph{a.rows, a.cols, {0}, {}, {}};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::vector<std::int32_t> columns;
    for (const Csr<double>* half : {&a, &transposed}) {
      for (std::int64_t i = half->row_ptr[row]; i < half->row_ptr[row + 1]; ++i) {
        const std::int32_t column = half->col_idx[i];
        if (column < row || (!only_lower && column > row)) columns.push_back(column);
      }
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    graph.col_idx.insert(graph.col_idx.end(), columns.begin(), columns.end());
    graph.row_ptr.push_back(graph.nnz());
  }
  graph.values.assign(graph.col_idx.size(), 1);
  return graph;
}

/// Milliseconds of the fastest of several runs.
double least_milliseconds(int repeat, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < repeat; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

/// An edge (i, j) of L and a path i, k, j in L are a triangle i > k > j, once for each.
std::int64_t count_triangles(const sortie::Context& context, const Counts& lower) {
  const Pattern<std::int32_t> mask = sortie::matrices::pattern_of(lower);
  const Counts paths = sortie::spgemm::multiply(context, lower, lower,
                                                {.semiring = Semiring::plus_pair, .mask = &mask});
  std::int64_t triangles = 0;
  for (const std::int64_t count : paths.values) triangles += count;
  return triangles;
}

/// Two vertices with c common neighbours are opposite in c (c - 1) / 2 cycles of four, and each cycle has
/// two such pairs, of which A * A has both orders.
std::int64_t count_squares(const sortie::Context& context, const Counts& graph) {
  Pattern<std::int32_t> diagonal{graph.rows, graph.cols, {0}, {}};
  for (std::int32_t i = 0; i < graph.rows; ++i) {
    diagonal.col_idx.push_back(i);
    diagonal.row_ptr.push_back(i + 1);
  }
  const Counts paths = sortie::spgemm::multiply(
      context, graph, graph,
      {.semiring = Semiring::plus_pair, .mask = &diagonal, .complement = true});
  std::int64_t pairs = 0;
  for (const std::int64_t count : paths.values) pairs += count * (count - 1) / 2;
  return pairs / 4;
}

#ifdef SORTIE_HAVE_GRAPHBLAS
void require(GrB_Info info) {
  if (info != GrB_SUCCESS)
    throw sortie::Error(sortie::ErrorKind::device, "GraphBLAS: found an error, expected none");
}

/// Prints the time of GraphBLAS. Returns its number of triangles.
std::int64_t count_by_graphblas(const Counts& lower, int threads, int repeat) {
  require(GrB_init(GrB_NONBLOCKING));
  require(GxB_Global_Option_set_INT32(GxB_GLOBAL_NTHREADS, threads));
  std::vector<GrB_Index> rows;
  std::vector<GrB_Index> columns(lower.col_idx.begin(), lower.col_idx.end());
  for (std::int64_t row = 0; row < lower.rows; ++row)
    rows.insert(rows.end(), lower.row_ptr[row + 1] - lower.row_ptr[row], row);
  GrB_Matrix l = nullptr;
  require(GrB_Matrix_new(&l, GrB_INT64, lower.rows, lower.cols));
  require(GrB_Matrix_build_INT64(l, rows.data(), columns.data(), lower.values.data(), rows.size(),
                                 GrB_PLUS_INT64));
  require(GrB_Matrix_wait(l, GrB_MATERIALIZE));
  std::int64_t triangles = 0;
  const double time = least_milliseconds(repeat, [&] {
    GrB_Matrix c = nullptr;
    require(GrB_Matrix_new(&c, GrB_INT64, lower.rows, lower.cols));
    require(GrB_mxm(c, l, nullptr, GxB_PLUS_PAIR_INT64, l, l, GrB_DESC_S));
    require(GrB_Matrix_wait(c, GrB_MATERIALIZE));
    require(GrB_Matrix_reduce_INT64(&triangles, nullptr, GrB_PLUS_MONOID_INT64, c, nullptr));
    GrB_Matrix_free(&c);
  });
  GrB_Matrix_free(&l);
  require(GrB_finalize());
  std::printf("triangles %lld, %.3f ms (GraphBLAS)\n", static_cast<long long>(triangles), time);
  return triangles;
}
#endif

int run(int count, char** arguments) {
  if (count < 2 || count > 4) {
    std::fprintf(stderr, "usage: triangles GRAPH [THREADS [REPEAT]]\n");
    return 2;
  }
  sortie::Context context;
  context.threads = count > 2 ? std::atoi(arguments[2]) : 0;
  const int repeat = count > 3 ? std::max(1, std::atoi(arguments[3])) : 1;
  const std::string_view path = arguments[1];
  const Csr<double> graph =
      path.ends_with(".npz") ? sortie::matrices::read_npz<double>(context, arguments[1])
                             : sortie::matrices::read_matrix_market<double>(context, arguments[1]);
  if (graph.rows != graph.cols) throw sortie::input_error(path, 0, "another shape", "a square one");
  const Counts lower = edges(graph, true);
  const Counts all = edges(graph, false);
  std::int64_t triangles = 0;
  std::int64_t squares = 0;
  const double time =
      least_milliseconds(repeat, [&] { triangles = count_triangles(context, lower); });
  std::printf("triangles %lld, %.3f ms\n", static_cast<long long>(triangles), time);
  const double square_time =
      least_milliseconds(repeat, [&] { squares = count_squares(context, all); });
  std::printf("4-cycles %lld, %.3f ms\n", static_cast<long long>(squares), square_time);
#ifdef SORTIE_HAVE_GRAPHBLAS
  if (count_by_graphblas(lower, std::max(1, context.threads), repeat) != triangles) {
    std::fprintf(stderr, "triangles: the numbers differ\n");
    return 3;
  }
#endif
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const sortie::Error& error) {
    std::fprintf(stderr, "triangles: %s\n", error.what());
    return 1;
  }
}
