// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "cluster/traffic_plan.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/spgemm.hpp"

/// Steps of a product over ranks, for commands that plan the traffic of several together.
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
