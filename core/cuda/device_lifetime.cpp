// SPDX-License-Identifier: Apache-2.0
#include "core/device_lifetime.hpp"

#include <cuda_runtime_api.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {

bool may_have_cuda_device() {
  // Of Linux, and of Linux within Windows.
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidiactl", ignored) ||
         std::filesystem::exists("/dev/dxg", ignored);
}

void start_device(int device, int threads) {
  check_cuda(cudaSetDevice(device));
  const DeviceBuffer<char> first(std::size_t{1} << 20, nullptr);
  constexpr std::size_t many_bytes = std::numeric_limits<std::size_t>::max() / 2;
  const TransferBlocks blocks(transfer_threads(many_bytes, threads, BesideTransfer::waits));
  check_cuda(cudaStreamSynchronize(nullptr));
}

DeviceIdentity device_identity(int device) {
  cudaDeviceProp properties = {};
  check_cuda(cudaGetDeviceProperties(&properties, device));
  DeviceIdentity identity;
  static_assert(sizeof(properties.uuid) == sizeof(identity));
  std::memcpy(identity.data(), &properties.uuid, sizeof(identity));
  return identity;
}

std::uint64_t free_device_memory(int device) {
  const CurrentDevice current(device);
  check_cuda(cudaDeviceSynchronize());
  return device_memory_free();
}

void end_device(int device) noexcept {
  if (cudaSetDevice(device) == cudaSuccess) static_cast<void>(cudaDeviceReset());
}

}  // namespace sortie
