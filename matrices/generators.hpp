#pragma once

#include <cstdint>

#include "sortie/matrices/csr.hpp"

/// Matrices made from a seed: the same seed gives the same matrix on every machine. Entries are
/// uniform in [-1, 1), except for the stencils, which are the usual Laplacians.
namespace sortie::matrices {

/// Every row has `row_nnz` entries in columns drawn uniformly without repetition (Erdos-Renyi with
/// fixed out-degree). \throws Error (usage) row_nnz > cols or a negative size
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> erdos_renyi(std::int64_t rows, std::int64_t cols,
                                          std::int64_t row_nnz, std::uint64_t seed);

/// Recursive matrix graph of 2^scale vertices and edge_factor * 2^scale drawn edges, duplicates
/// summed, with the Graph500 quadrant probabilities 0.57, 0.19, 0.19, 0.05.
/// Source: Chakrabarti, Zhan, Faloutsos: R-MAT (SDM 2004).
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> rmat(int scale, std::int64_t edge_factor, std::uint64_t seed);

/// All entries with |row - col| <= half_bandwidth.
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> banded(std::int64_t size, std::int64_t half_bandwidth,
                                     std::uint64_t seed);

/// Laplacian stencil on a grid of nx * ny * nz points with `unknowns` coupled unknowns a point.
/// \param points  5 (nz must be 1), 7 or 27
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> stencil(int points, std::int64_t nx, std::int64_t ny,
                                      std::int64_t nz, int unknowns = 1);

/// Row lengths drawn from P(l) ~ l^-exponent for l in 1..max_row_nnz, columns uniform without
/// repetition.
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> power_law(std::int64_t rows, std::int64_t cols, double exponent,
                                        std::int64_t max_row_nnz, std::uint64_t seed);

}  // namespace sortie::matrices
