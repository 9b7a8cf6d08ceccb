#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/device_group.hpp"

namespace sortie::multisort {

/// Whether host memory is page-locked, so that copies of it run at the speed of the bus by
/// themselves and can be put on streams.
[[nodiscard]] bool is_page_locked(const void* host);

/// Copies between pageable host memory and one device, by way of two page-locked blocks: one is
/// filled while the other one is on its way. Belongs to one thread.
class HostLink {
 public:
  /// \param ordinal  CUDA device; current in all calls
  explicit HostLink(int ordinal);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  /// The host waits for the copy. Page-locked memory is copied straight.
  void to_device(void* device, const void* host, std::uint64_t bytes);
  void to_host(void* host, const void* device, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t block_bytes = std::uint64_t{4} << 20;

  struct Block {
    PinnedBuffer<std::byte> bytes;
    cudaEvent_t done = nullptr;
  };
  /// Page-locking takes its time, and page-locked memory needs no blocks.
  void prepare_blocks();

  cudaStream_t stream_ = nullptr;
  std::array<Block, 2> blocks_;
};

/// A stretch of an array, in host memory and on a logical device.
struct HostCopy {
  std::size_t device = 0;
  void* on_device = nullptr;
  void* on_host = nullptr;
  std::uint64_t bytes = 0;
};

/// Copies all stretches by several threads, each with a link, and waits.
/// \param threads  in all; each device gets one at least
void copy_by_threads(const DeviceGroup& group, const std::vector<HostCopy>& copies, bool to_device,
                     int threads);

}  // namespace sortie::multisort
