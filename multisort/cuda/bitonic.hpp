#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// The in-place bitonic network of Capannini et al. on one device, with constant extra memory. Not
/// stable. A ChunkSort. \throws Error (usage) more than one chunk that is not empty
void bitonic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request);

}  // namespace sortie::multisort
