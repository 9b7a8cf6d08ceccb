#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/device_group.hpp"
#include "sortie/multisort/cuda/leading_digits.hpp"
#include "sortie/multisort/cuda/relay_kernels.hpp"

namespace sortie::multisort {

/// Moves the items of one device to their groups; those for other devices by way of a buffer of its
/// own, from which whole stretches of a group go over the link.
///
/// Written straight to another GPU, a tile's run of some ten items crosses the link in packets that
/// are hardly filled: on two H200s with 1024 groups 158 of the link's 450 GB/s each way, for runs
/// of 48 bytes. So the chunk is moved slice by slice, and while the next slice is moved, a few
/// blocks copy the last one's groups, some hundred KiB each, to where they belong. There are two
/// buffers, each for a slice, with 1/24 of the chunk's items at most where it is long.
///
/// A slice goes to all other devices side by side. One after the other, however rotated, devices do
/// not stay in step, and two of them would send to a third one while nobody sends to the fourth: on
/// four H200s copies then ran at 180 to 360 GB/s.
///
/// | buffer | bytes | lifetime |
/// |---|---|---|
/// | keys, values | 2 slices of items, and 16 for each group | the object's |
/// | lists | 2 * 28 for each group and array | the object's |
class Relay {
 public:
  /// \param device  its CUDA device is current in all calls
  Relay(const DeviceGroup& group, std::size_t device, const LeadingDigits::Share& share,
        std::uint64_t size, std::uint32_t tile, int key_bytes, int value_bytes);
  ~Relay();
  Relay(Relay&& other) noexcept;
  Relay& operator=(Relay&&) = delete;

  /// Whether no group goes by way of the relay is known before it allocates.
  [[nodiscard]] std::uint64_t bytes_wanted() const;
  /// \param key_destinations, value_destinations  as RelayArray::destinations, most_groups numbers
  void allocate(const std::vector<std::uint64_t>& key_destinations,
                const std::vector<std::uint64_t>& value_destinations);

  /// Puts the moves of the next slice on the device's work stream and its copies on the outgoing
  /// one. What comes on any device's work stream after wait_on_all() waits for them.
  ///
  /// Slice by slice, so that the host can see to all devices by turns: the last of four would else
  /// wait for some 500 launches on the others.
  /// \return false where none is left
  bool run_slice(const PartitionKernels& kernels, const MoveArguments& arguments,
                 const LeadingDigits::Share& share);
  void wait_on_all() const;

 private:
  static constexpr std::uint64_t most_slices = 24;
  /// Fewer tiles than this would not keep a GPU busy.
  static constexpr std::uint64_t tiles_of_slice = 1024;

  struct Buffer {
    DeviceBuffer<std::byte> keys;
    DeviceBuffer<std::byte> values;
    DeviceBuffer<RelayRun> runs;
    DeviceBuffer<std::uint32_t> blocks;
    cudaEvent_t copied = nullptr;
  };

  const DeviceGroup& group_;
  std::size_t device_;
  std::uint32_t tile_;
  int key_bytes_;
  int value_bytes_;
  std::uint32_t pieces_of_slice_;
  std::uint64_t slice_items_;
  std::uint32_t next_piece_ = 0;  ///< the first one of the next slice
  std::size_t turn_ = 0;          ///< buffer of the next slice
  DeviceBuffer<std::uint64_t> key_destinations_;
  DeviceBuffer<std::uint64_t> value_destinations_;
  std::array<Buffer, 2> buffers_;
};

}  // namespace sortie::multisort
