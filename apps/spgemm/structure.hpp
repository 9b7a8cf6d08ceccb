#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"
#include "sortie/matrices/pattern.hpp"

namespace sortie::spgemm {

/// Number of scalar products that A * B would need. \throws Error (input) shapes do not conform
template <matrices::Index Idx>
[[nodiscard]] std::int64_t count_products(const matrices::Pattern<Idx>& a,
                                          const matrices::Pattern<Idx>& b);

/// The structure of C = A * B from the structures of A and B: where the product of any values has
/// entries, zeros by cancellation included. Columns ascend in every row.
///
/// `automatic` and row_wise on the host work on columns alone, where a bit a column fits the memory
/// budget. Wider matrices and the other algorithms multiply ones in single precision, and let the
/// values go.
///
/// \param context  as for multiply()
/// \throws Error as multiply()
/// Complexity: O(products), and O(n log n) for a row of n entries that is short beside the number
/// of columns. Extra memory on the host, each thread: a bit a column, and the columns of such a row
/// twice; with other algorithms theirs, and 4 bytes for each entry of A, B and C.
template <matrices::Index Idx>
[[nodiscard]] matrices::Pattern<Idx> multiply_structure(const Context& context,
                                                        const matrices::Pattern<Idx>& a,
                                                        const matrices::Pattern<Idx>& b,
                                                        Algorithm algorithm = Algorithm::automatic);

/// Compares two structures. \throws Error (check) naming the first row and column that differ
template <matrices::Index Idx>
void compare(const matrices::Pattern<Idx>& result, const matrices::Pattern<Idx>& expected);

}  // namespace sortie::spgemm
