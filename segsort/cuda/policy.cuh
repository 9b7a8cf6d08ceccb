// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sortie::segsort {

/// The tuned policy: which kernel sorts segments of which length.
///
///   1 .. longest_batched         batch_sort.cuh: neighbouring segments share a warp's tile
///   .. longest_in_warp           batch_sort.cuh: a few segments share a warp's tile
///   .. longest_in_block          block_sort.cuh: one segment in the tile of a team of warps
///   beyond                       partition.cuh, grid_partition.cuh: split by the range of the keys
///                                until parts fit a block
///
/// What depends on the shared memory of a block is in two rows, LargeTiles and SmallTiles, at the
/// end of this file.
inline constexpr int warp_tile_items = 16;
inline constexpr int warp_tile = 32 * warp_tile_items;
inline constexpr int longest_batched = 64;
/// Most segments that a warp reads together.
inline constexpr int most_segments_of_chunk = 512;
inline constexpr int longest_in_warp = 128;
/// Whether a warp tries the distribution before the network. In other instances this needs more
/// registers than available and slows down all segments of the kernel by more than it gains.
template <class Word, int ValueBytes>
inline constexpr bool warps_distribute = sizeof(Word) == 4 && ValueBytes == 4;

/// Teams that sort one segment each: number of warps per team, and items per thread. Teams share a
/// block of `of_block` warps; a multiprocessor runs one such block, or two if they fit. More warps
/// hide more latency, fewer have more registers each. One kernel serves all classes whose blocks
/// have the same size. Chosen, together with longest_in_warp, by `sortie bench tune` on an H200.
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
/// Most resident warps per multiprocessor: 64 registers are the least that a thread needs.
inline constexpr int resident_warps = 32;
/// Warps per block of a class. With more than 20 warps, a multiprocessor has 80 registers per
/// thread, too few for 16 keys of 8 bytes.
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
namespace detail {
template <int... Class>
__host__ __device__ constexpr int block_classes_below(std::uint64_t length,
                                                      std::integer_sequence<int, Class...>) {
  return (0 + ... +
          (length > std::integral_constant<std::uint32_t, block_capacity(Class)>::value ? 1 : 0));
}
}  // namespace detail
/// Block class of a length beyond longest_in_warp; block_classes if no block has such a tile.
__host__ __device__ constexpr int block_class(std::uint64_t length) {
  return detail::block_classes_below(length, std::make_integer_sequence<int, block_classes>{});
}
constexpr std::uint64_t shortest_of_block_class(int block_class) {
  return block_class == 0 ? longest_in_warp + 1 : block_capacity(block_class - 1) + 1;
}

/// Segments beyond longest_in_block are partitioned by one block each, or by the whole grid.
inline constexpr int single_block_class = block_classes;
inline constexpr int grid_partition_class = block_classes + 1;
inline constexpr int long_classes = block_classes + 2;
inline constexpr std::uint64_t longest_single_block_partition = 1 << 16;

/// Neighbouring buckets of a partition are sorted together in tiles of these block classes. Small
/// tiles, which are faster, are used where the buckets are small enough to fill them.
inline constexpr int group_classes = 2;
__host__ __device__ constexpr int block_class_of_groups(int group_class) {
  return group_class == 0 ? block_class(2048) : block_classes - 1;
}
/// Of long arrays sorted by buckets, runs of up to this length take tiles of their own class: two or one
/// of their buckets would fill half of the largest tiles.
inline constexpr int block_class_of_runs = block_class(5120);
/// Group class that is sorted in tiles of a block class; group_classes if there is none.
__host__ __device__ constexpr int group_class_of(int block_class) {
  int group_class = 0;
  while (group_class < group_classes && block_class_of_groups(group_class) != block_class)
    ++group_class;
  return group_class;
}
__host__ __device__ constexpr std::uint32_t longest_of_group_class(int group_class) {
  return block_capacity(block_class_of_groups(group_class));
}
/// Target number of items per bucket, below the tile size so that most of the larger buckets fit
/// too.
__host__ __device__ constexpr std::uint32_t bucket_for_group_class(int group_class) {
  return longest_of_group_class(group_class) / 100 * (group_class == 0 ? 92 : 95);
}

/// Buckets per pass of a partition. More buckets mean fewer passes, but shorter contiguous writes.
inline constexpr int fewest_buckets = 16;
inline constexpr int most_buckets = 512;
/// Up to this number, more buckets cost hardly any time and fill tiles better.
inline constexpr int cheap_buckets = 256;

/// Shape of a block of a partition; it moves one tile of items at a time.
struct PartitionShape {
  int threads;
  int items;  ///< per thread in a tile
  int resident_blocks;
  bool may_float = false;  ///< whether there are floating cuts, see RangeCut

  [[nodiscard]] constexpr int warps() const { return threads / 32; }
  [[nodiscard]] constexpr int tile() const { return threads * items; }
};
inline constexpr PartitionShape small_partition_shape{256, 16, 1};

