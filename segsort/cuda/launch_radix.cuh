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
  radix::Passes* passes = nullptr;
  /// Of a sort by buckets. A long array has others for the fallback, which in a short one is
  /// short_digits_kernel.
  radix::Passes* bucket_passes = nullptr;
  std::uint64_t passes_bytes = 0;  ///< of both, which are neighbours
  radix::Status* statuses = nullptr;
  /// Of the lists in whose place the statuses of a sort by all digits are; null: there are none.
  Counters* counters = nullptr;
};

/// Launches the passes over all digits, or for a sort by buckets over the highest ones, and over those
/// of magnitudes.
/// \param decision  made by launch_array_start(), which also clears the passes; null: the passes have
///                  been cleared, and all digits are to be sorted by
template <class Word, int ValueBytes>
cudaError_t launch_radix(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const RadixStorage& storage, const ArrayDecision* decision,
                         ArrayMethod method) {
  const bool by_buckets = method == ArrayMethod::buckets;
  const std::uint64_t n = plan.num_items;
  radix::Passes* const passes = by_buckets ? storage.bucket_passes : storage.passes;
  using Shared = radix::PassShared<Word, ValueBytes>;
  cudaError_t status = launch_resident(
      radix::count_digits_kernel<Word>, plan, plan.order,
      (n - 1) / (radix::count_threads * radix::count_items) + 1, no_limit, radix::count_threads, 0,
      arguments, decision, method, passes, storage.statuses,
      radix::status_words<Word, ValueBytes>(n), reinterpret_cast<std::uint32_t*>(storage.counters),
      storage.counters == nullptr
          ? 0u
          : static_cast<unsigned int>(sizeof(Counters) / sizeof(std::uint32_t)),
      n);
  const int compared = 8 * static_cast<int>(sizeof(Word)) - arguments.codec.ignored_bits;
  // Without any bits to compare, a pass copies the items.
  const int most = by_buckets ? radix::bucket_passes
                              : std::max((compared + radix::digit_bits - 1) / radix::digit_bits, 1);
  const std::uint64_t most_at_once = radix::portion_length<Word, ValueBytes>(n);
  std::uint32_t number = 0;
  for (std::uint32_t pass = 0; static_cast<int>(pass) < most; ++pass) {
    for (std::uint64_t begin = 0; begin < n; begin += most_at_once) {
      const std::uint64_t length = std::min(n - begin, most_at_once);
      if (number == radix::portions_of_table) {
        number = 0;
        const std::uint64_t words = radix::status_words<Word, ValueBytes>(n);
        status =
            launch_resident(radix::clear_statuses_kernel<Word>, plan, plan.order,
                            (words - 1) / radix::count_threads + 1, no_limit, radix::count_threads,
                            0, decision, method, passes, storage.statuses, words);
      }
      if (status != cudaSuccess) return status;
      const radix::Portion portion{pass, number++, begin, length, radix::has_wide_starts(n)};
      const std::uint64_t tiles = (length - 1) / Shared::tile + 1;
      const auto launch_pass = [&]<bool IsPlain>() {
        const auto launch_one = [&](auto kernel) {
          return launch_resident(kernel, plan, plan.order, tiles, no_limit, Shared::threads,
                                 sizeof(Shared), arguments, decision, passes, storage.statuses,
                                 portion);
        };
        if constexpr (sizeof(Word) >= 4 && ValueBytes <= 8) {
          if (by_buckets) {
            cudaError_t launched = cudaSuccess;
            if constexpr (!radix::shares_bucket_passes<Word>)
              launched = launch_one(radix::magnitude_pass_kernel<Word, ValueBytes>);
            return launched == cudaSuccess
                       ? launch_one(radix::bucket_pass_kernel<Word, ValueBytes, IsPlain>)
                       : launched;
          }
        }
        return launch_one(radix::pass_kernel<Word, ValueBytes, IsPlain>);
      };
      status = arguments.codec.plain ? launch_pass.template operator()<true>()
                                     : launch_pass.template operator()<false>();
    }
  }
  return status;
}

/// Whether few distinct keys with values can be sorted by one pass over their ranks: its portions
/// must fit one table of statuses, and keys that are equal must be alike in all bits.
template <class Word, int ValueBytes>
bool can_rank_values(std::uint64_t n, const BitRangeCodec<Word>& codec) {
  return ValueBytes != 0 && codec.ignored_bits == 0 &&
         (n - 1) / radix::portion_length<Word, ValueBytes>(n) < radix::portions_of_table;
}

/// Whether the result of a sort is in its input: it alternates between that and the scratch buffer.
template <class Word>
bool ends_in_input(const Arguments<Word>& arguments) {
  return arguments.keys_in == arguments.keys_out;
}

/// Launches the pass over the ranks of few distinct keys, which launch_array_start() has prepared. If the
/// result is to be in the input, the values are then in the scratch buffer, and launch_ranked_result() must
/// follow.
/// \pre can_rank_values()
template <class Word, int ValueBytes>
cudaError_t launch_rank_pass(const LaunchPlan& plan, const Arguments<Word>& arguments,
                             const RadixStorage& storage, const ArrayDecision* decision,
                             const few::FewKeys* few_keys) {
  using Shared = radix::RankPassShared<Word, ValueBytes>;
  const std::uint64_t n = plan.num_items;
  const std::uint64_t most_at_once = radix::portion_length<Word, ValueBytes>(n);
  cudaError_t status = cudaSuccess;
  std::uint32_t number = 0;
  for (std::uint64_t begin = 0; begin < n && status == cudaSuccess; begin += most_at_once) {
    const std::uint64_t length = std::min(n - begin, most_at_once);
    const auto launch_pass = [&](auto kernel) {
      return launch_resident(kernel, plan, plan.order,
                             (length - 1) / radix::PassShared<Word, ValueBytes>::tile + 1, no_limit,
                             radix::PassShared<Word, ValueBytes>::threads, sizeof(Shared),
                             arguments, decision, few_keys, storage.passes, storage.statuses,
                             radix::Portion{0, number++, begin, length, radix::has_wide_starts(n)});
    };
    status = ends_in_input(arguments)
                 ? launch_pass(radix::rank_pass_kernel<Word, ValueBytes, false>)
                 : launch_pass(radix::rank_pass_kernel<Word, ValueBytes, true>);
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
                         buckets::stride(n), n <= buckets::most_in_small_tiles);
}

// Those of narrow keys are instantiated in source files that CMake generates.
#define SORTIE_EXTERN_RADIX(Word, value_bytes)                                              \
  extern template cudaError_t launch_radix<Word, value_bytes>(                              \
      const LaunchPlan&, const Arguments<Word>&, const RadixStorage&, const ArrayDecision*, \
      ArrayMethod)
SORTIE_EXTERN_RADIX(std::uint8_t, 0);
SORTIE_EXTERN_RADIX(std::uint8_t, 4);
SORTIE_EXTERN_RADIX(std::uint8_t, 8);
SORTIE_EXTERN_RADIX(std::uint16_t, 0);
SORTIE_EXTERN_RADIX(std::uint16_t, 4);
SORTIE_EXTERN_RADIX(std::uint16_t, 8);
#undef SORTIE_EXTERN_RADIX

}  // namespace sortie::segsort
