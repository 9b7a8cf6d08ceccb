// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "papers/rmg/gpu_set.hpp"

namespace sortie::papers {

/// The links of this machine's GPUs, as the driver and /sys/bus/pci tell them. \throws Error (device)
[[nodiscard]] GpuLinks links_of_gpus();

/// The GPUs to sort on instead of `ordinals`: as many, the first one of them among them, chosen by
/// choose_gpus(). The ordinals as they are where logical devices share a GPU, or nothing is left to
/// choose. \throws Error (device)
[[nodiscard]] std::vector<int> best_linked(const std::vector<int>& ordinals);

}  // namespace sortie::papers
