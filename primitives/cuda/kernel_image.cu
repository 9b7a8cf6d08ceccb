// SPDX-License-Identifier: Apache-2.0
#include "primitives/cuda/kernel_image.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace sortie {
namespace {

/// Represents all kernels, since all are compiled for the same architectures.
__global__ void any_kernel() {}

/// Devices whose answer is kept. Others are asked each time.
constexpr std::size_t most_devices = 64;

enum class Answer : signed char { unknown, no, yes };

}  // namespace

cudaError_t query_dependent_launch(bool& supported) {
  static std::array<std::atomic<Answer>, most_devices> answers{};
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  const auto index = static_cast<std::size_t>(device);
  const Answer known =
      index < most_devices ? answers[index].load(std::memory_order_relaxed) : Answer::unknown;
  if (known != Answer::unknown) {
    supported = known == Answer::yes;
    return cudaSuccess;
  }
  cudaFuncAttributes found{};
  status = cudaFuncGetAttributes(&found, any_kernel);
  if (status != cudaSuccess) return status;
  supported = found.ptxVersion >= 90;
  if (index < most_devices)
    answers[index].store(supported ? Answer::yes : Answer::no, std::memory_order_relaxed);
  return cudaSuccess;
}

}  // namespace sortie
