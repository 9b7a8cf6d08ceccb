// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/shared_output.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// Collective: write_matrix_market() to an output that exists already, so that a path that cannot be
/// written is refused before the work. Commits it. Phases "format matrix", "write matrix", and those
/// of SharedOutput::commit().
template <class Matrix>
void write_rows(Ranks& ranks, const HostContext& context, SharedOutput& output,
                const DividedMatrix<Matrix>& matrix);

}  // namespace sortie::cluster
