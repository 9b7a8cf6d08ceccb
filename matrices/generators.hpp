#pragma once

#include <cstdint>

#include "sortie/matrices/csr.hpp"

/// Matrices made from a seed: the same seed gives the same matrix on every machine and for any
/// number of threads, and the same pattern for every type of entries. Entries are uniform in [-1,
/// 1) (both parts of complex ones), except for the stencils, which are the usual Laplacians. Every
/// generator throws Error (usage) for sizes that are negative or do not fit Idx, and Error
/// (out_of_memory). All take O(nnz) time, a logarithm more where columns are drawn, and no extra
/// memory to speak of.
namespace sortie::matrices {

/// Every row has `row_nnz` entries in columns drawn uniformly without repetition (Erdos-Renyi with
/// fixed out-degree). \throws Error (usage) row_nnz > cols or a negative size
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> erdos_renyi(std::int64_t rows, std::int64_t cols,
                                          std::int64_t row_nnz, std::uint64_t seed);

/// Recursive matrix graph of 2^scale vertices and edge_factor * 2^scale drawn edges, duplicates
/// summed in the order drawn, with the Graph500 quadrant probabilities 0.57, 0.19, 0.19, 0.05.
/// Vertices are not renumbered. Extra memory: the list of edges.
/// \throws Error (usage) a scale beyond 30 for 32-bit indices or 62 for 64-bit ones
/// Source: Chakrabarti, Zhan, Faloutsos: R-MAT (SDM 2004).
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> rmat(int scale, std::int64_t edge_factor, std::uint64_t seed);

/// All entries with |row - col| <= half_bandwidth.
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> banded(std::int64_t size, std::int64_t half_bandwidth,
                                     std::uint64_t seed);

/// Laplacian stencil on a grid of nx * ny * nz points with `unknowns` coupled unknowns a point.
///
/// A point couples with its 4, 6 or 26 neighbours inside the grid by -1 and with itself by their
/// full number (zero boundary values), so the matrix is symmetric positive definite. With u
/// unknowns a point every entry becomes a u x u block: the entry times 1 on the block's diagonal
/// and times 1/2 beside it. Point (x, y, z) has number (z * ny + y) * nx + x. \param points  5 (nz
/// must be 1), 7 or 27 \throws Error (usage) another number of points, unknowns < 1
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> stencil(int points, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                      int unknowns = 1);

/// Row lengths drawn from P(l) ~ l^-exponent for l in 1..max_row_nnz, columns uniform without
/// repetition. \throws Error (usage) max_row_nnz outside of 1..cols, an exponent that is not finite
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> power_law(std::int64_t rows, std::int64_t cols, double exponent,
                                        std::int64_t max_row_nnz, std::uint64_t seed);

/// What a matrix of web_graph() is to be like.
struct WebGraph {
  std::int64_t rows = 0;         ///< and columns: pages
  std::int64_t nnz = 0;          ///< links, of the mean: 1 to max_row_nnz a page
  std::int64_t products = 0;     ///< scalar products of the matrix with itself, of the mean
  std::int64_t max_row_nnz = 0;  ///< links of a page, at most
  std::int64_t site_rows = 1;    ///< neighbouring pages that have the same number of links
  double locality = 0;           ///< part of the links that stay near their page, 0 to 1
};

/// Pages that link to pages, as crawls of the web, networks of citations and the like: few pages
/// have many links, many links go to those few, and pages have links in common.
///
/// The number of links of a page follows a power law P(l) ~ l^-e for l in 1..max_row_nnz, with the
/// e that gives the mean nnz / rows; all pages of a site have the same number. A link goes
///   - to a page in proportion to that page's own links, as often as gives the products wanted:
///   they
///     are the sum over all links of the links of the page that they go to;
///   - else, by the probability `locality`, to one of the 2 l pages around;
///   - else to any page.
/// A page is linked from another once; a link drawn twice is drawn again, in the end to any page,
/// so that products come out a little fewer. The more links stay near pages of many links, the more
/// products meet in one entry of the square: a large locality, which leaves room for itself where
/// max_row_nnz is small, makes nnz(C) small.
/// \throws Error (usage) sizes that contradict each other; products that no such links give, naming
///         those that can be had
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> web_graph(const WebGraph& graph, std::uint64_t seed);

}  // namespace sortie::matrices
