// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Begin of the sort of one array: what is in order, or in reverse order, is copied, and everything
/// else is listed as a segment for the kernels that follow.
namespace sortie::segsort {

/// Order of the items of an array, as far as known. For a copy in reverse, items with values must
/// descend strictly, since equal keys keep their order.
enum class ItemOrder : std::uint32_t { other, ascending, descending };

/// In temporary storage.
struct ArrayStart {
  std::uint64_t begin;  ///< offsets of the segment
  std::uint64_t end;
  ItemOrder sampled;
  std::uint32_t disproved;  ///< not 0 if a pair of neighbours contradicts `sampled`
  std::uint32_t blocks_done;
  std::uint32_t filler;
};

/// Launches the begin of a sort. \pre plan.is_array
template <class Tiles, class Word>
cudaError_t launch_array_start(const LaunchPlan& plan, const Arguments<Word>& arguments,
                               const WorkListsOf<Tiles>& lists, ArrayStart* start);

}  // namespace sortie::segsort
