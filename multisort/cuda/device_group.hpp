// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/phase_timer.hpp"
#include "sortie/context.hpp"
#include "sortie/sort.hpp"

namespace sortie::multisort {

/// Logical devices, each on a CUDA device. Several may share a CUDA device, so code for several
/// GPUs also runs on one.
///
/// A logical device has a work stream and a copy stream for each direction, which do not synchronise
/// with the default stream. Where the machine allows it, each device gets access to the memory of
/// the others: to allocations of cudaMalloc and of the pools that DeviceBuffer uses.
/// The destructor does not wait: work on the streams must have finished.
class DeviceGroup {
 public:
  /// \param ordinals   CUDA device of each logical device
  /// \param transport  staged: no peer access, not even between logical devices on one GPU
  /// \throws Error (usage) no device; (unavailable) no such CUDA device, or no peer access with
  ///         Transport::peer; (device)
  explicit DeviceGroup(const std::vector<int>& ordinals,
                       Transport transport = Transport::automatic);

  [[nodiscard]] std::size_t size() const { return devices_.size(); }
  [[nodiscard]] int ordinal(std::size_t device) const { return devices_[device].ordinal; }

  /// For kernels, and for copies in order with them.
  [[nodiscard]] cudaStream_t stream(std::size_t device) const {
    return devices_[device].work.get();
  }
  /// For copies from the host or from other devices to this one.
  [[nodiscard]] cudaStream_t stream_in(std::size_t device) const {
    return devices_[device].in.get();
  }
  /// For copies from this device to the host or to others. It has a higher priority than the work
  /// stream.
  [[nodiscard]] cudaStream_t stream_out(std::size_t device) const {
    return devices_[device].out.get();
  }

  /// Whether kernels and copies of `from` may access the memory of `to`.
  [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const {
    return reach_[from * size() + to];
  }
  [[nodiscard]] bool all_reach() const {
    return std::all_of(reach_.begin(), reach_.end(), [](bool reached) { return reached; });
  }

  [[nodiscard]] CurrentDevice current(std::size_t device) const {
    return CurrentDevice(ordinal(device));
  }

  /// Later work on `waiting`, a stream of any device, waits for the work on `stream`, a stream of
  /// `device`. The host does not wait.
  void wait(cudaStream_t waiting, std::size_t device, cudaStream_t stream) const;
  /// Later work on each work stream waits for the work on all others. The host does not wait.
  void barrier() const;
  /// The host waits for all streams of all devices. \throws Error (device)
  void synchronise() const;

 private:
  struct Device {
    int ordinal = 0;
    CudaStream work;
    CudaStream in;
    CudaStream out;
    CudaEvent event;  ///< of barrier() and wait()
  };

  std::vector<Device> devices_;
  std::vector<bool> reach_;
};

/// Times a phase of work on a group. Only with a report the host waits for the group at its end.
class GroupPhase {
 public:
  GroupPhase(const Context& context, const DeviceGroup& group, std::string_view name,
             std::uint64_t bytes = 0)
      : group_(context.report == nullptr ? nullptr : &group), timer_(context, name, bytes) {}
  /// Ends the phase. Without this call the phase ends with the scope, and device errors are
  /// reported later.
  void stop() {
    if (group_ != nullptr) group_->synchronise();
    timer_.stop();
  }

 private:
  const DeviceGroup* group_;
  PhaseTimer timer_;
};

/// Runs `work`, then waits for the group. If it throws, waits for the group before the exception
/// leaves: buffers must not be freed while other devices use them.
template <class Work>
void run_to_the_end(const DeviceGroup& group, const Work& work) {
  try {
    work();
  } catch (...) {
    try {
      group.synchronise();
    } catch (...) {  // the first error is rethrown below
    }
    throw;
  }
  group.synchronise();
}

}  // namespace sortie::multisort
