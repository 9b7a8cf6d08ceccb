// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "multisort/plan/sampled_groups.hpp"

namespace sortie::multisort {

/// Takes a sample of the keys of all chunks, encoded and sorted: 2^16 keys of each chunk, of which
/// some thousand, evenly spaced in their order, are copied to the host. Waits for the devices.
///
/// | buffer, on each device | bytes | lifetime |
/// |---|---|---|
/// | sample | 2^16 keys, twice | the call |
/// | temporary | temporary storage of CUB's radix sort | the call |
///
/// \pre keys have 4 or 8 bytes
[[nodiscard]] std::vector<plan::SampledKey> sample_keys(const DeviceGroup& group,
                                                        const ChunkRequest& request,
                                                        const PartitionKernels& kernels);

}  // namespace sortie::multisort
