// SPDX-License-Identifier: Apache-2.0
#include "matrices/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/random.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

namespace {

constexpr std::int64_t drawn_rows_per_task = 1024;

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

/// Uniform in [-1, 1): a multiple of 2^-23 for float and of 2^-52 for double, so nothing is
/// rounded.
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

std::int64_t draw_below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random.below(bound));
}

/// `count` distinct numbers in ascending order: draws numbers until enough of them are distinct.
/// \param draw  draw(round) returns a number; repeated ones are drawn again in the next round
template <class Draw>
std::vector<std::int64_t> draw_distinct(std::int64_t count, const Draw& draw) {
  std::vector<std::int64_t> drawn;
  drawn.reserve(count);
  for (int round = 0; std::ssize(drawn) < count; ++round) {
    while (std::ssize(drawn) < count) drawn.push_back(draw(round));
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
  return drawn;
}

/// `count` distinct columns in ascending order; every such set is equally likely. If most columns
/// are required, draws the complement.
std::vector<std::int64_t> draw_columns(Random& random, std::int64_t count, std::int64_t cols) {
  const auto draw = [&](int) { return draw_below(random, cols); };
  if (count <= cols / 2) return draw_distinct(count, draw);
  const std::vector<std::int64_t> missing = draw_distinct(cols - count, draw);
  std::vector<std::int64_t> all(cols);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> drawn;
  drawn.reserve(count);
  std::set_difference(all.begin(), all.end(), missing.begin(), missing.end(),
                      std::back_inserter(drawn));
  return drawn;
}

/// Builds a matrix with the given row lengths; fill(row, put) calls put(col, value) for the entries
/// of a row in order.
template <Scalar Value, Index Idx, class Length, class Fill>
Csr<Value, Idx> build_rows(std::int64_t rows, std::int64_t cols, const Length& length,
                           const Fill& fill) {
  Csr<Value, Idx> csr{.rows = rows, .cols = cols, .row_ptr = {}, .col_idx = {}, .values = {}};
  require_memory({}, "a generated matrix", bytes_of({{rows, sizeof(std::int64_t)}}));
  csr.row_ptr.assign(rows + 1, 0);
  std::int64_t nnz = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (__builtin_add_overflow(nnz, length(row), &nnz)) break;
    csr.row_ptr[row + 1] = nnz;
  }
  require(nnz >= 0, "more than 2^63 entries", "fewer");
  require_memory({}, "a generated matrix", bytes_of({{nnz, sizeof(Value) + sizeof(Idx)}}));
  csr.col_idx.resize(nnz);
  csr.values.resize(nnz);
  for_each_range(rows, drawn_rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t begin = csr.row_ptr[row];
      Idx* cols_of_row = csr.col_idx.data() + begin;
      Value* values = csr.values.data() + begin;
      fill(row, [&](std::int64_t col, Value value) {
        *cols_of_row++ = static_cast<Idx>(col);
        *values++ = value;
      });
    }
  });
  return csr;
}

