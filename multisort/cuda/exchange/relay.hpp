// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::multisort {

/// A contiguous copy from a relay's buffer to another device. Both addresses are congruent modulo
/// 16.
struct RelayRun {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

/// Moves the items of one device to their groups. Items for other devices are gathered in a local
/// buffer first and cross the link in large contiguous ranges.
///
/// A tile's run of some ten items would cross the link in small packets: on two H200s with 1024
/// groups at 158 of the link's 450 GB/s each way, for runs of 48 bytes. So the chunk is moved slice
/// by slice, and while the next slice is moved, a few blocks copy the groups of the last slice, some
/// hundred KiB each. There are two buffers; a slice of a long chunk has 1/24 of its items.
///
/// A slice is copied to all other devices at once. With one destination after the other, in any
/// rotation, devices lose step: two send to a third one while none sends to the fourth. On four
/// H200s copies then ran at 180 to 360 GB/s.
///
/// | buffer | bytes | lifetime |
/// |---|---|---|
/// | keys, values | 2 slices of items, and 2 * 32 for each group and array | the object's |
/// | lists | 2 * 28 for each group and array | the object's |
class Relay {
 public:
  /// \param device  its CUDA device is current in all calls
  Relay(const DeviceGroup& group, std::size_t device, const GroupCounts& share, std::uint64_t size,
        const PartitionKernels& kernels, int key_bytes, int value_bytes);

  [[nodiscard]] std::uint64_t bytes_wanted() const;
  /// \param key_destinations, value_destinations  see RelayArray::destinations; most_groups numbers
  void allocate(const std::vector<std::uint64_t>& key_destinations,
                const std::vector<std::uint64_t>& value_destinations);

  /// Enqueues the moves of the next slice on the device's work stream and its copies on the
  /// outgoing one. After wait_on_all(), later work on every work stream waits for them.
  ///
  /// The host calls this for all devices in rotation. Otherwise the last of four devices would wait
  /// for some 500 launches on the others.
  /// \return false if no slice is left
  bool run_slice(const MoveArguments& arguments);
  void wait_on_all() const;

 private:
  static constexpr std::uint64_t most_slices = 24;
  /// Least tiles per slice: fewer do not occupy a GPU.
  static constexpr std::uint64_t tiles_per_slice = 1024;

  struct Buffer {
    DeviceBuffer<std::byte> keys;
    DeviceBuffer<std::byte> values;
    DeviceBuffer<RelayRun> runs;
    DeviceBuffer<std::uint32_t> blocks;
    CudaEvent copied;
  };

  const DeviceGroup& group_;
  std::size_t device_;
  const GroupCounts& share_;
  const PartitionKernels& kernels_;
  int key_bytes_;
  int value_bytes_;
  std::uint32_t batches_per_slice_;
  std::uint64_t slice_items_;
  std::uint32_t next_batch_ = 0;  ///< first batch of the next slice
  std::size_t next_buffer_ = 0;   ///< buffer index of the next slice
  DeviceBuffer<std::uint64_t> key_destinations_;
  DeviceBuffer<std::uint64_t> value_destinations_;
  std::array<Buffer, 2> buffers_;
};

}  // namespace sortie::multisort
