// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "multisort/plan/sampled_groups.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/device_buffer.hpp"

/// The kernels of a partition by leading digits, type erased. They count the digits of the keys of
/// one device, and move its items to their groups, in any reachable memory.

namespace sortie::multisort {

/// Most groups of one pass. With more groups the local sort would save a pass for longer chunks,
/// but the runs of items that a tile writes would be shorter.
inline constexpr std::uint32_t most_groups = 1024;

/// The look-up from an encoded key to its group.
struct GroupLookup {
  /// Whether one digit is the group: (key >> shift) & mask.
  bool direct = true;
  int shift = 0;
  std::uint32_t mask = 0;
  /// Else the tables of a plan::KeyTree in device memory, and a copy of its root. The number of
  /// entries is a multiple of 8; they are aligned to 16 bytes.
  const plan::KeyTree::Node* nodes = nullptr;
  const std::uint16_t* entries = nullptr;
  std::uint32_t node_count = 0;
  std::uint32_t entry_count = 0;
  plan::KeyTree::Node root;
  int mantissa_bits = 0;
};

/// Counts the groups, in batches of tiles.
struct CountArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  GroupLookup lookup;
  std::uint32_t tiles_per_batch = 1;
  std::uint32_t first_batch = 0;  ///< counts batches [first_batch, end_batch)
  std::uint32_t end_batch = 0;
  /// Items of each group in each batch: most_groups numbers per batch.
  std::uint64_t* batch_rows = nullptr;
  /// Items of each group in the batch before each tile: most_groups numbers per tile; may be null.
  std::uint32_t* tile_rows = nullptr;
  /// The least and the greatest encoded key; the caller sets them to ~0 and 0 before.
  std::uint64_t* range = nullptr;
};

/// The counts of a device's items by group; CountArguments says what they hold.
struct GroupCounts {
  std::uint32_t tiles_per_batch = 1;
  std::uint32_t batches = 0;
  DeviceBuffer<std::uint64_t> batch_rows;
  DeviceBuffer<std::uint32_t> tile_rows;
  DeviceBuffer<std::uint64_t> totals;
  DeviceBuffer<std::uint64_t> range;
};

/// Most buckets that one launch refines.
inline constexpr int most_refinements = 16;

/// Counts the digits of the keys with certain prefixes.
struct RefineArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  int shift = 0;       ///< lowest bit of the digit
  int digit_bits = 0;  ///< bits of the digit, which follows the prefix
  int refinements = 0;
  std::uint64_t prefixes[most_refinements] = {};
  std::uint64_t* counts = nullptr;  ///< 2^digit_bits numbers for each prefix, zero before
};

struct SampleArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  std::uint32_t samples = 0;  ///< at most `size`
  /// True: one key from a pseudo-random place in each of `samples` ranges, so that periodic keys do
  /// not bias the sample. False: evenly spaced keys, including the first and the last.
  bool scattered = false;
  void* sample = nullptr;  ///< encoded keys, of the same width
};

/// No group; for MoveArguments::heavy_hitter.
inline constexpr std::uint32_t no_group = ~0u;

struct MoveArguments {
  const void* keys = nullptr;
  const void* values = nullptr;
  std::uint64_t size = 0;
  std::uint64_t first_tile = 0;  ///< the tiles to move are [first_tile, end_tile)
  std::uint64_t end_tile = 0;
  KeyOrder order;
  GroupLookup lookup;
  /// A group with many of the device's keys: its keys are counted per warp. Used with tables only.
  std::uint32_t heavy_hitter = no_group;
  std::uint32_t tiles_per_batch = 1;
  /// Destination of this device's first key of each group. With keys alone the kernel advances
  /// these addresses atomically.
  std::uint64_t* key_places = nullptr;
  std::uint64_t* value_places = nullptr;      ///< the same for values
  const std::uint64_t* batch_rows = nullptr;  ///< with values: items in the batches before
  const std::uint32_t* tile_rows = nullptr;   ///< with values
};

/// The kernels for a key width and a value size. All are launched on the current device.
struct PartitionKernels {
  std::uint32_t tile = 0;  ///< items per tile; one block moves one tile
  cudaError_t (*count)(const CountArguments& arguments, std::uint32_t tile, cudaStream_t stream);
  cudaError_t (*refine)(const RefineArguments& arguments, cudaStream_t stream);
  cudaError_t (*sample)(const SampleArguments& arguments, cudaStream_t stream);
  /// Stable with values.
  cudaError_t (*move)(const MoveArguments& arguments, cudaStream_t stream);
  /// Encodes or decodes `n` keys in place.
  cudaError_t (*encode)(void* keys, std::uint64_t n, KeyOrder order, bool decode,
                        cudaStream_t stream);
};

[[nodiscard]] const PartitionKernels& partition_kernels(int key_bytes, int value_bytes);

/// Replaces the rows of `batches` batches by their exclusive prefix sums, and writes the totals.
cudaError_t sum_batches(std::uint64_t* batch_rows, std::uint32_t batches, std::uint64_t* totals,
                        cudaStream_t stream);

}  // namespace sortie::multisort
