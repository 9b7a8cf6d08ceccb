#include "sortie/matrices/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sortie/core/error.hpp"
#include "sortie/core/random.hpp"
#include "sortie/matrices/instantiate.hpp"
#include "sortie/matrices/parallel.hpp"

namespace sortie::matrices {

namespace {

constexpr std::int64_t rows_per_task = 1024;

void require(bool holds, const std::string& found, const std::string& expected) {
  if (holds) return;
  throw Error(ErrorKind::usage,
              fmt::format("matrix generator: found {}, expected {}", found, expected));
}

template <Index Idx>
void require_size(std::int64_t size, std::string_view what) {
  require(size >= 0 && size <= std::numeric_limits<Idx>::max(), fmt::format("{} {}", size, what),
          fmt::format("0 to {}", std::numeric_limits<Idx>::max()));
}

// Uniform in [-1, 1), a multiple of 2^-23 for float and of 2^-52 for double: no step rounds.
template <Scalar Value>
Value random_value(Random& random) {
  if constexpr (std::is_same_v<Value, float>) {
    return static_cast<float>(random.next() >> 40) * 0x1p-23F - 1.0F;
  } else if constexpr (std::is_same_v<Value, double>) {
    return static_cast<double>(random.next() >> 11) * 0x1p-52 - 1.0;
  } else {
    const double real = random_value<double>(random);
    return {real, random_value<double>(random)};
  }
}

// `count` different numbers below `bound` in ascending order, every such set equally likely:
// numbers are drawn until enough different ones are there.
std::vector<std::int64_t> draw_distinct(Random& random, std::int64_t count, std::int64_t bound) {
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  while (std::ssize(drawn) < count) {
    while (std::ssize(drawn) < count) {
      drawn.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound))));
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
  return drawn;
}

// As draw_distinct, for any count: when most columns are wanted, the missing ones are drawn.
std::vector<std::int64_t> draw_columns(Random& random, std::int64_t count, std::int64_t cols) {
  if (count <= cols / 2) return draw_distinct(random, count, cols);
  const std::vector<std::int64_t> missing = draw_distinct(random, cols - count, cols);
  std::vector<std::int64_t> all(static_cast<std::size_t>(cols));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  std::set_difference(all.begin(), all.end(), missing.begin(), missing.end(),
                      std::back_inserter(drawn));
  return drawn;
}

// A matrix with the given row lengths; fill(row, cols, values) writes each row.
template <Scalar Value, Index Idx, class Length, class Fill>
Csr<Value, Idx> build_rows(std::int64_t rows, std::int64_t cols, const Length& length,
                           const Fill& fill) {
  Csr<Value, Idx> csr{.rows = rows, .cols = cols, .row_ptr = {}, .col_idx = {}, .values = {}};
  detail::require_host_memory("a generated matrix", {{rows, sizeof(std::int64_t)}});
  csr.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  std::int64_t nnz = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (__builtin_add_overflow(nnz, length(row), &nnz)) break;
    csr.row_ptr[static_cast<std::size_t>(row) + 1] = nnz;
  }
  require(nnz >= 0, "more than 2^63 entries", "fewer");
  detail::require_host_memory("a generated matrix", {{nnz, sizeof(Value) + sizeof(Idx)}});
  csr.col_idx.resize(static_cast<std::size_t>(nnz));
  csr.values.resize(static_cast<std::size_t>(nnz));
  detail::for_ranges(rows, rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t begin = csr.row_ptr[static_cast<std::size_t>(row)];
      fill(row, csr.col_idx.data() + begin, csr.values.data() + begin);
    }
  });
  return csr;
}

// Row lengths in 1..maximum with P(l) ~ l^-exponent.
//
// The distribution is kept as whole multiples of 2^-32, so that the last bit of pow, which differs
// between mathematical libraries, does not change the lengths drawn.
class PowerLaw {
 public:
  PowerLaw(double exponent, std::int64_t maximum) {
    std::vector<double> sums;
    double sum = 0;
    for (std::int64_t length = 1; length <= maximum; ++length) {
      sum += std::pow(static_cast<double>(length), -exponent);
      sums.push_back(sum);
    }
    for (const double partial : sums) {
      thresholds_.push_back(static_cast<std::uint64_t>(std::llround(partial / sum * 0x1p32)));
    }
  }

  std::int64_t draw(Random& random) const {
    const std::uint64_t point = random.next() >> 32;
    const auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), point);
    return above - thresholds_.begin() + 1;
  }

 private:
  std::vector<std::uint64_t> thresholds_;  // the last one is 2^32, above every point
};

