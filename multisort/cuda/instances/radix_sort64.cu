#include "sortie/multisort/cuda/device_radix_sort_definition.cuh"

namespace sortie::multisort {
template cudaError_t radix_sort_of<std::uint64_t>(void* temp, std::size_t& temp_bytes,
                                                  RadixBuffers& buffers, std::uint64_t n,
                                                  int value_bytes, int begin_bit, int end_bit,
                                                  cudaStream_t stream);
}  // namespace sortie::multisort
