// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cuda/pinned_buffer.hpp"
#include "multisort/cuda/device_group.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::multisort {

/// Whether host memory is page-locked. Copies of page-locked memory run asynchronously on streams,
/// at bus speed.
[[nodiscard]] bool is_page_locked(const void* host);

/// Copies between pageable host memory and one device through two page-locked blocks: one is filled
/// while the other is copied. Not thread-safe.
class HostLink {
 public:
  /// \param ordinal  CUDA device; current in all calls
  explicit HostLink(int ordinal);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  /// The host waits for the copy. Page-locked memory is copied directly.
  void to_device(void* device, const void* host, std::uint64_t bytes);
  void to_host(void* host, const void* device, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t block_bytes = std::uint64_t{4} << 20;

  struct Block {
    PinnedBuffer<std::byte> bytes;
    cudaEvent_t done = nullptr;
  };
  /// Allocates the blocks on first use: page-locking is slow, and page-locked memory needs none.
  void prepare_blocks();

  cudaStream_t stream_ = nullptr;
  std::array<Block, 2> blocks_;
};

/// A range of an array, in host memory and on a logical device.
struct HostCopy {
  std::size_t device = 0;
  void* on_device = nullptr;
  void* on_host = nullptr;
  std::uint64_t bytes = 0;
};

/// Copies all ranges with several threads, each with its own link, and waits.
/// \param threads  total number of threads; each device gets at least one
void copy_by_threads(const DeviceGroup& group, const std::vector<HostCopy>& copies, bool to_device,
                     int threads);

}  // namespace sortie::multisort
