// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/digits.cuh"
#include "segsort/cuda/policy.cuh"

/// Lists through which kernels pass work to later kernels, in the temporary storage of the caller.
namespace sortie::segsort {

/// Neighbouring buckets of a partitioned segment that a block sorts together, packed: 48 bits of
/// index, 14 of length, 2 of buffer.
class Group {
 public:
  Group() = default;
  __device__ Group(std::uint64_t begin, std::uint32_t length, Buffer buffer)
      : bits_(begin << 16 | length << 2 | static_cast<std::uint64_t>(buffer)) {}
  [[nodiscard]] __device__ std::uint64_t begin() const { return bits_ >> 16; }
  [[nodiscard]] __device__ std::uint32_t length() const { return bits_ >> 2 & 0x3fff; }
  [[nodiscard]] __device__ Buffer buffer() const { return static_cast<Buffer>(bits_ & 3); }

 private:
  std::uint64_t bits_;
};
static_assert(LargeTiles::longest_group < 1 << 14);

/// A part that the whole grid partitions. One block moves a tile group, which consists of tiles;
/// one block counts the digits of a chunk, which consists of tile groups; one block sums counts in
/// a task. Tile groups, chunks and tasks are numbered consecutively over the parts of a batch.
struct SharedPart {
  Part part;
  RangeCut cut;
  std::uint64_t least;  ///< of the compared bits
  std::uint64_t greatest;
  std::uint64_t first_row;  ///< of its tile groups, in tile_group_rows
  std::uint32_t first_tile_group;
  std::uint32_t first_chunk;
  std::uint32_t first_task;
  std::uint32_t chunks;
  std::uint32_t tasks;
  std::uint32_t tasks_done;
};
static_assert(std::has_unique_object_representations_v<SharedPart>,
              "copied word by word, so it must not contain padding");

/// The parts of a round that the grid processes together.
struct PartBatch {
  std::uint32_t parts;
  std::uint32_t tile_groups;
  std::uint32_t chunks;
  std::uint32_t tasks;
  std::uint32_t tiles_of_tile_group;
  std::uint32_t tile_groups_of_chunk;
};

struct Counters {
  unsigned int segments[long_classes];  ///< in each list
  unsigned int next_chunk;              ///< first chunk of segments that no warp has claimed
  unsigned int groups[group_classes];
  unsigned int
      runs;  ///< of block_class_of_runs: in place of groups of class 0, which there are none of
  unsigned int parts;  ///< for single blocks
  unsigned int shared_parts[2];
  PartBatch batch;
  unsigned int next_tile_group;  ///< first tile group that no block has claimed
};

static_assert(long_classes % 2 == 0, "segment lists share arrays in pairs");

/// Limits of a batch: the counts of many or long parts take a constant amount of memory.
inline constexpr std::uint32_t most_parts_of_batch = 1024;
/// Approximate number of chunks of a batch.
inline constexpr std::uint32_t chunks_of_batch = 2048;

/// Segment lists share arrays in pairs: one grows from the front, the other from the back. Their
/// total length never exceeds the array.
struct WorkLists {
  Counters* counters;
  std::uint32_t* segments[long_classes / 2];
  std::uint32_t capacity[long_classes / 2];
  Group* groups;  ///< of class 0 from the front, of class 1 from the back
  std::uint64_t group_capacity;
  Part* parts;
  SharedPart* shared_parts[2];
  /// Rows with one number per bucket: for each chunk, items of the bucket in the preceding chunks
  /// of its part; for each shared part, the first position of the bucket in the part.
  std::uint64_t* histograms;
  /// The same for an array in the input: in the scratch buffer, too. Null: in the rows above.
  std::uint64_t* input_histograms = nullptr;
  std::uint32_t part_capacity = most_parts_of_batch;  ///< of a batch
  std::uint32_t chunk_capacity = chunks_of_batch;     ///< of a batch whose rows are above
  /// One row per tile group: items of the bucket in the preceding tile groups of the same chunk.
  /// For parts in the input, the rows are in the scratch buffer, if there is one, which is
  /// otherwise unused at that time.
  std::uint32_t* tile_group_rows;
  std::uint64_t tile_group_row_capacity;
  bool tile_group_rows_in_scratch;
  /// Whether there are groups for a floating cut: see TemporaryStorage::most_groups().
  bool cuts_may_float = true;

  __device__ Group& group(int group_class, std::uint32_t i) const {
    return groups[group_class == 0 ? i : group_capacity - 1 - i];
  }
  [[nodiscard]] __device__ static constexpr std::uint64_t preferred() {
    return longest_of_group_class(0);
  }
  __device__ void add_group(const Group& added) const {
    const int group_class = added.length() <= longest_of_group_class(0) ? 0 : 1;
    group(group_class, atomicAdd(&counters->groups[group_class], 1)) = added;
  }
  /// A run of a long array that is sorted by buckets.
  __device__ void add_run(const Group& added) const {
    if (added.length() <= block_capacity(block_class_of_runs)) {
      groups[atomicAdd(&counters->runs, 1)] = added;
    } else {
      group(group_classes - 1, atomicAdd(&counters->groups[group_classes - 1], 1)) = added;
    }
  }
  __device__ std::uint32_t& segment(int long_class, std::uint32_t i) const {
    const int pair = long_class / 2;
    // An array in constant memory must not be indexed at run time: the compiler would copy it to
    // local memory.
    std::uint32_t* list = segments[0];
    std::uint32_t end = capacity[0];
#pragma unroll
    for (int other = 1; other < long_classes / 2; ++other) {
      if (pair != other) continue;
      list = segments[other];
      end = capacity[other];
    }
    return list[long_class % 2 == 0 ? i : end - 1 - i];
  }
};

/// The lists with the limits of a row of the policy.
template <class TilesOfPolicy>
struct WorkListsOf : WorkLists {
  using Tiles = TilesOfPolicy;
  [[nodiscard]] __device__ static constexpr std::uint64_t longest() { return Tiles::longest_group; }
};

}  // namespace sortie::segsort
