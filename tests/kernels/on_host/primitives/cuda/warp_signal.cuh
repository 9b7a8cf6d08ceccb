// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/kernels/on_host/cuda_on_host.hpp"

/// Replaces primitives/cuda/warp_signal.cuh on the host.
namespace sortie {

class WarpSignal {
 public:
  void prepare() { lanes_ = 0; }
  void raise() { ++lanes_; }
  void wait(std::uint32_t before) {
    while (lanes_ < 32 * (before + 1)) cuda_on_host::yield();
  }

 private:
  std::atomic<std::uint32_t> lanes_;
};

}  // namespace sortie