/// Row lengths in 1..maximum with P(l) ~ l^-exponent.
///
/// The distribution is stored in multiples of 2^-32. Differences in the last bit of pow between
/// mathematical libraries therefore do not change the generated lengths.
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
        const bool is_near = points == 27 || points == 9 || distance <= 1;
        if (is_near && (points == 7 || points == 27 || z == 0)) steps.push_back({x, y, z});
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
        Random random(seed, row);
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
  Coo<Value, Idx> coo{size, size, std::vector<Idx>(edges), std::vector<Idx>(edges),
                      std::vector<Value>(edges)};
  for_each_range(edges, drawn_rows_per_task, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t edge = first; edge < last; ++edge) {
      Random random(seed, edge);
      const auto [row, col] = draw_edge(random, scale);
      coo.row_idx[edge] = static_cast<Idx>(row);
      coo.col_idx[edge] = static_cast<Idx>(col);
      coo.values[edge] = random_value<Value>(random);
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
        Random random(seed, row);
        for (std::int64_t col = first(row); col <= last(row); ++col)
          put(col, random_value<Value>(random));
      });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> stencil(int points, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                        int unknowns) {
  const bool is_flat = points == 5 || points == 9;
  require(is_flat || points == 7 || points == 27, fmt::format("{} points", points),
          "5, 7, 9 or 27");
  require(nx >= 0 && ny >= 0 && nz >= 0, fmt::format("a grid of {} x {} x {}", nx, ny, nz),
          "sizes of at least 0");
  require(!is_flat || nz == 1, fmt::format("{} layers", nz),
          fmt::format("1 for a {}-point stencil", points));
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
Csr<Value, Idx> renumbered(const Csr<Value, Idx>& matrix, std::uint64_t seed) {
  require(matrix.rows == matrix.cols, fmt::format("{} x {} entries", matrix.rows, matrix.cols),
          "a square matrix");
  const auto size = static_cast<std::size_t>(matrix.rows);
  require_memory({}, "a numbering", bytes_of({{matrix.rows, 2 * sizeof(Idx)}}));
  std::vector<Idx> old_number(size);
  std::iota(old_number.begin(), old_number.end(), Idx{0});
  Random random(seed);
  for (std::size_t i = size; i > 1; --i)
    std::swap(old_number[i - 1], old_number[static_cast<std::size_t>(random.below(i))]);
  std::vector<Idx> new_number(size);
  for (std::size_t i = 0; i < size; ++i)
    new_number[static_cast<std::size_t>(old_number[i])] = static_cast<Idx>(i);
  return build_rows<Value, Idx>(
      matrix.rows, matrix.cols,
      [&](std::int64_t row) {
        const auto from = static_cast<std::size_t>(old_number[static_cast<std::size_t>(row)]);
        return matrix.row_ptr[from + 1] - matrix.row_ptr[from];
      },
      [&](std::int64_t row, const auto& put) {
        const auto from = static_cast<std::size_t>(old_number[static_cast<std::size_t>(row)]);
        std::vector<std::pair<Idx, std::int64_t>> entries;
        for (std::int64_t entry = matrix.row_ptr[from]; entry < matrix.row_ptr[from + 1]; ++entry)
          entries.emplace_back(new_number[static_cast<std::size_t>(matrix.col_idx[entry])], entry);
        std::sort(entries.begin(), entries.end());
        for (const auto& [column, entry] : entries) put(column, matrix.values[entry]);
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
        Random random(seed, row);
        return law.draw(random);
      },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, row);
        const std::int64_t length = law.draw(random);
        for (const std::int64_t col : draw_columns(random, length, cols))
          put(col, random_value<Value>(random));
      });
}

namespace {

// Exponents are multiples of this step, so differences in the last bit of pow do not change them.
constexpr double exponent_step = 0x1p-16;
constexpr int exponent_limit = 20;

double mean_length(double exponent, std::int64_t maximum) {
  double sum = 0;
  double weighted = 0;
  for (std::int64_t length = 1; length <= maximum; ++length) {
    const double weight = std::pow(static_cast<double>(length), -exponent);
    sum += weight;
    weighted += weight * static_cast<double>(length);
  }
  return weighted / sum;
}

// The exponent of the power law over 1..maximum whose mean is `mean` or nearest to it.
double exponent_of(double mean, std::int64_t maximum) {
  auto low = static_cast<std::int64_t>(-exponent_limit / exponent_step);
  auto high = static_cast<std::int64_t>(exponent_limit / exponent_step);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool longer = mean_length(static_cast<double>(middle) * exponent_step, maximum) > mean;
    (longer ? low : high) = middle;
  }
  return static_cast<double>(low) * exponent_step;
}

void check(const WebGraph& graph) {
  require(graph.max_row_nnz >= 1 && graph.max_row_nnz <= graph.rows,
          fmt::format("a longest row of {} entries", graph.max_row_nnz),
          fmt::format("1 to {}, the number of columns", graph.rows));
  require(graph.nnz >= graph.rows && graph.nnz / graph.max_row_nnz <= graph.rows,
          fmt::format("{} entries", graph.nnz),
          fmt::format("{0} to {1}, 1 to {2} in each of {0} rows", graph.rows,
                      graph.rows * graph.max_row_nnz, graph.max_row_nnz));
  require(graph.site_rows >= 1, fmt::format("{} rows per site", graph.site_rows), "at least 1");
  require(graph.locality >= 0 && graph.locality <= 1, fmt::format("locality {}", graph.locality),
          "0 to 1");
}

/// Draws the targets of links, given the number of links of every page.
class Links {
 public:
  Links(const WebGraph& graph, std::vector<std::int64_t> offsets)
      : rows_(graph.rows),
        offsets_(std::move(offsets)),
        to_linking_(threshold(part_to_linking_pages(graph))),
        local_(threshold(graph.locality)) {}

  [[nodiscard]] std::int64_t length(std::int64_t row) const {
    return offsets_[row + 1] - offsets_[row];
  }

  /// The columns of a row, ascending.
  [[nodiscard]] std::vector<std::int64_t> draw(Random& random, std::int64_t row) const {
    const std::int64_t count = length(row);
    if (count > rows_ / 2) return draw_columns(random, count, rows_);
    return draw_distinct(count, [&](int round) {
      // The preferred pages may all be linked already; then any page is drawn.
      return round < preferring_rounds ? draw_link(random, row) : draw_below(random, rows_);
    });
  }

