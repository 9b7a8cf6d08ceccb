// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/backends.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

// Replaces the cuda/ folder in builds without CUDA.
namespace sortie::spgemm::cuda {

template <Scalar Value, Index Idx>
BackendFunctions<Value, Idx> functions() {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_SPGEMM_INSTANTIATE_BACKEND)

}  // namespace sortie::spgemm::cuda
