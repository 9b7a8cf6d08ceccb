// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "multisort/cuda/device_group.hpp"

namespace sortie::multisort {

/// The NUMA node that is closest to a CUDA device, for OnNumaNode; -1 where it is not known.
[[nodiscard]] int numa_node_of(int ordinal);

/// Copies between pageable host memory and one device through two page-locked blocks: one is filled
/// while the other is copied. Not thread-safe.
class HostLink {
 public:
  /// \param ordinal  CUDA device; current in all calls
  explicit HostLink(int ordinal);
  ~HostLink();
  HostLink(HostLink&&) = delete;

  /// The host waits for the copy. Page-locked memory is copied directly.
  void copy(std::byte* device, std::byte* host, std::uint64_t bytes, bool to_device);

 private:
  static constexpr std::uint64_t block_bytes = std::uint64_t{4} << 20;

  struct Block {
    PinnedBuffer<std::byte> bytes;
    CudaEvent done;
  };

  CudaStream stream_;
  std::array<Block, 2> blocks_;
};

/// A range of an array, in host memory and on a logical device.
struct HostCopy {
  std::size_t device = 0;
  std::byte* on_device = nullptr;
  std::byte* on_host = nullptr;
  std::uint64_t bytes = 0;
};

/// Copies all ranges, and waits. The threads of a device run on its NUMA node, where their blocks are,
/// too. \param threads  shared by the devices; page-locked memory is copied by one for each device
void copy_by_threads(const DeviceGroup& group, const std::vector<HostCopy>& copies, bool to_device,
                     int threads);

}  // namespace sortie::multisort
