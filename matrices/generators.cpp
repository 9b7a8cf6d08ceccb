// SPDX-License-Identifier: Apache-2.0
#include "matrices/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/random.hpp"
#include "matrices/generator_parts.hpp"
#include "matrices/instantiate.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

using namespace detail;  // generator_parts.hpp

namespace {

// Generates one edge: each level halves the matrix in both dimensions and chooses a quadrant.
std::pair<std::int64_t, std::int64_t> draw_edge(Random& random, int scale) {
  // Cumulative probabilities of the quadrants (0,0), (0,1), (1,0) in units of 2^-32: 0.57, 0.76,
  // 0.95.
  constexpr std::uint64_t first = 2448131359, second = 3264175145, third = 4080218931;
  std::int64_t row = 0;
  std::int64_t col = 0;
  for (int level = 0; level < scale; ++level) {
    const std::uint64_t point = random.next() >> 32;
    row = 2 * row + (point >= second ? 1 : 0);
    col = 2 * col + ((point >= first && point < second) || point >= third ? 1 : 0);
  }
  return {row, col};
}

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;
};

// Offsets of a point's neighbours and of the point itself, in the order of their numbers.
std::vector<Point> stencil_steps(int points) {
  std::vector<Point> steps;
  for (std::int64_t z = -1; z <= 1; ++z) {
    for (std::int64_t y = -1; y <= 1; ++y) {
      for (std::int64_t x = -1; x <= 1; ++x) {
        const std::int64_t distance = std::abs(x) + std::abs(y) + std::abs(z);
        if (points == 27 || (distance <= 1 && (points == 7 || z == 0))) steps.push_back({x, y, z});
      }
    }
  }
  return steps;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> erdos_renyi(std::int64_t rows, std::int64_t cols, std::int64_t row_nnz,
                            std::uint64_t seed) {
  require_size<Idx>(rows, "rows");
  require_size<Idx>(cols, "columns");
  require(row_nnz >= 0 && row_nnz <= cols, fmt::format("{} entries per row", row_nnz),
          fmt::format("0 to {}, the number of columns", cols));
  return build_rows<Value, Idx>(
      rows, cols, [&](std::int64_t) { return row_nnz; },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, static_cast<std::uint64_t>(row));
        for (const std::int64_t col : draw_columns(random, row_nnz, cols))
          put(col, random_value<Value>(random));
      });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> rmat(int scale, std::int64_t edge_factor, std::uint64_t seed) {
  constexpr int scale_limit = std::numeric_limits<Idx>::digits - 1;
  require(scale >= 0 && scale <= scale_limit, fmt::format("scale {}", scale),
          fmt::format("0 to {}", scale_limit));
  const std::int64_t size = std::int64_t{1} << scale;
  // With this limit, the bytes of an edge list fit a signed 64-bit number.
  const std::int64_t factor_limit = (std::numeric_limits<std::int64_t>::max() >> scale) / 64;
  require(edge_factor >= 0 && edge_factor <= factor_limit,
          fmt::format("edge factor {}", edge_factor), fmt::format("0 to {}", factor_limit));
  const std::int64_t edges = edge_factor * size;
  require_memory({}, "an edge list", bytes_of({{edges, 2 * sizeof(Idx) + sizeof(Value)}}));
  Coo<Value, Idx> coo{.rows = size, .cols = size, .row_idx = {}, .col_idx = {}, .values = {}};
  coo.row_idx.resize(static_cast<std::size_t>(edges));
  coo.col_idx.resize(static_cast<std::size_t>(edges));
  coo.values.resize(static_cast<std::size_t>(edges));
  for_each_range(edges, rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t edge = first; edge < last; ++edge) {
      Random random(seed, static_cast<std::uint64_t>(edge));
      const auto [row, col] = draw_edge(random, scale);
      const auto slot = static_cast<std::size_t>(edge);
      coo.row_idx[slot] = static_cast<Idx>(row);
      coo.col_idx[slot] = static_cast<Idx>(col);
      coo.values[slot] = random_value<Value>(random);
    }
  });
  return to_csr(coo);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> banded(std::int64_t size, std::int64_t half_bandwidth, std::uint64_t seed) {
  require_size<Idx>(size, "rows");
  require(half_bandwidth >= 0, fmt::format("half bandwidth {}", half_bandwidth), "at least 0");
  const std::int64_t reach = std::min(half_bandwidth, size);
  const auto first = [&](std::int64_t row) { return std::max<std::int64_t>(0, row - reach); };
  const auto last = [&](std::int64_t row) { return std::min(size - 1, row + reach); };
  return build_rows<Value, Idx>(
      size, size, [&](std::int64_t row) { return last(row) - first(row) + 1; },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, static_cast<std::uint64_t>(row));
        for (std::int64_t col = first(row); col <= last(row); ++col)
          put(col, random_value<Value>(random));
      });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> stencil(int points, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                        int unknowns) {
  require(points == 5 || points == 7 || points == 27, fmt::format("{} points", points),
          "5, 7 or 27");
  require(nx >= 0 && ny >= 0 && nz >= 0, fmt::format("a grid of {} x {} x {}", nx, ny, nz),
          "sizes of at least 0");
  require(points != 5 || nz == 1, fmt::format("{} layers", nz), "1 for a 5-point stencil");
  require(unknowns >= 1, fmt::format("{} unknowns per point", unknowns), "at least 1");
  std::int64_t size = 0;
  const bool overflow = __builtin_mul_overflow(nx, ny, &size) ||
                        __builtin_mul_overflow(size, nz, &size) ||
                        __builtin_mul_overflow(size, unknowns, &size);
  require(!overflow, fmt::format("{} x {} x {} points", nx, ny, nz), "fewer than 2^63 unknowns");
  require_size<Idx>(size, "unknowns");

  const std::vector<Point> steps = stencil_steps(points);
  // Calls visit(number of the neighbour) for every point of the stencil inside the grid.
  const auto for_each_neighbour = [&](std::int64_t number, const auto& visit) {
    const Point point{number % nx, number / nx % ny, number / (nx * ny)};
    for (const Point& step : steps) {
      const Point to{point.x + step.x, point.y + step.y, point.z + step.z};
      const bool inside =
          to.x >= 0 && to.x < nx && to.y >= 0 && to.y < ny && to.z >= 0 && to.z < nz;
      if (inside) visit((to.z * ny + to.y) * nx + to.x);
    }
  };
  return build_rows<Value, Idx>(
      size, size,
      [&](std::int64_t row) {
        std::int64_t length = 0;
        for_each_neighbour(row / unknowns, [&](std::int64_t) { length += unknowns; });
        return length;
      },
      [&](std::int64_t row, const auto& put) {
        const std::int64_t number = row / unknowns;
        for_each_neighbour(number, [&](std::int64_t neighbour) {
          const float laplacian = neighbour == number ? static_cast<float>(points - 1) : -1.0F;
          for (std::int64_t unknown = 0; unknown < unknowns; ++unknown) {
            const float coupling = unknown == row % unknowns ? 1.0F : 0.5F;
            put(neighbour * unknowns + unknown, static_cast<Value>(laplacian * coupling));
          }
        });
      });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> power_law(std::int64_t rows, std::int64_t cols, double exponent,
                          std::int64_t max_row_nnz, std::uint64_t seed) {
  require_size<Idx>(rows, "rows");
  require_size<Idx>(cols, "columns");
  require(std::isfinite(exponent), fmt::format("exponent {}", exponent), "a finite number");
  require(max_row_nnz >= 1 && max_row_nnz <= cols,
          fmt::format("a longest row of {} entries", max_row_nnz),
          fmt::format("1 to {}, the number of columns", cols));
  const PowerLaw law(exponent, max_row_nnz);
  // The length and the entries of a row are drawn from one stream, so the length is the same in
  // both passes.
  return build_rows<Value, Idx>(
      rows, cols,
      [&](std::int64_t row) {
        Random random(seed, static_cast<std::uint64_t>(row));
        return law.draw(random);
      },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, static_cast<std::uint64_t>(row));
        const std::int64_t length = law.draw(random);
        for (const std::int64_t col : draw_columns(random, length, cols))
          put(col, random_value<Value>(random));
      });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                           \
  template Csr<Value, Idx> erdos_renyi(std::int64_t, std::int64_t, std::int64_t, std::uint64_t); \
  template Csr<Value, Idx> rmat(int, std::int64_t, std::uint64_t);                               \
  template Csr<Value, Idx> banded(std::int64_t, std::int64_t, std::uint64_t);                    \
  template Csr<Value, Idx> stencil(int, std::int64_t, std::int64_t, std::int64_t, int);          \
  template Csr<Value, Idx> power_law(std::int64_t, std::int64_t, double, std::int64_t,           \
                                     std::uint64_t);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
