// SPDX-License-Identifier: Apache-2.0
//
// aggregation_amg MATRIX [THREADS [FOLDER]]
//
// Sets up algebraic multigrid by smoothed aggregation for a symmetric positive definite matrix, given
// as a Matrix Market or .npz file, or as stencil27:N, the 27-point Laplacian on N^3 points. Solves a
// system by conjugate gradients with a V-cycle. Prints the levels, milliseconds of the set-up, and
// iterations. Writes the levels to FOLDER as A0.npz, P0.npz, A1.npz, ..., and the solution as x.npz,
// a column of a sparse matrix.
// THREADS compute the sparse products; the other loops are sequential.

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>

#include "set_up.hpp"
#include "solve.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"

namespace {

using amg::Level;
using amg::Matrix;
using amg::Vector;

constexpr std::string_view stencil_prefix = "stencil27:";

/// Each point has 26 and its neighbours -1.
Matrix stencil27(std::int64_t n) {
  Matrix a{n * n * n, n * n * n, {0}, {}, {}};
  const auto for_each_near = [n](std::int64_t i, const auto& body) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(n, i + 2); ++j) body(j);
  };
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for_each_near(row / (n * n), [&](std::int64_t z) {
      for_each_near(row / n % n, [&](std::int64_t y) {
        for_each_near(row % n, [&](std::int64_t x) {
          const std::int64_t column = (z * n + y) * n + x;
          a.col_idx.push_back(static_cast<std::int32_t>(column));
          a.values.push_back(column == row ? 26 : -1);
        });
      });
    });
    a.row_ptr.push_back(a.nnz());
  }
  return a;
}

Matrix read(const sortie::Context& context, const std::string& name) {
  if (!name.starts_with(stencil_prefix)) {
    return name.ends_with(".npz") ? sortie::matrices::read_npz<double>(context, name)
                                  : sortie::matrices::read_matrix_market<double>(context, name);
  }
  constexpr std::int64_t most = 1290;  // whose rows have 32-bit numbers
  std::int64_t points = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + stencil_prefix.size(), end, points);
  if (error != std::errc() || stop != end || points < 1 || points > most)
    throw sortie::input_error(name, 0, "another number of points", "one from 1 to 1290");
  return stencil27(points);
}

void print(const std::vector<Level>& levels) {
  std::printf(
      "level      rows        nnz  nnz/row | ms: strength aggregates smoothing  galerkin"
      " | new values\n");
  std::int64_t entries = 0;
  amg::Times sum;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto& [a, inverse_diagonal, radius, p, r, times] = levels[i];
    entries += a.nnz();
    sum.strength += times.strength;
    sum.aggregates += times.aggregates;
    sum.smoothing += times.smoothing;
    sum.galerkin += times.galerkin;
    sum.new_values += times.new_values;
    std::printf(
        "%5zu %9lld %10lld %8.1f | %12.1f %10.1f %9.1f %9.1f | %10.1f\n", i,
        static_cast<long long>(a.rows), static_cast<long long>(a.nnz()),
        static_cast<double>(a.nnz()) / static_cast<double>(std::max<std::int64_t>(1, a.rows)),
        times.strength, times.aggregates, times.smoothing, times.galerkin, times.new_values);
  }
  std::printf("sum   %20lld          | %12.1f %10.1f %9.1f %9.1f | %10.1f\n",
              static_cast<long long>(entries), sum.strength, sum.aggregates, sum.smoothing,
              sum.galerkin, sum.new_values);
  std::printf("operator complexity %.3f, set-up %.1f ms\n",
              static_cast<double>(entries) / static_cast<double>(levels.front().a.nnz()),
              sum.set_up());
}

Matrix column_of(const Vector& x) {
  const auto rows = static_cast<std::int64_t>(x.size());
  Matrix column{rows, 1, std::vector<std::int64_t>(x.size() + 1),
                std::vector<std::int32_t>(x.size()), x};
  std::iota(column.row_ptr.begin(), column.row_ptr.end(), std::int64_t{0});
  return column;
}

int run(int count, char** arguments) {
  if (count < 2 || count > 4) {
    std::fprintf(stderr, "usage: aggregation_amg MATRIX|stencil27:N [THREADS [FOLDER]]\n");
    return 2;
  }
  sortie::Context context;
  context.backend = sortie::Backend::host;
  context.threads = count > 2 ? std::atoi(arguments[2]) : 0;
  const std::vector<Level> levels = amg::set_up(context, read(context, arguments[1]));
  print(levels);

  Vector b(static_cast<std::size_t>(levels.front().a.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = amg::pseudo_random(i);
  constexpr double tolerance = 1e-8;
  constexpr int most_iterations = 100;
  const auto start = std::chrono::steady_clock::now();
  const amg::Solution solution = amg::solve(levels, b, tolerance, most_iterations);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("iterations %d, residual %.2e, %.1f ms\n", solution.iterations, solution.residual,
              time.count());

  if (count > 3) {
    const std::string folder = std::string(arguments[3]) + "/";
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::string number = std::to_string(i) + ".npz";
      sortie::matrices::write_npz(context, folder + "A" + number, levels[i].a);
      if (i + 1 < levels.size())
        sortie::matrices::write_npz(context, folder + "P" + number, levels[i].p);
    }
    sortie::matrices::write_npz(context, folder + "x.npz", column_of(solution.x));
  }
  if (solution.iterations < most_iterations) return 0;
  std::fprintf(stderr,
               "aggregation_amg: found a residual of %.2e, expected %.0e in %d iterations\n",
               solution.residual, tolerance, most_iterations);
  return 3;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const sortie::Error& error) {
    std::fprintf(stderr, "aggregation_amg: %s\n", error.what());
    return 1;
  }
}
