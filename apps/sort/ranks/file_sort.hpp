// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cluster/cost_model.hpp"
#include "sortie/cluster.hpp"
#include "sortie/context.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {

/// What sort_records_on_ranks() has done.
struct RankSortResult {
  SortResult sort;                  ///< of all ranks
  std::uint64_t spilled_bytes = 0;  ///< in the temporary files of all ranks
};

/// Sorts records into a file, over ranks: each reads an equal range of the records, and writes an
/// equal range of the sorted ones. Collective. Records with values are sorted stably, whatever the
/// options say: the file is that of sort_records_of() with `stable`, in every byte.
///
/// The budget of a rank is its context's, or three quarters of the free memory, divided by the
/// ranks on its machine. The share, a copy of it, and blocks must fit in it. Otherwise each rank
/// sorts chunks and writes them as runs to a temporary file beside the output, which has a name and
/// is removed at the end and after an error. Exact splits over all runs, whose samples are read
/// from the files, give each rank its range, which it merges from the files of all ranks.
///
/// | memory of a rank | records                     | other                                   |
/// |------------------|-----------------------------|-----------------------------------------|
/// | within memory    | the share, and the received | blocks, a quarter of the budget at most |
/// | sorting chunks   | a chunk                     | scratch of the sort, blocks             |
/// | merging runs     | slots, two for each run     | blocks                                  |
///
/// \param context  of this rank; report: phases "read", "sort" with those of cluster::sort(),
///                 "verify", "write"; beyond memory "sort chunks", "splits", "merge"; figures as
///                 cluster::sort(), and "spilled_bytes" beyond memory
/// \param source   of all records; each rank has its own, with the same records. read_at() is used
///                 if the source has it; else each rank reads all records up to the end of its
///                 range
/// \throws Error  as sort_records_of() and cluster::sort(); (input) the ranks see different numbers
///                of records; (usage) the number of records is unknown, or `repeat` is not 1;
///                (out_of_memory) a budget below 64 KiB, or too small for two records of each run
/// Complexity: beyond memory, each record is read twice, written twice, and merged once, by a tree
/// over the runs of all ranks.
[[nodiscard]] RankSortResult sort_records_on_ranks(cluster::Ranks& ranks, const Context& context,
                                                   RecordSource& source,
                                                   const FileSortRequest& request);

/// A sort of records over ranks within memory, before it runs: the steps of cluster::sort(). Keys in
/// random order are assumed, of which each rank sends all but its part; keys alone are then sorted by
/// buckets if each rank has enough of them (bucket_sort.hpp).
/// \param records     of all ranks
/// \param on_machine  ranks that share a machine
/// Complexity: O(1).
[[nodiscard]] cluster::RankPlan plan_sort(std::uint64_t records, const RecordFormat& format,
                                          int ranks, int on_machine);

}  // namespace sortie::sorting
