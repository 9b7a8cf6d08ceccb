// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Begin of the sort of one array: what is in order, or in reverse order, is copied, few distinct
/// keys are counted, and everything else is listed as a segment for the kernels that follow.
namespace sortie::segsort {

/// What an array may be, by a sample of it. For a copy in reverse, items with values must descend
/// strictly, since equal keys keep their order.
enum class InputKind : std::uint32_t { other, ascending, descending, few_keys };

/// In temporary storage.
struct ArrayStart {
  std::uint64_t begin;  ///< offsets of the segment
  std::uint64_t end;
  InputKind sampled;
  std::uint32_t disproved;  ///< not 0 if some items contradict `sampled`
  std::uint32_t blocks_done;
  few::FewKeys few_keys;
};

/// Launches the begin of a sort. \pre plan.is_array
template <class Tiles, class Word>
cudaError_t launch_array_start(const LaunchPlan& plan, const Arguments<Word>& arguments,
                               const WorkListsOf<Tiles>& lists, ArrayStart* start);

}  // namespace sortie::segsort
