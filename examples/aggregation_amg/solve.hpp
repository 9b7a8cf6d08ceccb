// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "set_up.hpp"

namespace amg {

/// Applies a V-cycle to a vector. It is a symmetric positive definite operator.
///
/// Before and after the correction by the next level, the error is smoothed by a Chebyshev
/// polynomial of degree two in D^-1 A for the eigenvalues from 0.1 to 1.1 times the radius. The last
/// level is solved by its Cholesky factor.
/// Source: Saad: Iterative Methods for Sparse Linear Systems (2003), algorithm 12.1.
class VCycle {
 public:
  /// \throws sortie::Error (input) the matrix of the last level is not positive definite
  explicit VCycle(const std::vector<Level>& levels);

  /// x = M^-1 b
  void apply(const Vector& b, Vector& x);

 private:
  struct Space {
    Vector b, x, residual, step;
  };

  void cycle(std::size_t number);
  void smooth(std::size_t number, bool from_zero);
  void solve_last();

  const std::vector<Level>& levels_;
  std::vector<Space> space_;  ///< of each level
  Vector cholesky_;           ///< lower triangle of the last level, row by row
};

struct Solution {
  Vector x;
  int iterations = 0;
  double residual = 0;  ///< |b - A x| / |b|, computed from x
};

/// Solves A x = b for the matrix of the first level by conjugate gradients with the V-cycle, until
/// the residual that the iteration carries along is at most `tolerance` times |b|, or for
/// `most_iterations`.
[[nodiscard]] Solution solve(const std::vector<Level>& levels, const Vector& b, double tolerance,
                             int most_iterations);

}  // namespace amg
