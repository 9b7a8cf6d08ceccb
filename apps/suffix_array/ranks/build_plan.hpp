// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cluster/cost_model.hpp"

namespace sortie::suffix_array {

/// A suffix array of DNA on ranks before it runs: the steps of cluster::build_suffix_array(). The
/// first sort, and the words of the text that follow it, leave no suffix in a group of a text without
/// long repeats; rounds of prefix doubling, which depend on the text, are not planned.
///
/// Memory is that of rank 0, which also holds the text that it has read: a byte a symbol, 3/8 byte
/// a symbol packed, and 17 bytes a symbol of its share.
/// \param on_machine  ranks that share a machine
/// Complexity: O(1).
[[nodiscard]] cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine);

}  // namespace sortie::suffix_array
