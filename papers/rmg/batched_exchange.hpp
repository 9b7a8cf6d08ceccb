// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/plan/moves.hpp"
#include "primitives/payload.hpp"

namespace sortie::papers {

/// Copies as ItemExchange does by peer access, but each source hands all its copies to the runtime in
/// one call (cudaMemcpyBatchAsync). For measurements of what a call for each bucket costs.
/// Needs CUDA 13. \pre group.all_reach()
/// \throws Error (unavailable) with an older CUDA; (device)
void exchange_in_batches(const multisort::DeviceGroup& group,
                         const std::vector<std::vector<multisort::plan::Transfer>>& by_source,
                         std::uint64_t key_bytes, std::uint64_t value_bytes,
                         const std::vector<RawItems>& from, const std::vector<RawItems>& to);

}  // namespace sortie::papers
