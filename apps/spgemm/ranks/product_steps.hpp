// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "cluster/cost_model.hpp"
#include "cluster/traffic_plan.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/csr.hpp"
#include "sortie/spgemm.hpp"

/// Steps of a product over ranks, for commands that plan the traffic of several together, and the plan
/// of all steps before the product runs.
namespace sortie::cluster {

/// Called on each rank with what it has multiplied: rows of A, whose columns are numbered as the rows
/// of the B that is here, and the rows of C. It may change C. It must not be collective.
/// \param first_row  number of the first of these rows
template <class Matrix>
using RowsVisit =
    std::function<void(const Matrix& a, const Matrix& b, Matrix& c, std::int64_t first_row)>;

/// balance() without a report. Phases, also for faults: "find rows", "ask for rows", "look up
/// lengths", "count products", "group rows", "count rows", "receive rows".
/// \param b  null: A itself
template <class Matrix>
[[nodiscard]] DividedMatrix<Matrix> balance_rows(Ranks& ranks, const HostContext& context,
                                                 TrafficPlan& plan, DividedMatrix<Matrix> a,
                                                 const DividedMatrix<Matrix>* b);

/// multiply() or multiply_structure() without figures of traffic. Phases: "find rows", "ask for
/// rows", "look up lengths", "plan rounds", "choose rows" and "ask for rows" if there are several
/// rounds, "pack rows", "multiply", "use rows".
/// \param visit  may be empty
template <class Matrix>
[[nodiscard]] DividedMatrix<Matrix> multiply_rows(Ranks& ranks, const Context& context,
                                                  TrafficPlan& plan, const DividedMatrix<Matrix>& a,
                                                  const DividedMatrix<Matrix>& b,
                                                  spgemm::Algorithm algorithm,
                                                  const RowsVisit<Matrix>& visit);

}  // namespace sortie::cluster

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
