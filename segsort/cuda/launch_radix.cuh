// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "segsort/cuda/bucket_runs.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/radix_passes.cuh"

/// Launches the sort of an array by its digits, for one width of keys and values.
namespace sortie::segsort {

/// Temporary storage of a sort by digits.
struct RadixStorage {
  radix::Passes* passes = nullptr;  ///< for all digits; then, if used, for buckets
  radix::Status* statuses = nullptr;
};

/// Launches the passes over all digits, or for a sort by buckets over the highest ones.
/// \param decision  made by launch_array_start(), which also clears the passes; null: the passes have
///                  been cleared, and all digits are to be sorted by
template <class Word, int ValueBytes>
cudaError_t launch_radix(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const RadixStorage& storage, const ArrayDecision* decision,
                         ArrayMethod method) {
  const bool by_buckets = method == ArrayMethod::buckets;
  radix::Passes* const passes = storage.passes + (by_buckets ? 1 : 0);
  const std::uint64_t n = plan.num_items;
  using Shared = radix::PassShared<Word, ValueBytes>;
  cudaError_t status =
      launch_resident(radix::count_digits_kernel<Word>, plan, plan.order,
                      (n - 1) / (radix::count_threads * radix::count_items) + 1, no_limit,
                      radix::count_threads, 0, arguments, decision, method, passes,
                      storage.statuses, radix::status_words<Word, ValueBytes>(n), n);
  const int compared = 8 * static_cast<int>(sizeof(Word)) - arguments.codec.ignored_bits;
  // Without any bits to compare, a pass copies the items.
  const int most = by_buckets ? radix::bucket_passes
                              : std::max((compared + radix::digit_bits - 1) / radix::digit_bits, 1);
  std::uint32_t number = 0;
  for (std::uint32_t pass = 0; static_cast<int>(pass) < most; ++pass) {
    for (std::uint64_t begin = 0; begin < n; begin += radix::portion_length(n)) {
      const std::uint64_t length = std::min(n - begin, radix::portion_length(n));
      if (number == radix::portions_of_table) {
        number = 0;
        status = cudaMemsetAsync(storage.statuses, 0,
                                 radix::status_words<Word, ValueBytes>(n) * sizeof(radix::Status),
                                 plan.stream);
        if (status == cudaSuccess)
          status = cudaMemsetAsync(passes->next_tile, 0, sizeof(passes->next_tile), plan.stream);
      }
      if (status != cudaSuccess) return status;
      status = launch_resident(radix::pass_kernel<Word, ValueBytes>, plan, plan.order,
                               (length - 1) / Shared::tile + 1, no_limit, Shared::threads,
                               sizeof(Shared), arguments, decision, method, passes,
                               storage.statuses, radix::Portion{pass, number++, begin, length});
    }
  }
  return status;
}

/// Launches the kernel that lists the runs of a sort by buckets.
template <class Word>
cudaError_t launch_runs(const LaunchPlan& plan, const Arguments<Word>& arguments,
                        const WorkLists& lists, ArrayDecision* decision) {
  const std::uint64_t n = plan.num_items;
  return launch_resident(buckets::list_runs_kernel<Word>, plan, plan.order,
                         (buckets::runs(n) - 1) / buckets::run_warps + 1, no_limit,
                         32 * buckets::run_warps, 0, arguments, lists, decision, n,
                         buckets::stride(n));
}

}  // namespace sortie::segsort
