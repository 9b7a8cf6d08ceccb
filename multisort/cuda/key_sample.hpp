#pragma once

#include <vector>

#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/cuda/partition_kernels.hpp"
#include "sortie/multisort/plan/sampled_groups.hpp"

namespace sortie::multisort {

/// Takes a sample of the keys of all chunks, encoded and sorted: 2^16 keys of each chunk, of which
/// some thousand, evenly spaced in their order, come to the host. Waits for the devices.
///
/// | buffer, on each device | bytes | lifetime |
/// |---|---|---|
/// | sample | 2^16 keys, twice | the call |
/// | temporary | what CUB's radix sort of them wants | the call |
///
/// \pre keys have 4 or 8 bytes
[[nodiscard]] std::vector<plan::SampledKey> sample_keys(const DeviceGroup& group,
                                                        const ChunkRequest& request,
                                                        const PartitionKernels& kernels);

}  // namespace sortie::multisort
