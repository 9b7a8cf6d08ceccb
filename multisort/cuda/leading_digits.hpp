#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/cuda/partition_kernels.hpp"
#include "sortie/multisort/plan/radix_partition.hpp"

namespace sortie::multisort {

/// Counts the leading digits of chunks on their devices, until a plan asks no more.
///
/// | buffer, on each device | numbers | lifetime |
/// |---|---|---|
/// | piece_rows | most_groups for each of at most 2048 pieces of the chunk | the object's |
/// | tile_rows | most_groups for each tile, where items are moved stably | the object's |
/// | totals, range | most_groups, 2 | the object's |
/// | counts of refinements | 2^digit_bits for each bucket looked into | one round |
class LeadingDigits {
 public:
  struct Share {
    std::uint32_t tiles_of_piece = 1;
    std::uint32_t pieces = 0;
    DeviceBuffer<std::uint64_t> piece_rows;
    DeviceBuffer<std::uint32_t> tile_rows;
    DeviceBuffer<std::uint64_t> totals;
    DeviceBuffer<std::uint64_t> range;
  };

  /// \param digit_bits  bits looked at in one pass; at most most_groups values
  LeadingDigits(const DeviceGroup& group, const ChunkRequest& request, int digit_bits);

  /// Counts the first digit of a device's items up to `end`, from where the last call ended; the
  /// work is put on its work stream. For chunks that come piece by piece; else plan() does it.
  void count_up_to(std::size_t device, std::uint64_t end);

  /// The first digit shall be the leading one of the `bits` low bits, for a sample says that keys
  /// agree in all others. \pre nothing is counted yet
  void set_first_digit(int bits);

  /// Counts until the borders between the chunks are found, to within `padding` items. Waits for
  /// the devices.
  /// \param always_divide, largest_moved  as plan::PartitionProblem says
  /// \return nothing where all keys are equal, or there are none
  [[nodiscard]] std::optional<plan::RadixPartition> plan(std::uint64_t padding, bool always_divide,
                                                         std::uint64_t largest_moved);

  /// The first digit that plan() settled on.
  [[nodiscard]] const GroupLookup& first_lookup() const { return lookup_; }
  /// Counts by other groups, for the rows.
  void count_groups(std::size_t device, const GroupLookup& lookup);
  /// What was counted last: for each device, the items of each of the first `groups` groups. Waits
  /// for the devices.
  [[nodiscard]] std::vector<std::uint64_t> totals(std::size_t groups);
  /// What was counted of a device's items.
  [[nodiscard]] Share& share(std::size_t device) { return shares_[device]; }

  [[nodiscard]] const PartitionKernels& kernels() const { return kernels_; }
  [[nodiscard]] const KeyOrder& order() const { return order_; }
  [[nodiscard]] int key_bits() const { return key_bits_; }

 private:
  /// The keys of all devices.
  struct Range {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t greatest = 0;
  };

  void count(std::size_t device, std::uint32_t first_piece, std::uint32_t end_piece,
             const GroupLookup& lookup, bool with_range);
  [[nodiscard]] Range range();
  [[nodiscard]] std::vector<std::uint64_t> refine(const std::vector<plan::Refinement>& wanted);

  const DeviceGroup& group_;
  const ChunkRequest& request_;
  KeyOrder order_;
  int key_bits_;
  int digit_bits_;
  int first_digit_end_ = 0;  ///< bit behind the first digit
  const PartitionKernels& kernels_;
  GroupLookup lookup_;
  std::vector<Share> shares_;
  std::vector<std::uint32_t> counted_pieces_;
};

}  // namespace sortie::multisort
