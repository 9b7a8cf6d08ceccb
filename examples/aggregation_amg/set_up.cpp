// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "sortie/error.hpp"
#include "sortie/galerkin.hpp"
#include "sortie/spgemm.hpp"

namespace amg {

namespace {

using Pattern = sortie::matrices::Pattern<std::int32_t>;

/// Adds the milliseconds of the call to `time` and returns its result.
template <class Call>
auto timed(double& time, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  auto result = call();
  time +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

sortie::Error matrix_error(std::int64_t level, const std::string& found, const char* expected) {
  return {sortie::ErrorKind::input,
          fmt::format("matrix of level {}: found {}, expected {}", level, found, expected)};
}

Vector inverse_diagonal_of(const Matrix& a, std::int64_t level) {
  Vector inverse(static_cast<std::size_t>(a.rows), 0);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto begin = a.col_idx.begin() + a.row_ptr[row];
    const auto end = a.col_idx.begin() + a.row_ptr[row + 1];
    const auto found = std::lower_bound(begin, end, row);
    const double diagonal = found == end || *found != row ? 0 : a.values[found - a.col_idx.begin()];
    if (!(diagonal > 0))
      throw matrix_error(level, fmt::format("{} on the diagonal of row {}", diagonal, row + 1),
                         "a positive number");
    inverse[row] = 1 / diagonal;
  }
  return inverse;
}

Vector square_roots(Vector numbers) {
  for (double& number : numbers) number = std::sqrt(number);
  return numbers;
}

Pattern strong_connections(const Matrix& a, const Vector& inverse_diagonal) {
  const Vector scale = square_roots(inverse_diagonal);
  Pattern strong{a.rows, a.cols, {0}, {}};
  strong.row_ptr.reserve(static_cast<std::size_t>(a.rows) + 1);
  strong.col_idx.reserve(a.col_idx.size());
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int32_t column = a.col_idx[i];
      if (column != row && std::abs(a.values[i]) * scale[row] * scale[column] > strength)
        strong.col_idx.push_back(column);
    }
    strong.row_ptr.push_back(strong.nnz());
  }
  return strong;
}

/// The aggregates as T.
Matrix aggregate(const Matrix& a, const Vector& inverse_diagonal, const Pattern& strong) {
  constexpr std::int32_t none = -1;
  const Vector scale = square_roots(inverse_diagonal);
  std::vector<std::int32_t> aggregate_of(static_cast<std::size_t>(a.rows), none);
  std::int32_t aggregates = 0;
  const auto for_each_neighbour = [&](std::int64_t row, const auto& body) {
    for (std::int64_t i = strong.row_ptr[row]; i < strong.row_ptr[row + 1]; ++i)
      body(strong.col_idx[i]);
  };
  for (std::int64_t row = 0; row < a.rows; ++row) {
    bool free = aggregate_of[row] == none;
    for_each_neighbour(row, [&](std::int32_t j) { free = free && aggregate_of[j] == none; });
    if (!free) continue;
    aggregate_of[row] = aggregates;
    for_each_neighbour(row, [&](std::int32_t j) { aggregate_of[j] = aggregates; });
    ++aggregates;
  }
  const std::vector<std::int32_t> first_ones = aggregate_of;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (first_ones[row] != none) continue;
    double most = 0;
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int32_t j = a.col_idx[i];
      const double connection = std::abs(a.values[i]) * scale[row] * scale[j];
      if (j == row || first_ones[j] == none || connection <= std::max(most, strength)) continue;
      most = connection;
      aggregate_of[row] = first_ones[j];
    }
  }
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (aggregate_of[row] != none) continue;
    aggregate_of[row] = aggregates;
    for_each_neighbour(row, [&](std::int32_t j) {
      if (aggregate_of[j] == none) aggregate_of[j] = aggregates;
    });
    ++aggregates;
  }
  Matrix t{a.rows, aggregates, {}, std::move(aggregate_of), {}};
  t.row_ptr.resize(static_cast<std::size_t>(a.rows) + 1);
  std::iota(t.row_ptr.begin(), t.row_ptr.end(), std::int64_t{0});
  t.values.assign(static_cast<std::size_t>(a.rows), 1);
  return t;
}

/// Largest eigenvalue of the symmetric tridiagonal matrix, by bisection with Sturm sequences.
double largest_eigenvalue(const Vector& diagonal, const Vector& off_diagonal) {
  double low = 0;
  double high = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    high = std::max(high, diagonal[i] + (i == 0 ? 0 : off_diagonal[i - 1]) + off_diagonal[i]);
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    bool above_all = true;  // the matrix less `middle` is negative definite
    double pivot = -1;
    for (std::size_t i = 0; i < diagonal.size() && above_all; ++i) {
      const double off = i == 0 ? 0 : off_diagonal[i - 1];
      pivot = diagonal[i] - middle - off * off / pivot;
      above_all = pivot < 0;
    }
    (above_all ? high : low) = middle;
  }
  return high;
}