/// Sorts of up to this many items take one kernel, whose blocks sort their segments independently.
inline constexpr std::uint64_t most_items_of_small_sort = 1 << 15;
inline constexpr int small_sort_warps = small_partition_shape.warps();
inline constexpr std::uint32_t longest_of_small_tile = warp_tile * small_sort_warps;

/// The rows of the policy. sort_on_device() takes the first that fits the shared memory of the GPU.
///
/// |                                         | LargeTiles       | SmallTiles |
/// |-----------------------------------------|------------------|------------|
/// | shared memory of a block, at most       | 187 KiB          | 48 KiB     |
/// | longest segment, or group, in a block   | 8192             | 2048       |
/// | tile of a partition by the whole grid   | 9216 or 12288    | 2048       |
/// | tile of a partition by one block        | 9216 or 6144     | 2048       |
/// | up to 2^15 items in one kernel          | yes              | no         |
/// | 32-bit indices for less than 2^32 items | yes              | no         |
///
/// LargeTiles was measured on an H200. SmallTiles is for GPUs other than those of data centres, and
/// for old ones; its sizes are the largest that fit 48 KiB with keys and values of 8 bytes.
struct LargeTiles {
  static constexpr int batch_threads = 128;
  template <class Word, int ValueBytes>
  static constexpr int resident_batch_blocks_of = sizeof(Word) == 4 && ValueBytes == 0 ? 6 : 5;
  /// Block classes that segments and groups are listed for.
  static constexpr int used_block_classes = block_classes;
  static constexpr std::uint32_t longest_group = longest_of_group_class(group_classes - 1);
  /// For the partition by the whole grid: large tiles, as large as registers allow, make long
  /// contiguous writes.
  template <class Word, int ValueBytes>
  static constexpr PartitionShape grid_shape = sizeof(Word) <= 4 && ValueBytes <= 4
                                                   ? PartitionShape{384, 24, 2, true}
                                                   : PartitionShape{512, 24, 1, true};
  /// For the partition by one block: small tiles, which one part can fill.
  template <class Word, int ValueBytes>
  static constexpr PartitionShape single_block_shape = sizeof(Word) <= 4 && ValueBytes <= 4
                                                           ? PartitionShape{384, 24, 2, true}
                                                           : PartitionShape{384, 16, 2, true};
  static constexpr std::uint64_t smallest_partition_tile = 384 * 24;  ///< of grid_shape
  /// Parts that a block has yet to partition are longer than this.
  static constexpr std::uint32_t longest_sorted_part = longest_of_small_tile;
  static constexpr bool has_small_sort = true;
  static constexpr bool has_narrow_indices = true;
};

struct SmallTiles {
  static constexpr int batch_threads = 64;
  template <class Word, int ValueBytes>
  static constexpr int resident_batch_blocks_of = 8;
  static constexpr int used_block_classes = block_class(2048) + 1;
  static constexpr std::uint32_t longest_group = longest_of_group_class(0);
  template <class Word, int ValueBytes>
  static constexpr PartitionShape grid_shape = {256, 8, 1};
  template <class Word, int ValueBytes>
  static constexpr PartitionShape single_block_shape = {256, 8, 1};
  static constexpr std::uint64_t smallest_partition_tile = 256 * 8;
  static constexpr std::uint32_t longest_sorted_part = longest_group;
  static constexpr bool has_small_sort = false;
  static constexpr bool has_narrow_indices = false;
};
static_assert(block_capacity(SmallTiles::used_block_classes - 1) == SmallTiles::longest_group);

/// Target number of resident blocks of the batch kernel per multiprocessor, which bounds registers
/// per thread. (nvcc takes no template of a class in the bounds of a kernel.)
template <class Tiles, class Word, int ValueBytes>
inline constexpr int resident_batch_blocks =
    Tiles::template resident_batch_blocks_of<Word, ValueBytes>;

template <class Tiles>
inline constexpr std::uint32_t longest_in_block = block_capacity(Tiles::used_block_classes - 1);

/// The list for a segment beyond longest_in_warp.
template <class Tiles = LargeTiles>
__host__ __device__ constexpr int long_class(std::uint64_t length) {
  const int within = block_class(length);
  const int single =
      Tiles::used_block_classes < block_classes && within >= Tiles::used_block_classes
          ? single_block_class
          : within;
  return single + (length > longest_single_block_partition ? 1 : 0);
}
/// The least length in a list; 0 if no segment is listed there.
template <class Tiles>
constexpr std::uint64_t shortest_of_long_class(int long_class) {
  if (long_class == grid_partition_class) return longest_single_block_partition + 1;
  if (long_class == single_block_class) return longest_in_block<Tiles> + 1;
  return long_class < Tiles::used_block_classes ? shortest_of_block_class(long_class) : 0;
}

}  // namespace sortie::segsort
