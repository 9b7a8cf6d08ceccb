// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Begin of the sort of one array: what is in order, or in reverse order, is copied, few distinct
/// keys are counted, and everything else is left to the kernels that follow: those that sort by ranges
/// find it listed as a segment.
namespace sortie::segsort {

/// In temporary storage.
struct ArrayStart {
  std::uint64_t begin;  ///< offsets of the segment
  std::uint64_t end;
  ArrayDecision decision;
  std::uint32_t blocks_done;
};

/// Whether a sample of an array is taken.
__host__ __device__ constexpr bool is_examined(DigitUse use, std::uint64_t items) {
  return use != DigitUse::never || items >= least_examined;
}

/// Where few keys are counted, and the pass over their ranks is prepared, if they have values.
struct FewKeysStorage {
  few::FewKeys* table = nullptr;    ///< may be in the scratch buffer, which is not used meanwhile
  radix::Passes* passes = nullptr;  ///< null: there is no such pass
  radix::Status* statuses = nullptr;
  std::uint64_t words = 0;  ///< of the statuses
};

/// Launches the begin of a sort, which also clears `passes_bytes` bytes of `passes`.
/// \pre plan.is_array; few_keys.table is not null if the array is examined, and all bits are compared
template <class Tiles, class Word>
cudaError_t launch_array_start(const LaunchPlan& plan, const Arguments<Word>& arguments,
                               const WorkListsOf<Tiles>& lists, ArrayStart* start,
                               radix::Passes* passes, std::uint64_t passes_bytes, DigitUse use,
                               const FewKeysStorage& few_keys);

/// Launches the end of a sort of few distinct keys whose values are in the scratch buffer: writes the keys
/// as often as they occur, and copies the values.
/// \param few_table  of launch_array_start(); may be in the buffer of keys that is not the output
template <class Word>
cudaError_t launch_ranked_result(const LaunchPlan& plan, const Arguments<Word>& arguments,
                                 const ArrayStart* start, const few::FewKeys* few_table);

}  // namespace sortie::segsort
