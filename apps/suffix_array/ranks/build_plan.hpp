// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "cluster/cost_model.hpp"

namespace sortie::suffix_array {

/// Memory that a rank takes for a share of some symbols, besides the packed text.
struct ShareMemory {
  std::uint64_t lasting = 0;  ///< until the end: the suffixes, and which of them are in groups
  std::uint64_t least = 0;    ///< with as few elements of the first sort at once as possible
  std::uint64_t all = 0;      ///< with all elements at once
};
[[nodiscard]] ShareMemory share_memory(std::uint64_t symbols, std::uint64_t position_bytes);

/// The part of all suffixes, 0 to 1, whose first 80 symbols are those of another suffix. Runs of one
/// letter are not counted. An estimate from about a million suffixes, which are chosen by a hash of
/// these symbols, so that of equal ones all are chosen or none.
/// \pre the host runtime is started
/// Complexity: O(n) for n symbols, on all threads. Memory: some 16 MiB.
[[nodiscard]] double part_in_repeats(std::span<const std::uint8_t> symbols);

/// A suffix array of DNA on ranks before it runs: the steps of cluster::build_suffix_array().
///
/// Memory is that of rank 0 of the program: 3/8 byte a symbol for the packed text, and the larger of
/// 128 MiB at most for what it has read (sequences/symbol_blocks.hpp) and of share_memory(), between
/// 4.8 and 12.3 bytes a symbol of its share, as `memory` allows. Sets and samples of repeats take
/// 1/2 byte a symbol of the whole text, and more in texts of short periods, which is not planned.
/// \param on_machine  ranks that share a machine
/// \param memory      of a rank; 0: enough
/// \param repeats     part_in_repeats() of the text; 0: random letters
/// Complexity: O(1).
[[nodiscard]] cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine,
                                           std::uint64_t memory = 0, double repeats = 0);

/// The same on ranks that have a GPU each: the steps of build_on_devices().
/// Bytes are those that build_on_device() counts, but for the members of groups; `rank_memory` is
/// of the GPU.
/// \param memory  of a GPU that may be used; 0: 74 GiB, as an idle H100 of 80 GB has
/// \throws Error (unavailable) in builds without CUDA
[[nodiscard]] cluster::RankPlan plan_device_build(std::uint64_t symbols, int ranks, int on_machine,
                                                  std::uint64_t memory = 0);

}  // namespace sortie::suffix_array
