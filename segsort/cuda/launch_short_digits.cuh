// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/short_digits.cuh"

/// Launches the sort of a short array by its digits, for one width of keys and values. Apart from
/// the other launches, because of the header of cooperative groups.
namespace sortie::segsort {

/// \tparam IsLarge           of the tiles, see ShortTiles
/// \param decision          whether there is anything to do; null: there is
/// \param passes, statuses  temporary storage; it need not be cleared
/// \pre plan.num_items is less than 2^27 and not 0; at least one bit is compared
template <class Word, int ValueBytes, bool IsLarge = false>
cudaError_t launch_short_digits(const LaunchPlan& plan, const Arguments<Word>& arguments,
                                const ArrayDecision* decision, radix::ShortPasses<Word>* passes,
                                radix::Status* statuses) {
  using radix::ShortTiles;
  const auto launch_plain = [&]<ShortTiles Tiles, bool IsPlain>() {
    constexpr PartitionShape shape = radix::short_shape_of<Word, ValueBytes, Tiles>;
    using Shared = radix::PassShared<Word, ValueBytes, shape>;
    return launch_resident(
        radix::short_digits_kernel<Word, ValueBytes, IsPlain, Tiles>, plan,
        LaunchOrder::cooperative, (plan.num_items - 1) / Shared::tile + 1, shape.resident_blocks,
        Shared::threads, sizeof(Shared), arguments, decision, passes, statuses,
        static_cast<std::uint32_t>(
            radix::short_status_words_of<Word, ValueBytes, Tiles>(plan.num_items)),
        static_cast<std::uint32_t>(plan.num_items));
  };
  const auto launch = [&]<ShortTiles Tiles>() {
    return arguments.codec.plain ? launch_plain.template operator()<Tiles, true>()
                                 : launch_plain.template operator()<Tiles, false>();
  };
  if constexpr (IsLarge) {
    if constexpr (radix::has_tiles_in_twos<Word>) {
      constexpr auto tile = static_cast<std::uint64_t>(
          radix::short_shape_of<Word, ValueBytes, ShortTiles::large>.tile());
      const auto multiprocessors = static_cast<std::uint64_t>(plan.limits.multiprocessors);
      if (plan.num_items > tile * multiprocessors)
        return launch.template operator()<ShortTiles::large_in_twos>();
    }
    return launch.template operator()<ShortTiles::large>();
  } else {
    return launch.template operator()<ShortTiles::usual>();
  }
}

}  // namespace sortie::segsort
