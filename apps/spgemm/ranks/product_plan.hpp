// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/cost_model.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm {

/// C = A * B on ranks before it runs: the steps of cluster::balance() and cluster::multiply(), from
/// the structures, which one machine has. The rows of each rank are those that balance() gives, but
/// for single rows at the borders; the rows of B that a rank fetches are counted.
///
/// Memory of a rank: its rows of A and B, the fetched rows, and its rows of C, of which each product
/// is taken for an entry: at most, since products that meet are one entry.
/// \param on_machine  ranks that share a machine; bytes are divided as if each rank fetched from all
///                    others alike
/// Complexity: O(nnz(A) + rows). Extra memory: 4 bytes for each row of B, 8 for each row of A.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] cluster::RankPlan plan_product(const matrices::Csr<Value, Idx>& a,
                                             const matrices::Csr<Value, Idx>& b, int ranks,
                                             int on_machine);

}  // namespace sortie::spgemm
