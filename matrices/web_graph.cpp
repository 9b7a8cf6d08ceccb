// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "matrices/generator_parts.hpp"
#include "matrices/generators.hpp"
#include "matrices/instantiate.hpp"

namespace sortie::matrices {

namespace {

using detail::PowerLaw;
using detail::require;

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
    return offsets_[static_cast<std::size_t>(row) + 1] - offsets_[static_cast<std::size_t>(row)];
  }

  /// The columns of a row, ascending.
  [[nodiscard]] std::vector<std::int64_t> draw(Random& random, std::int64_t row) const {
    const std::int64_t count = length(row);
    if (count > rows_ / 2) return detail::draw_columns(random, count, rows_);
    std::vector<std::int64_t> columns;
    columns.reserve(static_cast<std::size_t>(count));
    for (int round = 0; std::ssize(columns) < count; ++round) {
      // The preferred pages may all be linked already; then any page is drawn.
      const bool any = round >= preferring_rounds;
      for (std::int64_t missing = count - std::ssize(columns); missing > 0; --missing) {
        columns.push_back(any ? draw_below(random, rows_) : draw_link(random, row));
      }
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    }
    return columns;
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

  static std::int64_t draw_below(Random& random, std::int64_t bound) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
  }

  // The range [first, last) of pages that are targets of a row's local links.
  struct Surroundings {
    std::int64_t first;
    std::int64_t last;
  };
  [[nodiscard]] Surroundings around(std::int64_t row) const {
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
      const std::int64_t there =
          offsets_[static_cast<std::size_t>(last)] - offsets_[static_cast<std::size_t>(first)];
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
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(graph.rows) + 1, 0);
  const double mean = static_cast<double>(graph.nnz) / static_cast<double>(graph.rows);
  const PowerLaw law(exponent_of(mean, graph.max_row_nnz), graph.max_row_nnz);
  std::int64_t length = 0;
  for (std::int64_t row = 0; row < graph.rows; ++row) {
    if (row % graph.site_rows == 0) {
      Random random(seed, static_cast<std::uint64_t>(row));
      length = law.draw(random);
    }
    const auto at = static_cast<std::size_t>(row);
    offsets[at + 1] = offsets[at] + length;
  }
  return offsets;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> web_graph(const WebGraph& graph, std::uint64_t seed) {
  detail::require_size<Idx>(graph.rows, "rows");
  if (graph.rows == 0) return {};
  check(graph);
  const Links links(graph, draw_lengths(graph, seed));
  return detail::build_rows<Value, Idx>(
      graph.rows, graph.rows, [&](std::int64_t row) { return links.length(row); },
      [&](std::int64_t row, const auto& put) {
        Random random(seed, static_cast<std::uint64_t>(row));
        random.discard(1);  // the first number of the stream determines the length of a site
        for (const std::int64_t col : links.draw(random, row))
          put(col, detail::random_value<Value>(random));
      });
}

#define SORTIE_INSTANTIATE(Value, Idx) \
  template Csr<Value, Idx> web_graph(const WebGraph&, std::uint64_t);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
