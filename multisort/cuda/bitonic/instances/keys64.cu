#include "sortie/multisort/cuda/bitonic/sort_typed.cuh"

namespace sortie::multisort::bitonic {

void sort_keys64(const Request& request, cudaStream_t stream) {
  sort_typed<std::uint64_t>(request, stream);
}

}  // namespace sortie::multisort::bitonic
