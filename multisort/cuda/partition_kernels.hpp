#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/multisort/key_types.hpp"
#include "sortie/multisort/plan/sampled_groups.hpp"

/// The kernels of a partition by leading digits, type erased: they count the digits of the keys of
/// one device, and move its items to their groups, wherever in reachable memory these lie.

namespace sortie::multisort {

/// Groups that the items of a device are moved to in one pass, at most. More of them would save the
/// local sort a pass for longer chunks, but runs of items that leave a tile together get shorter.
inline constexpr std::uint32_t most_groups = 1024;

/// Order of keys, and direction.
struct KeyOrder {
  bool is_float = false;
  bool has_sign = false;
  bool descending = false;

  [[nodiscard]] static KeyOrder of(KeyType type, Order order) {
    const sortie::KeyType kind = kind_of(type);
    return {kind == sortie::KeyType::f64, kind != sortie::KeyType::u64, order == Order::descending};
  }
  /// Keys are compared as they are.
  [[nodiscard]] bool plain() const { return !has_sign && !descending; }
};

/// Leads from an encoded key to its group.
struct GroupLookup {
  /// One digit is the group: (key >> shift) & mask.
  bool direct = true;
  int shift = 0;
  std::uint32_t mask = 0;
  /// Else, the tables of a plan::KeyTree, in device memory, and its root once more. The number of
  /// entries is a multiple of 8, and they begin at one of 16 bytes.
  const plan::KeyTree::Node* nodes = nullptr;
  const std::uint16_t* entries = nullptr;
  std::uint32_t node_count = 0;
  std::uint32_t entry_count = 0;
  plan::KeyTree::Node root;
  int mantissa_bits = 0;
};

/// Counting, in pieces of `tiles_of_piece` tiles each.
struct CountArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  GroupLookup lookup;
  std::uint32_t tiles_of_piece = 1;
  std::uint32_t first_piece = 0;  ///< the pieces to count are [first_piece, end_piece)
  std::uint32_t end_piece = 0;
  /// Items of each group in each piece: most_groups numbers a piece.
  std::uint64_t* piece_rows = nullptr;
  /// Items of each group in the piece before each tile: most_groups numbers a tile; may be null.
  std::uint32_t* tile_rows = nullptr;
  /// The least and the greatest encoded key; the caller sets them to ~0 and 0 before.
  std::uint64_t* range = nullptr;
};

/// Buckets that are looked into, at most, in one launch.
inline constexpr int most_refinements = 16;

/// Counting of the digits of keys that have certain prefixes.
struct RefineArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  int shift = 0;       ///< of the digit
  int digit_bits = 0;  ///< that lie below the prefix
  int refinements = 0;
  std::uint64_t prefixes[most_refinements] = {};
  std::uint64_t* counts = nullptr;  ///< 2^digit_bits numbers for each prefix, zero before
};

/// Taking a sample, in the order that keys shall have.
struct SampleArguments {
  const void* keys = nullptr;
  std::uint64_t size = 0;
  KeyOrder order;
  std::uint32_t samples = 0;  ///< at most `size`
  /// From a place of its own in each of as many stretches, so that what repeats itself in the keys
  /// is met; else evenly spaced, the first key and the last one among them.
  bool scattered = false;
  void* sample = nullptr;  ///< encoded keys, of the same width
};

/// No group; as MoveArguments::hot_group.
inline constexpr std::uint32_t no_group = ~0u;

/// Moving.
struct MoveArguments {
  const void* keys = nullptr;
  const void* values = nullptr;
  std::uint64_t size = 0;
  std::uint64_t first_tile = 0;  ///< the tiles to move are [first_tile, end_tile)
  std::uint64_t end_tile = 0;
  KeyOrder order;
  GroupLookup lookup;
  /// A group that many of the device's keys belong to: they are counted together. Only for tables.
  std::uint32_t hot_group = no_group;
  std::uint32_t tiles_of_piece = 1;
  /// Address of the first key of each group that comes from this device. Keys alone take their
  /// places from here, so that these numbers advance.
  std::uint64_t* key_places = nullptr;
  std::uint64_t* value_places = nullptr;      ///< the same for values
  const std::uint64_t* piece_rows = nullptr;  ///< with values: items in the pieces before
  const std::uint32_t* tile_rows = nullptr;   ///< with values
};

/// The kernels for one width of keys and one size of values. All are launched on the current
/// device.
struct PartitionKernels {
  std::uint32_t tile = 0;  ///< items that a block moves at a time
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

/// Turns the rows of `pieces` pieces into sums over the pieces before, and gives the sums over all.
cudaError_t sum_pieces(std::uint64_t* piece_rows, std::uint32_t pieces, std::uint64_t* totals,
                       cudaStream_t stream);

}  // namespace sortie::multisort
