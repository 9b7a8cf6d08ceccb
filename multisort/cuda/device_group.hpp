#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/multisort/multisort.hpp"

namespace sortie::multisort {

/// Makes a CUDA device current for a scope and restores the previous one after it.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

/// Logical devices, each on a CUDA device; several may share one, so that everything that runs over
/// several GPUs also runs, in the same way, where there is only one.
///
/// A logical device has a stream for its work and one for copies in each direction; none of them
/// synchronises with the default stream. Where a device can, it gets access to the memory of the
/// others: to what cudaMalloc gave and to their default pools, where DeviceBuffer takes memory.
/// The group does not wait for anything when it ends: what was put on its streams must be done.
class DeviceGroup {
 public:
  /// \param ordinals   CUDA device of each logical device, one at least
  /// \param transport  automatic: peer access wherever there is some; peer: everywhere; staged:
  ///                   nowhere, not even between logical devices on one GPU
  /// \throws Error (usage) no device; (unavailable) a device that is not there, or without the peer
  ///         access asked for; (device)
  explicit DeviceGroup(const std::vector<int>& ordinals,
                       Transport transport = Transport::automatic);
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  [[nodiscard]] std::size_t size() const { return devices_.size(); }
  [[nodiscard]] int ordinal(std::size_t device) const { return devices_[device].ordinal; }

  /// For kernels, and for copies that they wait for.
  [[nodiscard]] cudaStream_t stream(std::size_t device) const { return devices_[device].work; }
  /// For copies from the host or from other devices to this one.
  [[nodiscard]] cudaStream_t stream_in(std::size_t device) const { return devices_[device].in; }
  /// For copies from this device to the host or to others. Kernels on it go before those of the
  /// work stream.
  [[nodiscard]] cudaStream_t stream_out(std::size_t device) const { return devices_[device].out; }

  /// Whether kernels and copies of `from` may touch the memory of `to`.
  [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const {
    return reach_[from * size() + to];
  }
  /// Whether every device reaches every other.
  [[nodiscard]] bool all_reach() const;

  /// Makes the CUDA device of a logical device current.
  [[nodiscard]] CurrentDevice current(std::size_t device) const {
    return CurrentDevice(ordinal(device));
  }

  /// Lets what comes on `waiting`, a stream of any of the devices, wait for what is on `stream`, a
  /// stream of `device`. The host does not wait.
  void wait(cudaStream_t waiting, std::size_t device, cudaStream_t stream) const;
  /// Lets what comes on any device's work stream wait for what is on those of all others. The host
  /// does not wait.
  void barrier() const;
  /// The host waits for all streams of all devices. \throws Error (device) what went wrong there
  void synchronise() const;

 private:
  struct Device {
    int ordinal = 0;
    cudaStream_t work = nullptr;
    cudaStream_t in = nullptr;
    cudaStream_t out = nullptr;
    cudaEvent_t event = nullptr;  ///< of barrier() and wait()
  };

  void connect(Transport transport);
  void release() noexcept;

  std::vector<Device> devices_;
  std::vector<bool> reach_;
};

/// The CUDA devices that `devices` logical ones run on: GPUs in turn, context.device first; 0: one
/// for each GPU. \throws Error (usage) a number that is none; (unavailable) no GPU
[[nodiscard]] std::vector<int> spread_over_gpus(const Context& context, int devices);

}  // namespace sortie::multisort
