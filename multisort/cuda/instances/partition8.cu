#include "sortie/multisort/cuda/partition_definition.cuh"

namespace sortie::multisort {
template const PartitionKernels& kernels_of<std::uint8_t>(int value_bytes);
}  // namespace sortie::multisort
