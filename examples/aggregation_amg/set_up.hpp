// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"

/// Algebraic multigrid by smoothed aggregation, for symmetric positive definite matrices.
namespace amg {

using Matrix = sortie::matrices::Csr<double>;
using Vector = std::vector<double>;

/// Milliseconds of the parts of the set-up of a level.
struct Times {
  double strength = 0;    ///< strong connections
  double aggregates = 0;  ///< aggregation
  double smoothing = 0;   ///< spectral radius, smoothed P and its transpose
  double galerkin = 0;    ///< the plan of P^T A P, with its first values
  double new_values = 0;  ///< P^T A P again by the plan; not a part of the set-up

  [[nodiscard]] double set_up() const { return strength + aggregates + smoothing + galerkin; }
};

struct Level {
  Matrix a;
  Vector inverse_diagonal;
  double radius = 0;  ///< estimated spectral radius of D^-1 A
  Matrix p;           ///< prolongation from the next level; no columns on the last level
  Matrix r;           ///< its transpose
  Times times = {};
};

/// Rows of a level that is solved directly.
inline constexpr std::int64_t coarsest_rows = 50;

/// i and j are strongly connected if |a_ij| > strength * sqrt(a_ii a_jj).
inline constexpr double strength = 0.01;

/// A number of [-1, 1) for each index, the same on every machine.
[[nodiscard]] double pseudo_random(std::uint64_t index);

/// y = A x
void multiply(const Matrix& a, const Vector& x, Vector& y);
[[nodiscard]] double dot(const Vector& x, const Vector& y);

/// Coarsens a matrix to at most coarsest_rows rows.
///
/// Aggregates (Vanek, Mandel, Brezina: Algebraic multigrid by smoothed aggregation, Computing 1996):
/// 1. In the order of the rows, a node without a strong neighbour in an aggregate makes an aggregate
///    of itself and its strong neighbours.
/// 2. Each node that is left joins the aggregate of step 1 of the neighbour that it is connected to
///    most strongly, the first of equal ones.
/// 3. In the order of the rows, a node that is left makes an aggregate of itself and its strong
///    neighbours that are left.
///
/// With T_ij = 1 if node i is in aggregate j, P = (I - 4/3 / radius D^-1 A) T, and the next level
/// has the matrix P^T A P.
///
/// \throws sortie::Error (input) the matrix is not square or not symmetric, a diagonal entry is not
///         positive, or the aggregates do not reduce a matrix of more than coarsest_rows rows
[[nodiscard]] std::vector<Level> set_up(const sortie::Context& context, Matrix a);

}  // namespace amg