/// Estimates the spectral radius of D^-1 A by ten steps of Lanczos' method for the similar matrix
/// D^-1/2 A D^-1/2.
double spectral_radius(const Matrix& a, const Vector& inverse_diagonal) {
  constexpr int steps = 10;
  const Vector scale = square_roots(inverse_diagonal);
  const std::size_t n = scale.size();
  Vector v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = pseudo_random(i);
  double norm = std::sqrt(dot(v, v));
  Vector before(n, 0);
  Vector scaled(n);
  Vector w(n);
  Vector diagonal;
  Vector off_diagonal;
  for (int step = 0; step < steps && norm > 1e-12; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      v[i] /= norm;
      scaled[i] = scale[i] * v[i];
    }
    multiply(a, scaled, w);
    const double beta = off_diagonal.empty() ? 0 : off_diagonal.back();
    for (std::size_t i = 0; i < n; ++i) w[i] = scale[i] * w[i] - beta * before[i];
    const double alpha = dot(w, v);
    for (std::size_t i = 0; i < n; ++i) w[i] -= alpha * v[i];
    norm = std::sqrt(dot(w, w));
    diagonal.push_back(alpha);
    off_diagonal.push_back(norm);
    std::swap(before, v);
    std::swap(v, w);
  }
  if (!off_diagonal.empty()) off_diagonal.back() = 0;  // leads to no further step
  return largest_eigenvalue(diagonal, off_diagonal);
}

/// P = (I - 4/3 / radius D^-1 A) T. Every row of A T has the column of its own aggregate, since the
/// diagonal of A has no zeros.
Matrix smoothed(const sortie::Context& context, const Level& level, const Matrix& t) {
  Matrix p = sortie::spgemm::multiply(context, level.a, t);
  for (std::int64_t row = 0; row < p.rows; ++row) {
    const double factor = -4.0 / 3.0 / level.radius * level.inverse_diagonal[row];
    for (std::int64_t i = p.row_ptr[row]; i < p.row_ptr[row + 1]; ++i)
      p.values[i] = factor * p.values[i] + (p.col_idx[i] == t.col_idx[row] ? 1 : 0);
  }
  return p;
}

}  // namespace

double pseudo_random(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15;  // splitmix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

void multiply(const Matrix& a, const Vector& x, Vector& y) {
  y.resize(static_cast<std::size_t>(a.rows));
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0;
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i)
      sum += a.values[i] * x[a.col_idx[i]];
    y[row] = sum;
  }
}

double dot(const Vector& x, const Vector& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

std::vector<Level> set_up(const sortie::Context& context, Matrix a) {
  if (a.rows != a.cols)
    throw matrix_error(0, fmt::format("{} x {}", a.rows, a.cols), "a square one");
  if (sortie::matrices::transpose(a) != a)
    throw matrix_error(0, "one that differs from its transpose", "a symmetric one");
  std::vector<Level> levels;
  while (true) {
    const auto number = static_cast<std::int64_t>(levels.size());
    Level& level = levels.emplace_back();
    Times& times = level.times;
    level.a = std::move(a);
    level.inverse_diagonal = inverse_diagonal_of(level.a, number);
    if (level.a.rows <= coarsest_rows) return levels;
    const Pattern strong =
        timed(times.strength, [&] { return strong_connections(level.a, level.inverse_diagonal); });
    const Matrix t =
        timed(times.aggregates, [&] { return aggregate(level.a, level.inverse_diagonal, strong); });
    if (t.cols == t.rows)
      throw matrix_error(number, fmt::format("{} rows without strong connections", t.rows),
                         fmt::format("at most {}", coarsest_rows).c_str());
    timed(times.smoothing, [&] {
      level.radius = spectral_radius(level.a, level.inverse_diagonal);
      level.p = smoothed(context, level, t);
      level.r = sortie::matrices::transpose(level.p);
      return true;
    });
    auto plan = timed(times.galerkin, [&] {
      return sortie::spgemm::GalerkinPlan<double, std::int32_t>(context, level.r, level.a, level.p);
    });
    timed(times.new_values, [&] {
      plan.multiply(context, level.r, level.a, level.p);
      return true;
    });
    a = plan.c();
  }
}

}  // namespace amg
