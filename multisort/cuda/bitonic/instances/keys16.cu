#include "sortie/multisort/cuda/bitonic/sort_typed.cuh"

namespace sortie::multisort::bitonic {

void sort_keys16(const Request& request, cudaStream_t stream) {
  sort_typed<std::uint16_t>(request, stream);
}

}  // namespace sortie::multisort::bitonic
