// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cluster/cost_model.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {

/// A sort of records over ranks within memory, before it runs: the steps of cluster::sort(). Keys in
/// random order are assumed, of which each rank sends all but its part; keys alone are then sorted by
/// buckets if each rank has enough of them (bucket_sort.hpp).
/// \param records     of all ranks
/// \param on_machine  ranks that share a machine
/// Complexity: O(1).
[[nodiscard]] cluster::RankPlan plan_sort(std::uint64_t records, const RecordFormat& format,
                                          int ranks, int on_machine);

}  // namespace sortie::sorting
