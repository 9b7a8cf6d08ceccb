// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "multisort/plan/radix_partition.hpp"
#include "multisort/plan/sampled_groups.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie::multisort {

/// Samples the keys of chunks on their devices, and counts their leading digits until the plan is
/// complete.
///
/// | buffer, on each device | numbers | lifetime |
/// |---|---|---|
/// | batch_rows | most_groups for each of at most 2048 batches of tiles | the object's |
/// | tile_rows | most_groups for each tile, if items have values and moves are stable | the
/// object's |
/// | totals, range | most_groups, 2 | the object's |
/// | counts of refinements | 2^digit_bits for each refined bucket | one round |
/// | sample | 2^16 keys, twice, and temporary storage of CUB's radix sort | sample() |
class LeadingDigits {
 public:
  struct Share {
    std::uint32_t tiles_per_batch = 1;
    std::uint32_t batches = 0;
    DeviceBuffer<std::uint64_t> batch_rows;
    DeviceBuffer<std::uint32_t> tile_rows;
    DeviceBuffer<std::uint64_t> totals;
    DeviceBuffer<std::uint64_t> range;
  };

  /// \param digit_bits  bits counted in one pass; 2^digit_bits is at most most_groups
  LeadingDigits(const DeviceGroup& group, const ChunkRequest& request, int digit_bits);

  /// Takes a sample of the keys of all chunks, encoded and sorted: 2^16 keys of each chunk, of which
  /// some thousand, evenly spaced in their order, are copied to the host. Waits for the devices.
  /// \pre keys have 4 or 8 bytes
  [[nodiscard]] std::vector<plan::SampledKey> sample() const;

  /// Counts the first digit of a device's items from the end of the last call up to `end`, on the
  /// device's work stream. For chunks that arrive in parts; plan() counts the rest.
  void count_up_to(std::size_t device, std::uint64_t end);

  /// Sets the first digit to the leading one of the `bits` low bits: according to a sample, keys
  /// agree in all others. \pre nothing is counted yet
  void set_first_digit(int bits);

  /// Counts until the borders between the chunks are found. Waits for the devices.
  /// \return nothing if all keys are equal, or there are none
  [[nodiscard]] std::optional<plan::RadixPartition> plan(const plan::BorderTolerance& tolerance);

  /// The first digit that plan() has chosen.
  [[nodiscard]] const GroupLookup& first_lookup() const { return lookup_; }
  /// Counts again, by other groups; replaces the rows.
  void count_groups(std::size_t device, const GroupLookup& lookup);
  /// The last counts: for each device, the items of each of the first `groups` groups. Waits for
  /// the devices.
  [[nodiscard]] std::vector<std::uint64_t> totals(std::size_t groups);
  /// The counts of a device's items.
  [[nodiscard]] Share& share(std::size_t device) { return shares_[device]; }

  [[nodiscard]] const PartitionKernels& kernels() const { return kernels_; }
  [[nodiscard]] const KeyOrder& order() const { return order_; }
  [[nodiscard]] int key_bits() const { return key_bits_; }

 private:
  /// Least and greatest encoded key of all devices.
  struct Range {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t greatest = 0;
  };

  void count(std::size_t device, std::uint32_t first_batch, std::uint32_t end_batch,
             const GroupLookup& lookup, bool with_range);
  [[nodiscard]] Range range();
  [[nodiscard]] std::vector<std::uint64_t> refine(const std::vector<plan::Refinement>& wanted);

  const DeviceGroup& group_;
  const ChunkRequest& request_;
  KeyOrder order_;
  int key_bits_;
  int digit_bits_;
  int first_digit_end_ = 0;  ///< number of low bits up to the end of the first digit
  const PartitionKernels& kernels_;
  GroupLookup lookup_;
  std::vector<Share> shares_;
  std::vector<std::uint32_t> counted_batches_;
};

}  // namespace sortie::multisort
