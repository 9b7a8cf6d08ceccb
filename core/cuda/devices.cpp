// SPDX-License-Identifier: Apache-2.0
#include "sortie/devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/error.hpp"

namespace sortie {

namespace {

/// The result of cudaGetDeviceCount, and its status if it finds no device.
struct DeviceCount {
  int count = 0;
  cudaError_t status = cudaSuccess;

  DeviceCount() : status(cudaGetDeviceCount(&count)) {
    if (status == cudaSuccess) return;
    count = 0;
    static_cast<void>(cudaGetLastError());
  }
};

/// CUDA encodes versions as 1000 * major + 10 * minor.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Driver version from the kernel module, e.g. "580.82.07"; empty if it is not available.
std::string kernel_driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return {};
}

DeviceInfo info_of(int ordinal) {
  cudaDeviceProp properties = {};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal));
  const CurrentDevice current(ordinal);  // cudaMemGetInfo reports on the current device
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  return {.ordinal = ordinal,
          .name = properties.name,
          .compute_major = properties.major,
          .compute_minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_total = total,
          .memory_free = free};
}

}  // namespace

std::string describe(std::source_location where) {
  // The folder is that of the build machine, which is of no use in a message.
  std::string_view file = where.file_name();
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

void check_cuda(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  // Clears errors that are not sticky, which the next unrelated check would report again.
  static_cast<void>(cudaGetLastError());
  const ErrorKind kind =
      status == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory : ErrorKind::device;
  throw Error(kind,
              fmt::format("{}: found {} ({}), expected the CUDA call to succeed", describe(where),
                          cudaGetErrorName(status), cudaGetErrorString(status)));
}

bool built_with_cuda() {
  return true;
}

int cuda_device_count() {
  return DeviceCount().count;
}

std::vector<DeviceInfo> cuda_devices() {
  const int count = cuda_device_count();
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(info_of(ordinal));
  return devices;
}

std::string why_no_cuda() {
  const DeviceCount devices;
  if (devices.count > 0) return {};
  if (devices.status == cudaSuccess || devices.status == cudaErrorNoDevice)
    return "no CUDA device was found";
  if (devices.status == cudaErrorInsufficientDriver)
    return fmt::format("no NVIDIA driver was found that supports CUDA {}", cuda_toolkit_version());
  return fmt::format("{} ({})", cudaGetErrorString(devices.status),
                     cudaGetErrorName(devices.status));
}

std::string cuda_toolkit_version() {
  return version_text(CUDART_VERSION);
}

std::string cuda_driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return {};
  const std::string kernel = kernel_driver_version();
  return kernel.empty() ? fmt::format("CUDA {}", version_text(version))
                        : fmt::format("{} (CUDA {})", kernel, version_text(version));
}

namespace {

/// An attribute of the library's pool in bytes; 0 before the pool exists.
std::uint64_t pool_bytes(int device, cudaMemPoolAttr attribute) {
  const cudaMemPool_t pool = existing_device_pool(device);
  if (pool == nullptr) return 0;
  std::uint64_t bytes = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, attribute, &bytes));
  return bytes;
}

}  // namespace

std::uint64_t peak_device_memory(int device) {
  return pool_bytes(device, cudaMemPoolAttrUsedMemHigh);
}

std::uint64_t device_memory_in_use(int device) {
  return pool_bytes(device, cudaMemPoolAttrUsedMemCurrent);
}

void reset_peak_device_memory(int device) {
  const cudaMemPool_t pool = existing_device_pool(device);
  if (pool == nullptr) return;
  std::uint64_t zero = 0;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
}

}  // namespace sortie
