#pragma once

#include <cstdint>
#include <type_traits>

#include "sortie/segsort/cuda/arguments.cuh"
#include "sortie/segsort/cuda/digits.cuh"
#include "sortie/segsort/cuda/policy.cuh"

/// The lists that kernels leave for each other in the caller's temporary storage.
namespace sortie::segsort {

/// Neighbouring buckets of a partitioned segment that a block sorts together: 48 bits of index, 14
/// of length, 2 of buffer.
class Group {
 public:
  Group() = default;
  __device__ Group(std::uint64_t begin, std::uint32_t length, Buffer buffer)
      : bits_(begin << 16 | length << 2 | static_cast<std::uint64_t>(buffer)) {}
  [[nodiscard]] __device__ std::uint64_t begin() const { return bits_ >> 16; }
  [[nodiscard]] __device__ int length() const { return static_cast<int>(bits_ >> 2 & 0x3fff); }
  [[nodiscard]] __device__ Buffer buffer() const { return static_cast<Buffer>(bits_ & 3); }

 private:
  std::uint64_t bits_;
};
static_assert(longest_group < 1 << 14);

/// A part that the whole grid works on. Its tiles are put together to units, which one block moves,
/// and these to pieces, in which one block counts. Numbers of units, pieces and jobs (of adding up
/// counts) go on from part to part.
struct SharedPart {
  Part part;
  RangeCut cut;
  std::uint64_t least;  ///< of the compared bits
  std::uint64_t greatest;
  std::uint64_t first_row;  ///< of its units, in the list
  std::uint32_t first_unit;
  std::uint32_t first_piece;
  std::uint32_t first_job;
  std::uint32_t pieces;
  std::uint32_t jobs;
  std::uint32_t jobs_done;
};
static_assert(std::has_unique_object_representations_v<SharedPart>,
              "copied word by word, and none that was not written");

/// Some of a round's parts, which the grid takes on together.
struct Wave {
  std::uint32_t parts;
  std::uint32_t units;
  std::uint32_t pieces;
  std::uint32_t jobs;
  std::uint32_t tiles_of_unit;
  std::uint32_t units_of_piece;
};

struct Counters {
  unsigned int segments[long_classes];  ///< in each list
  unsigned int next_chunk;              ///< of segments that no warp has taken on yet
  unsigned int groups[group_classes];
  unsigned int parts;  ///< for lone blocks
  unsigned int shared_parts[2];
  Wave wave;
  unsigned int next_unit;  ///< which no block has taken on
};

static_assert(long_classes % 2 == 0, "segment lists come in pairs");

/// Segment lists come in pairs: one grows from the front of an array, the other from its back, and
/// together they cannot outgrow it.
struct WorkLists {
  Counters* counters;
  std::uint32_t* segments[long_classes / 2];
  std::uint32_t room[long_classes / 2];
  Group* groups;  ///< of class 0 from the front, of class 1 from the back
  std::uint64_t group_room;
  Part* parts;
  SharedPart* shared_parts[2];
  /// A row of one number a bucket for each piece and each shared part: items of the bucket in the
  /// pieces before, and in the part.
  std::uint64_t* histograms;
  /// A row for each unit: items of the bucket in the units before, in the same piece. Rows of parts
  /// in the input are in the scratch buffer, where nothing else is yet, if there is one.
  std::uint32_t* unit_rows;
  std::uint64_t unit_row_room;
  bool unit_rows_in_scratch;

  __device__ Group& group(int group_class, std::uint32_t i) const {
    return groups[group_class == 0 ? i : group_room - 1 - i];
  }
  [[nodiscard]] __device__ static constexpr std::uint64_t longest() { return longest_group; }
  [[nodiscard]] __device__ static constexpr std::uint64_t preferred() {
    return longest_of_group_class(0);
  }
  __device__ void add_group(const Group& added) const {
    const int group_class =
        static_cast<std::uint32_t>(added.length()) <= longest_of_group_class(0) ? 0 : 1;
    group(group_class, atomicAdd(&counters->groups[group_class], 1)) = added;
  }
  __device__ std::uint32_t& segment(int long_class, std::uint32_t i) const {
    const int pair = long_class / 2;
    // No array in constant memory is indexed at run time: the compiler would copy it.
    std::uint32_t* list = segments[0];
    std::uint32_t end = room[0];
#pragma unroll
    for (int other = 1; other < long_classes / 2; ++other) {
      if (pair != other) continue;
      list = segments[other];
      end = room[other];
    }
    return list[long_class % 2 == 0 ? i : end - 1 - i];
  }
};

}  // namespace sortie::segsort
