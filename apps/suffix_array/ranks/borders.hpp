// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/build/runs.hpp"
#include "apps/suffix_array/ranks/text_scan.hpp"
#include "sortie/cluster.hpp"

namespace sortie::suffix_array::on_ranks {

/// A division of all slots. Elements (coded_text.hpp) of lower buckets, and those of `bucket` below
/// `element`, are before it.
struct Border {
  std::uint64_t bucket = 0;
  std::uint64_t element = 0;
  std::uint64_t before = 0;       ///< number of these elements
  std::uint64_t slot = 0;         ///< first slot behind the border
  std::uint64_t group_begin = 0;  ///< slots of the group of equal keys that it divides, or none
  std::uint64_t group_end = 0;
};

/// Divides the slots of all suffixes among the ranks in nearly equal shares: shares differ from
/// equal ones by at most 1/64, or by one element if that is more. Collective.
///
/// A border lies between two buckets if the bucket that it would divide is small, or anywhere
/// among the members of long runs (runs.hpp); else it is found by the digits of the elements of
/// that bucket, the highest first, by all ranks together. The bits of the position come last, so
/// equal keys are only divided if they are many.
///
/// \param starts     first element of each bucket, and the end of the last one
/// \param run_slots  of letters that have runs, with their sizes; receives their begins in buckets
///                   that are divided
/// \return rank r takes what lies between entries r and r + 1
/// Complexity: at most 9 rounds of one reduction of 256 numbers for each border. If a bucket is
/// divided, each rank scans an equal part of the text for its elements.
template <class Start>
[[nodiscard]] std::vector<Border> find_borders(cluster::Ranks& ranks, const PackedText& text,
                                               const TextScan& scan, std::span<const Start> starts,
                                               std::span<host::RunSlots> run_slots);

}  // namespace sortie::suffix_array::on_ranks
