// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "papers/ics17/binning.cuh"
#include "papers/ics17/register_transpose.cuh"

/// Warp bins: segments that fit the registers of at most one warp.
namespace sortie::segsort::ics17 {

/// Comparison and payload of a sort. Unstable: the payload is the value itself. Stable: it is the
/// index of the item, and the value is fetched last.
template <class WordType, class PayloadType, bool StableSort>
struct Traits {
  using Word = WordType;
  using Payload = PayloadType;
  using I = Item<Word, Payload>;
  static constexpr bool stable = StableSort;
  static constexpr bool has_payload = !std::is_same_v<Payload, NoPayload>;

  __device__ static auto less(const BitRangeCodec<Word>& codec) {
    if constexpr (stable) {
      return CompareBitsThenIndex<Word>{codec.compare_mask};
    } else {
      return CompareWords{};
    }
  }

  /// Item that sorts after every other.
  __device__ static I padding() {
    I item{};
    item.key = ~Word{0};
    if constexpr (stable) item.payload = ~Payload{0};
    return item;
  }

  /// Item `index` of a segment (or tile) that starts at `begin`.
  __device__ static I load(const Arguments<Word>& arguments, std::uint64_t begin,
                           std::uint32_t index) {
    I item;
    item.key = arguments.codec.encode(arguments.keys_in[begin + index]);
    if constexpr (stable) {
      item.payload = index;
    } else if constexpr (has_payload) {
      item.payload = static_cast<const Payload*>(arguments.values_in)[begin + index];
    }
    return item;
  }

  /// Writes an item to position `index` of the segment (or tile) at `begin`.
  __device__ static void store(const Arguments<Word>& arguments, std::uint64_t begin,
                               std::uint32_t index, const I& item) {
    arguments.keys_out[begin + index] = arguments.codec.decode(item.key);
    if constexpr (stable) {
      copy_value(arguments.values_out, begin + index, arguments.values_in, begin + item.payload,
                 arguments.value_bytes);
    } else if constexpr (has_payload) {
      static_cast<Payload*>(arguments.values_out)[begin + index] = item.payload;
    }
  }
};

/// Reads items first .. first+length-1 of the segment (or tile) at `begin` into the registers of a
/// group, coalesced, so that network position p holds an item exactly if p < length: padding must
/// come after all data (see register_sort.cuh).
///
/// Position p = thread * Items + r. Register r is needed by the threads below ceil((length - r) /
/// Items). They read that many consecutive items, following those of the preceding registers. The
/// assignment of items to positions is arbitrary, since the items are unsorted.
template <class T, int Items, class I>
__device__ void load_group(I (&items)[Items], const Arguments<typename T::Word>& arguments,
                           std::uint64_t begin, std::uint32_t first, std::uint32_t length,
                           std::uint32_t thread) {
  const std::uint32_t rows = length / Items;
  const std::uint32_t rest = length % Items;
#pragma unroll
  for (std::uint32_t r = 0; r < Items; ++r) {
    const std::uint32_t wanted = rows + (r < rest ? 1 : 0);
    const std::uint32_t before = r * rows + (r < rest ? r : rest);
    items[r] = thread < wanted ? T::load(arguments, begin, first + before + thread) : T::padding();
  }
}

/// Sorts the segments of one warp bin.
///
/// A warp owns 32 / Threads segments at a time, one per group of Threads lanes. Lane t of a group
/// holds sorted positions t*Items .. t*Items+Items-1 in registers. No shared memory.
template <class T, int Threads, int Items, bool Striped>
__global__ void __launch_bounds__(register_block_threads)
    warp_bin_kernel(Arguments<typename T::Word> arguments, WorkLists lists, int bin) {
  constexpr std::uint32_t groups = register_block_threads / Threads;
  const std::uint32_t count = lists.counters->bin_size[bin];
  const std::uint32_t* const ids = lists.segment_ids + lists.counters->bin_start[bin];
  const std::uint32_t group = threadIdx.x / Threads;
  const std::uint32_t thread = threadIdx.x % Threads;
  const auto less = T::less(arguments.codec);
  // The loop bound is uniform over the block: every lane takes part in every shuffle.
  for (std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * groups; first < count;
       first += static_cast<std::uint64_t>(gridDim.x) * groups) {
    SegmentExtent segment{0, 0};
    if (first + group < count) segment = extent(arguments, ids[first + group]);
    const std::uint32_t length = static_cast<std::uint32_t>(segment.length);
    typename T::I items[Items];
    load_group<T>(items, arguments, segment.begin, 0, length, thread);
    register_sort<Threads, Items>(items, static_cast<int>(thread), less);
    if constexpr (Striped) {
      register_transpose<Threads, Items>(items, static_cast<int>(thread));
#pragma unroll
      for (int r = 0; r < Items; ++r) {
        const std::uint32_t position = static_cast<std::uint32_t>(
            position_after_transpose<Threads, Items>(static_cast<int>(thread), r));
        if (position < length) T::store(arguments, segment.begin, position, items[r]);
      }
    } else {
#pragma unroll
      for (std::uint32_t r = 0; r < Items; ++r) {
        const std::uint32_t position = thread * Items + r;
        if (position < length) T::store(arguments, segment.begin, position, items[r]);
      }
    }
  }
}

}  // namespace sortie::segsort::ics17
