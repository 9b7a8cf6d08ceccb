// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cluster/shared_output.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// Collective: write_matrix_market() to an output that exists already, so that a path that cannot be
/// written is refused before the work. Commits it. Phases "format matrix", "write matrix", and those
/// of SharedOutput::prepare() and commit().
template <class Matrix>
void write_rows(Ranks& ranks, const HostContext& context, SharedOutput& output,
                const DividedMatrix<Matrix>& matrix);

/// Name of a rank's file of write_split(): PATH.0000, PATH.0001, ...
[[nodiscard]] std::string split_name(const std::string& path, int rank);

/// Collective: each rank writes its rows to a file of its own, also where ranks share no folder. Row
/// numbers and sizes are those of the whole matrix, and a comment names the rows. No part is
/// renamed before all are written and closed; if a rank cannot rename its own,
/// the others remove theirs. Files of an earlier run on more ranks stay. Phases "write part",
/// "rename part". \throws Error (output)
template <class Matrix>
void write_split(Ranks& ranks, const HostContext& context, const std::string& path,
                 const DividedMatrix<Matrix>& matrix);

}  // namespace sortie::cluster
