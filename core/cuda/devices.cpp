#include "sortie/core/devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "sortie/core/cuda/check.hpp"

namespace sortie {

namespace {

/// cudaGetDeviceCount, with the reason when it finds none.
struct DeviceCount {
  int count = 0;
  cudaError_t status = cudaSuccess;

  DeviceCount() : status(cudaGetDeviceCount(&count)) {
    if (status == cudaSuccess) return;
    count = 0;
    static_cast<void>(cudaGetLastError());
  }
};

/// CUDA numbers versions as 1000 * major + 10 * minor.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// "580.82.07" from the kernel module; empty where it does not tell.
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

/// Memory of the current device is what CUDA tells; this makes each device current in turn.
class CurrentDevice {
 public:
  CurrentDevice() { check_cuda(cudaGetDevice(&previous_)); }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(previous_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

DeviceInfo info_of(int ordinal) {
  cudaDeviceProp properties = {};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal));
  check_cuda(cudaSetDevice(ordinal));
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

cudaMemPool_t pool_of(int device) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

}  // namespace

bool built_with_cuda() {
  return true;
}

int cuda_device_count() {
  return DeviceCount().count;
}

std::vector<DeviceInfo> cuda_devices() {
  const int count = cuda_device_count();
  if (count == 0) return {};
  const CurrentDevice restore;
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
    return fmt::format("no NVIDIA driver was found that serves CUDA {}", cuda_toolkit_version());
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

std::uint64_t peak_device_memory(int device) {
  if (cuda_device_count() == 0) return 0;
  std::uint64_t bytes = 0;
  check_cuda(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrUsedMemHigh, &bytes));
  return bytes;
}

void reset_peak_device_memory(int device) {
  if (cuda_device_count() == 0) return;
  std::uint64_t zero = 0;
  check_cuda(cudaMemPoolSetAttribute(pool_of(device), cudaMemPoolAttrUsedMemHigh, &zero));
}

}  // namespace sortie
