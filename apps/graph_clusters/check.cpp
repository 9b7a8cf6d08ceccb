// SPDX-License-Identifier: Apache-2.0
//
// Markov clustering again, written plainly: one row after the other, sorted by value where the
// largest entries are wanted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "apps/graph_clusters/markov.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/graph_clusters.hpp"

namespace sortie::graphs {
namespace {

struct Item {
  std::int32_t column;
  float value;
};
using Matrix = std::vector<std::vector<Item>>;

/// The largest entries, and those that equal the least of them, at most twice as many.
std::vector<Item> largest(std::vector<Item> row, std::int64_t most) {
  if (std::ssize(row) <= most) return row;
  std::ranges::stable_sort(row, std::greater<>(), &Item::value);
  std::int64_t end = most;
  while (end < std::min<std::int64_t>(std::ssize(row), 2 * most) &&
         row[end].value == row[most - 1].value)
    ++end;
  row.resize(end);
  std::ranges::sort(row, std::less<>(), &Item::column);
  return row;
}

double mass_of(const std::vector<Item>& row) {
  double mass = 0;
  for (const Item& item : row) mass += static_cast<double>(item.value);
  return mass;
}

std::vector<Item> pruned(const std::vector<Item>& row, const Pruning& rule) {
  std::vector<Item> kept;
  for (const Item& item : row)
    if (item.value >= least_expanded(rule)) kept.push_back(item);
  kept = largest(std::move(kept), rule.keep_top);
  if (std::ssize(kept) < rule.recover_top && mass_of(kept) < rule.recover_below)
    return largest(row, rule.recover_top);
  return kept.empty() ? largest(row, 1) : kept;
}

/// The next iterand. \return its chaos
double iterate(const ClusterOptions& options, Matrix& matrix) {
  const Inflation inflation{options.inflation};
  Matrix next(matrix.size());
  std::vector<double> sums(matrix.size(), 0);
  std::vector<Item> row;
  double chaos = 0;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    row.clear();
    for (const auto [k, factor] : matrix[i]) {
      for (const auto [column, value] : matrix[k]) {
        if (sums[column] == 0) row.push_back({column, 0});
        sums[column] += static_cast<double>(factor) * static_cast<double>(value);
      }
    }
    std::ranges::sort(row, std::less<>(), &Item::column);
    // A product that was 0 lists its column again.
    const auto is_same = [](const Item& a, const Item& b) { return a.column == b.column; };
    row.erase(std::unique(row.begin(), row.end(), is_same), row.end());
    for (Item& item : row) item.value = static_cast<float>(std::exchange(sums[item.column], 0.0));
    std::erase_if(row, [](const Item& item) { return item.value == 0; });
    row = pruned(row, options.pruning);
    RowSums of_row;
    of_row.entries = std::ssize(row);
    for (const Item& item : row) of_row.greatest = std::max(of_row.greatest, item.value);
    for (const Item& item : row) {
      of_row.sum += static_cast<double>(item.value);
      of_row.squares += static_cast<double>(item.value) * static_cast<double>(item.value);
      of_row.inflated += static_cast<double>(inflation(item.value, of_row.greatest));
    }
    chaos = std::max(chaos, of_row.chaos());
    const auto inflated = [&](float value) {
      return inflation(value, of_row.greatest) * static_cast<float>(1 / of_row.inflated);
    };
    const float least = std::min(least_inflated(options.pruning), inflated(of_row.greatest));
    for (const auto [column, value] : row)
      if (inflated(value) >= least) next[i].push_back({column, inflated(value)});
  }
  matrix = std::move(next);
  return chaos;
}

}  // namespace

Limit plain_limit(const matrices::Csr<float>& start, const ClusterOptions& options) {
  Matrix matrix(start.rows);
  for (std::int64_t row = 0; row < start.rows; ++row) {
    for (std::int64_t i = start.row_ptr[row]; i < start.row_ptr[row + 1]; ++i)
      matrix[row].push_back({start.col_idx[i], start.values[i]});
  }
  Limit limit;
  while (!limit.converged && limit.iterations < options.max_iterations) {
    limit.converged = iterate(options, matrix) < stable_chaos;
    ++limit.iterations;
  }
  limit.matrix = {start.rows, start.cols, {0}, {}, {}};
  for (const std::vector<Item>& row : matrix) {
    for (const Item& item : row) {
      limit.matrix.col_idx.push_back(item.column);
      limit.matrix.values.push_back(item.value);
    }
    limit.matrix.row_ptr.push_back(limit.matrix.nnz());
  }
  return limit;
}

void check_clusters(const HostContext& context, const matrices::Csr<double>& graph,
                    const ClusterOptions& options, const Clusters& clusters) {
  const Limit limit = plain_limit(stochastic_matrix(context, graph), options);
  const Clusters expected = clusters_of(limit);
  const auto place_of = [&](const Clusters& found) {
    std::vector<std::int64_t> place(graph.rows, -1);
    for (std::int64_t i = 0; i < found.count(); ++i) {
      for (std::int64_t j = found.begins[i]; j < found.begins[i + 1]; ++j)
        place[found.members[j]] = i;
    }
    return place;
  };
  const auto found_places = place_of(clusters);
  const auto expected_places = place_of(expected);
  const auto [found, other] = std::ranges::mismatch(found_places, expected_places);
  if (found != found_places.end()) {
    throw Error(ErrorKind::check,
                fmt::format("clusters: vertex {}: found cluster {}, expected {}",
                            found - found_places.begin() + 1, *found + 1, *other + 1));
  }
}

}  // namespace sortie::graphs
