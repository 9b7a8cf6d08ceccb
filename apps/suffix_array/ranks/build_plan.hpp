// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cluster/cost_model.hpp"

namespace sortie::suffix_array {

/// Memory that a rank takes for a share of some symbols, besides the packed text.
struct ShareMemory {
  std::uint64_t lasting = 0;  ///< until the end: the suffixes, and which of them are in groups
  std::uint64_t least = 0;    ///< with as few elements of the first sort at once as possible
  std::uint64_t all = 0;      ///< with all elements at once
};
[[nodiscard]] ShareMemory share_memory(std::uint64_t symbols, std::uint64_t position_bytes);

/// A suffix array of DNA on ranks before it runs: the steps of cluster::build_suffix_array(), for a
/// text without long repeats. Where suffixes are left in groups, their samples take time and
/// memory, which depend on the text and are not planned.
///
/// Memory is that of rank 0 of the program: 3/8 byte a symbol for the packed text, and the larger of
/// 128 MiB at most for what it has read (sequences/symbol_blocks.hpp) and of share_memory(), between
/// 4.8 and 12.3 bytes a symbol of its share, as `memory` allows.
/// \param on_machine  ranks that share a machine
/// \param memory      of a rank; 0: enough
/// Complexity: O(1).
[[nodiscard]] cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine,
                                           std::uint64_t memory = 0);

/// The same on ranks that have a GPU each: the steps of build_on_devices().
/// Bytes are those that build_on_device() counts, but for the members of groups; `rank_memory` is
/// of the GPU.
/// \param memory  of a GPU that may be used; 0: 74 GiB, as an idle H100 of 80 GB has
/// \throws Error (unavailable) in builds without CUDA
[[nodiscard]] cluster::RankPlan plan_device_build(std::uint64_t symbols, int ranks, int on_machine,
                                                  std::uint64_t memory = 0);

}  // namespace sortie::suffix_array
