// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Replaces primitives/cuda/launch.cuh on the host: what kernels use of it. Tests run the kernels
/// themselves (cuda_on_host::run_block).
namespace sortie {

inline constexpr unsigned int element_threads = 256;

constexpr unsigned int blocks_for(std::uint64_t items,
                                  std::uint64_t items_per_block = element_threads) {
  return static_cast<unsigned int>((items + items_per_block - 1) / items_per_block);
}

}  // namespace sortie
