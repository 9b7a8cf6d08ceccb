// SPDX-License-Identifier: Apache-2.0
#include "solve.hpp"

#include <algorithm>
#include <cmath>

#include "sortie/error.hpp"

namespace amg {

VCycle::VCycle(const std::vector<Level>& levels) : levels_(levels), space_(levels.size()) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto rows = static_cast<std::size_t>(levels[i].a.rows);
    space_[i] = {Vector(rows), Vector(rows), Vector(rows), Vector(rows)};
  }
  const Matrix& a = levels.back().a;
  const auto n = static_cast<std::size_t>(a.rows);
  cholesky_.assign(n * n, 0);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i)
      cholesky_[row * n + a.col_idx[i]] = a.values[i];
    double* const l = cholesky_.data() + row * n;
    for (std::size_t column = 0; column <= row; ++column) {
      const double* const other = cholesky_.data() + column * n;
      double rest = l[column];
      for (std::size_t k = 0; k < column; ++k) rest -= l[k] * other[k];
      if (column == row && !(rest > 0))
        throw sortie::Error(
            sortie::ErrorKind::input,
            "matrix of the last level: found a pivot that is not positive, expected "
            "a positive definite matrix");
      l[column] = column == row ? std::sqrt(rest) : rest / other[column];
    }
  }
}

void VCycle::apply(const Vector& b, Vector& x) {
  space_[0].b = b;
  cycle(0);
  x = space_[0].x;
}

void VCycle::cycle(std::size_t number) {
  if (number + 1 == levels_.size()) return solve_last();
  const Level& level = levels_[number];
  Space& space = space_[number];
  smooth(number, true);
  multiply(level.a, space.x, space.residual);
  for (std::size_t i = 0; i < space.x.size(); ++i)
    space.residual[i] = space.b[i] - space.residual[i];
  multiply(level.r, space.residual, space_[number + 1].b);
  cycle(number + 1);
  multiply(level.p, space_[number + 1].x, space.step);
  for (std::size_t i = 0; i < space.x.size(); ++i) space.x[i] += space.step[i];
  smooth(number, false);
}

void VCycle::smooth(std::size_t number, bool from_zero) {
  constexpr int degree = 2;
  const Level& level = levels_[number];
  auto& [b, x, residual, step] = space_[number];
  const double low = 0.1 * level.radius;
  const double high = 1.1 * level.radius;
  const double centre = (high + low) / 2;
  const double half_width = (high - low) / 2;
  double rho = half_width / centre;
  if (from_zero) {
    std::fill(x.begin(), x.end(), 0);
    residual = b;
  }
  for (int k = 0; k < degree; ++k) {
    if (k > 0 || !from_zero) {
      multiply(level.a, x, residual);
      for (std::size_t i = 0; i < x.size(); ++i) residual[i] = b[i] - residual[i];
    }
    const double next = k == 0 ? rho : 1 / (2 * centre / half_width - rho);
    const double of_step = k == 0 ? 0 : next * rho;
    const double of_residual = k == 0 ? 1 / centre : 2 * next / half_width;
    for (std::size_t i = 0; i < x.size(); ++i) {
      step[i] = of_step * step[i] + of_residual * level.inverse_diagonal[i] * residual[i];
      x[i] += step[i];
    }
    rho = next;
  }
}

void VCycle::solve_last() {
  const Vector& b = space_.back().b;
  Vector& x = space_.back().x;
  const std::size_t n = b.size();
  for (std::size_t row = 0; row < n; ++row) {
    double rest = b[row];
    for (std::size_t k = 0; k < row; ++k) rest -= cholesky_[row * n + k] * x[k];
    x[row] = rest / cholesky_[row * n + row];
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) x[row] -= cholesky_[k * n + row] * x[k];
    x[row] /= cholesky_[row * n + row];
  }
}

Solution solve(const std::vector<Level>& levels, const Vector& b, double tolerance,
               int most_iterations) {
  const Matrix& a = levels.front().a;
  VCycle preconditioner(levels);
  Solution solution{.x = Vector(b.size(), 0)};
  Vector residual = b;
  Vector z;
  Vector product;
  preconditioner.apply(residual, z);
  Vector direction = z;
  double rz = dot(residual, z);
  const double norm_b = std::sqrt(dot(b, b));
  while (solution.iterations < most_iterations &&
         std::sqrt(dot(residual, residual)) > tolerance * norm_b) {
    ++solution.iterations;
    multiply(a, direction, product);
    const double length = rz / dot(direction, product);
    for (std::size_t i = 0; i < b.size(); ++i) {
      solution.x[i] += length * direction[i];
      residual[i] -= length * product[i];
    }
    preconditioner.apply(residual, z);
    const double before = std::exchange(rz, dot(residual, z));
    for (std::size_t i = 0; i < b.size(); ++i) direction[i] = z[i] + rz / before * direction[i];
  }
  multiply(a, solution.x, product);
  for (std::size_t i = 0; i < b.size(); ++i) product[i] = b[i] - product[i];
  solution.residual = norm_b == 0 ? 0 : std::sqrt(dot(product, product)) / norm_b;
  return solution;
}

}  // namespace amg
