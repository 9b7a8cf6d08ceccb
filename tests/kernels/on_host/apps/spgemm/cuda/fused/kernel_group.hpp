// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

/// Replaces the launches of the fused product on the host, where tests run the kernels themselves:
/// declared, so that the headers that hold kernels and launches can be compiled.
namespace sortie::spgemm::cuda {

class KernelGroup {
 public:
  explicit KernelGroup(cudaStream_t stream);

  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), unsigned blocks, int threads, std::size_t bytes,
              const Arguments&... arguments);
};

}  // namespace sortie::spgemm::cuda