 private:
  static constexpr int preferring_rounds = 8;

  // Probabilities in units of 2^-32.
  static std::uint64_t threshold(double probability) {
    return static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
  }
  static bool holds(Random& random, std::uint64_t threshold) {
    return random.next() >> 32 < threshold;
  }

  // The range [first, last) of pages that are targets of a row's local links.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> around(std::int64_t row) const {
    return {std::max<std::int64_t>(0, row - length(row)), std::min(rows_, row + length(row) + 1)};
  }

  std::int64_t draw_link(Random& random, std::int64_t row) const {
    if (holds(random, to_linking_)) {
      // The source page of a uniformly drawn link is a page drawn in proportion to its links.
      const std::int64_t link = draw_below(random, offsets_.back());
      return std::upper_bound(offsets_.begin(), offsets_.end(), link) - offsets_.begin() - 1;
    }
    if (holds(random, local_)) {
      const auto [first, last] = around(row);
      return first + draw_below(random, last - first);
    }
    return draw_below(random, rows_);
  }

  // The mean number of links of a target must be products / nnz. It is sum(l^2) / sum(l) for
  // targets drawn in proportion to their links, the mean of the range around the page for nearby
  // targets, and nnz / rows for arbitrary targets.
  [[nodiscard]] double part_to_linking_pages(const WebGraph& graph) const {
    double squares = 0;
    double nearby = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const auto [first, last] = around(row);
      const auto own = static_cast<double>(length(row));
      const std::int64_t there = offsets_[last] - offsets_[first];
      squares += own * own;
      nearby += own * static_cast<double>(there) / static_cast<double>(last - first);
    }
    const auto links = static_cast<double>(offsets_.back());
    const double others =
        graph.locality * nearby / links + (1 - graph.locality) * links / static_cast<double>(rows_);
    const double linking = squares / links;
    const double wanted = static_cast<double>(graph.products) / links;
    require(wanted >= std::min(others, linking) && wanted <= std::max(others, linking),
            fmt::format("{} products", graph.products),
            fmt::format("{} to {}, the range for these row lengths",
                        static_cast<std::int64_t>(std::ceil(std::min(others, linking) * links)),
                        static_cast<std::int64_t>(std::floor(std::max(others, linking) * links))));
    return linking == others ? 0 : (wanted - others) / (linking - others);
  }

  std::int64_t rows_;
  std::vector<std::int64_t> offsets_;
  std::uint64_t to_linking_;
  std::uint64_t local_;
};

std::vector<std::int64_t> draw_lengths(const WebGraph& graph, std::uint64_t seed) {
  require_memory({}, "a generated matrix", bytes_of({{graph.rows, sizeof(std::int64_t)}}));
  std::vector<std::int64_t> offsets(graph.rows + 1, 0);
  const double mean = static_cast<double>(graph.nnz) / static_cast<double>(graph.rows);
  const PowerLaw law(exponent_of(mean, graph.max_row_nnz), graph.max_row_nnz);
  std::int64_t length = 0;
  for (std::int64_t row = 0; row < graph.rows; ++row) {
    if (row % graph.site_rows == 0) {
      Random random(seed, row);
      length = law.draw(random);
    }
    offsets[row + 1] = offsets[row] + length;
  }
  return offsets;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> web_graph(const WebGraph& graph, std::uint64_t seed) {
  require_size<Idx>(graph.rows, "rows");
  if (graph.rows == 0) return {};
  check(graph);
  const Links links(graph, draw_lengths(graph, seed));
  return build_rows<Value, Idx>(
      graph.rows, graph.rows, [&](std::int64_t row) { return links.length(row); },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, row);
        random.discard(1);  // the first number of the stream determines the length of a site
        for (const std::int64_t col : links.draw(random, row))
          put(col, random_value<Value>(random));
      });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                           \
  template Csr<Value, Idx> erdos_renyi(std::int64_t, std::int64_t, std::int64_t, std::uint64_t); \
  template Csr<Value, Idx> rmat(int, std::int64_t, std::uint64_t);                               \
  template Csr<Value, Idx> banded(std::int64_t, std::int64_t, std::uint64_t);                    \
  template Csr<Value, Idx> stencil(int, std::int64_t, std::int64_t, std::int64_t, int);          \
  template Csr<Value, Idx> renumbered(const Csr<Value, Idx>&, std::uint64_t);                    \
  template Csr<Value, Idx> power_law(std::int64_t, std::int64_t, double, std::int64_t,           \
                                     std::uint64_t);                                             \
  template Csr<Value, Idx> web_graph(const WebGraph&, std::uint64_t);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
