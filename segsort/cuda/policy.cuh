#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sortie::segsort {

/// The tuned policy: which kernel serves which length.
///
///   1 .. longest_batched         batch_sort.cuh: neighbouring segments fill a warp's tile together
///   .. longest_in_warp           batch_sort.cuh: a few of them share a warp's tile
///   .. longest_in_block          block_sort.cuh: one segment in the tile of a team of warps
///   beyond                       partition.cuh, grid_partition.cuh: split by the range of
///                                its keys until parts fit a block
inline constexpr int warp_tile_items = 16;
inline constexpr int warp_tile = 32 * warp_tile_items;
inline constexpr int batch_threads = 128;
inline constexpr int longest_batched = 64;
/// Blocks of the batch kernel that a multiprocessor should run: what is left in registers decides.
template <class Word, int ValueBytes>
inline constexpr int resident_batch_blocks = sizeof(Word) == 4 && ValueBytes == 0 ? 6 : 5;
/// Most segments that a warp looks at together.
inline constexpr int most_segments_of_chunk = 512;
inline constexpr int longest_in_warp = 128;
/// Whether a warp distributes its words before it falls back on the network. Elsewhere that takes
/// more registers than are left, and costs all segments of the kernel more than it saves.
template <class Word, int ValueBytes>
inline constexpr bool warps_distribute = sizeof(Word) == 4 && ValueBytes == 4;

/// Teams that sort one segment: so many warps, with so many items a thread. They share blocks of so
/// many warps, of which a multiprocessor runs one, or two where there is room: more warps hide more
/// latencies, fewer have more registers each. All classes with blocks of one size are served by one
/// kernel. Chosen by `sortie bench tune` on an H200, and longest_in_warp with them.
inline constexpr int block_classes = 10;
namespace detail {
struct BlockShapes {
  int warps[block_classes] = {1, 1, 2, 3, 4, 5, 8, 10, 12, 16};
  int items[block_classes] = {8, 16, 16, 16, 16, 16, 16, 16, 16, 16};
  int of_block[block_classes] = {24, 24, 20, 24, 20, 20, 24, 20, 24, 16};
};
}  // namespace detail
__host__ __device__ constexpr int team_warps(int block_class) {
  return detail::BlockShapes{}.warps[block_class];
}
__host__ __device__ constexpr int team_items(int block_class) {
  return detail::BlockShapes{}.items[block_class];
}
/// Most warps that a multiprocessor should run: 64 registers are the least that a thread needs.
inline constexpr int resident_warps = 32;
/// Warps of the blocks of a class. Of more than 20, a multiprocessor has 80 registers for a thread,
/// which is too few for 16 keys of 8 bytes.
template <class Word>
__host__ __device__ constexpr int warps_of_block(int block_class) {
  constexpr int fewer = 18;
  const int warps = detail::BlockShapes{}.of_block[block_class];
  const bool is_wide = sizeof(Word) == 8 && team_items(block_class) == 16;
  return is_wide && warps > 20 && 2 * team_warps(block_class) <= fewer ? fewer : warps;
}
__host__ __device__ constexpr std::uint32_t block_capacity(int block_class) {
  return static_cast<std::uint32_t>(32 * team_warps(block_class) * team_items(block_class));
}
inline constexpr std::uint32_t longest_in_block = block_capacity(block_classes - 1);
namespace detail {
template <int... Class>
__host__ __device__ constexpr int block_classes_below(std::uint64_t length,
                                                      std::integer_sequence<int, Class...>) {
  return (0 + ... +
          (length > std::integral_constant<std::uint32_t, block_capacity(Class)>::value ? 1 : 0));
}
}  // namespace detail
/// Class of a length beyond longest_in_warp; block_classes for what no block holds.
__host__ __device__ constexpr int block_class(std::uint64_t length) {
  return detail::block_classes_below(length, std::make_integer_sequence<int, block_classes>{});
}
constexpr std::uint64_t shortest_of_block_class(int block_class) {
  return block_class == 0 ? longest_in_warp + 1 : block_capacity(block_class - 1) + 1;
}

/// Segments beyond longest_in_block: partitioned by one block each, or by the whole grid.
inline constexpr int lone_partition_class = block_classes;
inline constexpr int grid_partition_class = block_classes + 1;
inline constexpr int long_classes = block_classes + 2;
inline constexpr std::uint64_t longest_lone_partition = 1 << 16;
__host__ __device__ constexpr int long_class(std::uint64_t length) {
  return block_class(length) + (length > longest_lone_partition ? 1 : 0);
}
constexpr std::uint64_t shortest_of_long_class(int long_class) {
  return long_class == grid_partition_class ? longest_lone_partition + 1
                                            : shortest_of_block_class(long_class);
}

/// Neighbouring buckets of a partition are sorted together in tiles of these block classes: small
/// tiles where the buckets are small enough to fill them, since those are faster.
inline constexpr int group_classes = 2;
__host__ __device__ constexpr int block_class_of_groups(int group_class) {
  return group_class == 0 ? block_class(2048) : block_classes - 1;
}
/// Class of the groups that are sorted in tiles of a block class; group_classes if none are.
__host__ __device__ constexpr int group_class_of(int block_class) {
  int group_class = 0;
  while (group_class < group_classes && block_class_of_groups(group_class) != block_class)
    ++group_class;
  return group_class;
}
__host__ __device__ constexpr std::uint32_t longest_of_group_class(int group_class) {
  return block_capacity(block_class_of_groups(group_class));
}
inline constexpr std::uint32_t longest_group = longest_of_group_class(group_classes - 1);
/// Items that a bucket should have, so that it fits a tile although some buckets have more.
__host__ __device__ constexpr std::uint32_t bucket_for_group_class(int group_class) {
  return longest_of_group_class(group_class) / 100 * (group_class == 0 ? 92 : 95);
}

/// Buckets of one pass of a partition. More buckets mean fewer passes, but shorter runs of items
/// that are written side by side.
inline constexpr int fewest_buckets = 16;
inline constexpr int most_buckets = 512;
/// Up to so many buckets cost hardly more than a few; more of them fill tiles better.
inline constexpr int cheap_buckets = 256;

/// A block of a partition, which moves a tile of items at a time.
struct PartitionShape {
  int threads;
  int items;  ///< of a thread in a tile
  int resident_blocks;

  [[nodiscard]] constexpr int warps() const { return threads / 32; }
  [[nodiscard]] constexpr int tile() const { return threads * items; }
};
/// Where the grid works together: large tiles make long runs, and are what registers have room for.
template <class Word, int ValueBytes>
inline constexpr PartitionShape grid_shape = sizeof(Word) <= 4 && ValueBytes <= 4
                                                 ? PartitionShape{384, 24, 2}
                                                 : PartitionShape{512, 24, 1};
/// Where a block is alone, it needs small tiles that its part fills.
template <class Word, int ValueBytes>
inline constexpr PartitionShape lone_shape = sizeof(Word) <= 4 && ValueBytes <= 4
                                                 ? PartitionShape{384, 24, 2}
                                                 : PartitionShape{384, 16, 2};
inline constexpr std::uint64_t smallest_partition_tile = 384 * 24;
inline constexpr PartitionShape small_partition_shape{256, 16, 1};

/// Sorts of up to so many items are one kernel, whose blocks see their segments through alone.
inline constexpr std::uint64_t most_items_of_small_sort = 1 << 15;
inline constexpr int small_sort_warps = small_partition_shape.warps();
inline constexpr std::uint32_t longest_of_small_tile = warp_tile * small_sort_warps;

}  // namespace sortie::segsort