// One edge: each level halves the matrix both ways and goes into a quadrant.
std::pair<std::int64_t, std::int64_t> draw_edge(Random& random, int scale) {
  // Upper ends of the quadrants (0,0), (0,1), (1,0) in units of 2^-32: 0.57, 0.76, 0.95.
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

// Steps to a point's neighbours and itself, in the order of their numbers.
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
  require(row_nnz >= 0 && row_nnz <= cols, fmt::format("{} entries a row", row_nnz),
          fmt::format("0 to {}, the number of columns", cols));
  return build_rows<Value, Idx>(
      rows, cols, [&](std::int64_t) { return row_nnz; },
      [&](std::int64_t row, Idx* col_idx, Value* values) {
        Random random(seed, static_cast<std::uint64_t>(row));
        for (const std::int64_t col : draw_columns(random, row_nnz, cols)) {
          *col_idx++ = static_cast<Idx>(col);
          *values++ = random_value<Value>(random);
        }
      });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> rmat(int scale, std::int64_t edge_factor, std::uint64_t seed) {
  constexpr int scale_limit = std::numeric_limits<Idx>::digits - 1;
  require(scale >= 0 && scale <= scale_limit, fmt::format("scale {}", scale),
          fmt::format("0 to {}", scale_limit));
  const std::int64_t size = std::int64_t{1} << scale;
  // A quarter of the range leaves room for the bytes of an edge list in a signed 64-bit number.
  const std::int64_t factor_limit = (std::numeric_limits<std::int64_t>::max() >> scale) / 64;
  require(edge_factor >= 0 && edge_factor <= factor_limit,
          fmt::format("edge factor {}", edge_factor), fmt::format("0 to {}", factor_limit));
  const std::int64_t edges = edge_factor * size;
  detail::require_host_memory("an edge list", {{edges, 2 * sizeof(Idx) + sizeof(Value)}});
  Coo<Value, Idx> coo{.rows = size, .cols = size, .row_idx = {}, .col_idx = {}, .values = {}};
  coo.row_idx.resize(static_cast<std::size_t>(edges));
  coo.col_idx.resize(static_cast<std::size_t>(edges));
  coo.values.resize(static_cast<std::size_t>(edges));
  detail::for_ranges(edges, rows_per_task, [&](std::int64_t first, std::int64_t last) {
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
      [&](std::int64_t row, Idx* col_idx, Value* values) {
        Random random(seed, static_cast<std::uint64_t>(row));
        for (std::int64_t col = first(row); col <= last(row); ++col) {
          *col_idx++ = static_cast<Idx>(col);
          *values++ = random_value<Value>(random);
        }
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
  require(unknowns >= 1, fmt::format("{} unknowns a point", unknowns), "at least 1");
  std::int64_t size = 0;
  const bool overflow = __builtin_mul_overflow(nx, ny, &size) ||
                        __builtin_mul_overflow(size, nz, &size) ||
                        __builtin_mul_overflow(size, unknowns, &size);
  require(!overflow, fmt::format("{} x {} x {} points", nx, ny, nz), "fewer than 2^63 unknowns");
  require_size<Idx>(size, "unknowns");

  const std::vector<Point> steps = stencil_steps(points);
  // Calls visit(number of the neighbour) for every point of the stencil that is in the grid.
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
      [&](std::int64_t row, Idx* col_idx, Value* values) {
        const std::int64_t number = row / unknowns;
        for_each_neighbour(number, [&](std::int64_t neighbour) {
          const float laplacian = neighbour == number ? static_cast<float>(points - 1) : -1.0F;
          for (std::int64_t unknown = 0; unknown < unknowns; ++unknown) {
            const float coupling = unknown == row % unknowns ? 1.0F : 0.5F;
            *col_idx++ = static_cast<Idx>(neighbour * unknowns + unknown);
            *values++ = static_cast<Value>(laplacian * coupling);
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
  // Length and entries of a row come from one stream, so the length is the same both times.
  return build_rows<Value, Idx>(
      rows, cols,
      [&](std::int64_t row) {
        Random random(seed, static_cast<std::uint64_t>(row));
        return law.draw(random);
      },
      [&](std::int64_t row, Idx* col_idx, Value* values) {
        Random random(seed, static_cast<std::uint64_t>(row));
        const std::int64_t length = law.draw(random);
        for (const std::int64_t col : draw_columns(random, length, cols)) {
          *col_idx++ = static_cast<Idx>(col);
          *values++ = random_value<Value>(random);
        }
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
