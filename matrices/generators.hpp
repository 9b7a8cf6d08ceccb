// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/csr.hpp"

/// Generators of sparse matrices. The same seed gives the same matrix on every machine and for any
/// number of threads, and the same pattern for every value type. Values are uniform in [-1, 1)
/// (both parts of complex values), except for the stencils, which are the usual Laplacians. Every
/// generator throws Error (usage) for sizes that are negative or do not fit Idx, and Error
/// (out_of_memory). Complexity: O(nnz), with a logarithmic factor where columns are drawn. Extra
/// memory: negligible unless stated.
namespace sortie::matrices {

/// Erdos-Renyi matrix with fixed out-degree: every row has `row_nnz` entries in distinct columns
/// drawn uniformly. \throws Error (usage) row_nnz > cols or a negative size
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> erdos_renyi(std::int64_t rows, std::int64_t cols,
                                          std::int64_t row_nnz, std::uint64_t seed);

/// R-MAT (recursive matrix) graph with 2^scale vertices and edge_factor * 2^scale generated edges,
/// with the Graph500 quadrant probabilities 0.57, 0.19, 0.19, 0.05. Duplicates are summed in the
/// order in which they are generated. Vertices are not renumbered. Extra memory: the edge list.
/// \throws Error (usage) a scale beyond 30 for 32-bit indices or 62 for 64-bit ones
/// Source: Chakrabarti, Zhan, Faloutsos: R-MAT (SDM 2004).
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> rmat(int scale, std::int64_t edge_factor, std::uint64_t seed);

/// All entries with |row - col| <= half_bandwidth.
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> banded(std::int64_t size, std::int64_t half_bandwidth,
                                     std::uint64_t seed);

/// Laplacian stencil on a grid of nx * ny * nz points with `unknowns` coupled unknowns per point.
///
/// A point is coupled with its 4, 6, 8 or 26 neighbours inside the grid by -1 and with itself by 4, 6,
/// 8 or 26 (zero boundary values), so the matrix is symmetric positive definite. With u unknowns per
/// point, every entry becomes a u x u block: the entry times 1 on the diagonal of the block and
/// times 1/2 off the diagonal. Point (x, y, z) has number (z * ny + y) * nx + x.
/// \param points  5 or 9 (nz must be 1), 7 or 27
/// \throws Error (usage) another number of points, unknowns < 1
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> stencil(int points, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                      int unknowns = 1);

/// The matrix with its rows and columns in a random order, the same for both.
/// \throws Error (usage) it is not square. Extra memory: two Idx per row.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> renumbered(const Csr<Value, Idx>& matrix, std::uint64_t seed);

/// Row lengths drawn from P(l) ~ l^-exponent for l in 1..max_row_nnz; distinct columns drawn
/// uniformly. \throws Error (usage) max_row_nnz outside 1..cols, an exponent that is not finite
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> power_law(std::int64_t rows, std::int64_t cols, double exponent,
                                        std::int64_t max_row_nnz, std::uint64_t seed);

/// Parameters of web_graph().
struct WebGraph {
  std::int64_t rows = 0;         ///< rows and columns: pages
  std::int64_t nnz = 0;          ///< expected number of links: 1 to max_row_nnz per page
  std::int64_t products = 0;     ///< expected number of scalar products in the square of the matrix
  std::int64_t max_row_nnz = 0;  ///< maximum number of links of a page
  std::int64_t site_rows = 1;    ///< consecutive pages with the same number of links
  double locality = 0;           ///< probability of a link to a nearby page, 0 to 1
};

/// A graph of pages that link to pages, similar to web crawls and citation networks: few pages have
/// many links, many links lead to these pages, and pages have links in common.
///
/// The number l of links of a page follows a power law P(l) ~ l^-e for l in 1..max_row_nnz, where e
/// is chosen such that the mean is nnz / rows. All pages of a site have the same number of links.
/// The target of a link is
///   - a page drawn in proportion to its own number of links, with the probability that yields the
///     given number of products (the sum, over all links, of the number of links of the target);
///   - otherwise, with probability `locality`, one of the 2 l pages around the page;
///   - otherwise any page.
/// A link drawn twice is drawn again, after several attempts uniformly from all pages, so the number
/// of products is slightly smaller than given. The larger the locality, the more products contribute
/// to the same entry of the square, in particular if max_row_nnz is small.
/// \throws Error (usage) inconsistent sizes; a number of products that is not possible, naming the
///         possible range
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> web_graph(const WebGraph& graph, std::uint64_t seed);

}  // namespace sortie::matrices
