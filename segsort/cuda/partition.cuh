#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/partition_tile.cuh"
#include "sortie/segsort/cuda/work_lists.cuh"

/// Segments that no block's tile holds: split by the range of their keys until the buckets fit.
///
/// A pass counts the items of each bucket of a part, and moves its items, stable, to their buckets
/// in the other buffer. Neighbouring buckets that fit a block's tile together become a group for
/// block_sort_kernel; larger ones are parts of the next pass. A bucket is a stretch of the range
/// that the part's keys really span, so that a narrow range of keys costs no passes; a part whose
/// keys are all the same is done. Hence at most one pass for every four bits of the keys, and
/// mostly one for each factor of some hundred in the length.
///
/// Here is what one block does to a part by itself; grid_partition.cuh is about longer ones.
namespace sortie::segsort {

/// Lists items that are in order, so that they come to the output. `lists` takes groups of up to
/// lists.longest() items by lists.add_group().
template <class Lists>
__device__ __forceinline__ void list_ordered(const Lists& lists, std::uint64_t begin,
                                             std::uint64_t length, Buffer buffer,
                                             unsigned int thread, unsigned int threads) {
  if (buffer == Buffer::output) return;
  const std::uint64_t longest = lists.longest();
  for (std::uint64_t i = thread * longest; i < length; i += threads * longest)
    lists.add_group(Group(begin + i, static_cast<std::uint32_t>(min(length - i, longest)), buffer));
}

/// Lists what remains to be done for the buckets of a part, whose first items, counted from the
/// part's, are in `starts`. `keep_large` takes a bucket that no block's tile holds. Begins and ends
/// with a barrier.
///
/// Groups are as long as they can be: each thread looks for the end of a group that would start
/// with its bucket, then one thread follows the chain.
template <class Shared, class Lists, class KeepLarge>
__device__ __forceinline__ void list_buckets(Shared& shared, const Lists& lists, const Part& part,
                                             const RangeCut& cut, Buffer to,
                                             const OfBuckets<std::uint64_t>& starts,
                                             const KeepLarge& keep_large) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (cut.exact()) {
    list_ordered(lists, part.begin, part.length, to, threadIdx.x, Shared::threads);
    __syncthreads();
    return;
  }
  const int buckets = cut.buckets;
  starts.store(shared.starts);
  if (thread == 0) shared.starts[most_buckets] = part.length;
  __syncthreads();
  const std::uint64_t room = fills_small_tiles(part.length) ? lists.preferred() : lists.longest();
  for (int bucket = thread; bucket < buckets; bucket += Shared::threads) {
    const std::uint64_t limit = shared.starts[bucket] + room;
    int low = bucket + 1;
    int high = buckets;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (shared.starts[middle] <= limit) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    shared.next_group[bucket] = static_cast<std::uint16_t>(low);
  }
  __syncthreads();
  if (thread == 0) {
    int groups = 0;
    for (int start = 0; start < buckets; start = shared.next_group[start])
      shared.group_starts[groups++] = static_cast<std::uint16_t>(start);
    shared.group_count = groups;
  }
  __syncthreads();
  for (int group = thread; group < shared.group_count; group += Shared::threads) {
    const int first = shared.group_starts[group];
    const std::uint64_t start = shared.starts[first];
    const std::uint64_t length = shared.starts[shared.next_group[first]] - start;
    if (length > lists.longest()) {
      const std::uint64_t least = cut.first_of(first);
      keep_large(Part{part.begin + start, length, part.base + least,
                      cut.first_of(first + 1) - 1 - least, to, 0});
    } else if (length > 1 || (length == 1 && to != Buffer::output)) {
      lists.add_group(Group(part.begin + start, static_cast<std::uint32_t>(length), to));
    }
  }
  __syncthreads();
}

__device__ inline Buffer other_buffer(Buffer from) {
  return from == Buffer::output ? Buffer::scratch : Buffer::output;
}

template <class Word>
__device__ Part part_of(const Arguments<Word>& arguments, std::uint32_t segment) {
  const SegmentExtent found = extent(arguments, segment);
  if (arguments.ranges != nullptr) {
    const SegmentRange range = arguments.ranges[segment];
    return {found.begin, found.length, range.least, range.greatest - range.least, Buffer::input, 0};
  }
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const int compared = bits - arguments.codec.ignored_bits;
  const std::uint64_t span = compared == 0 ? 0 : ~std::uint64_t{0} >> (64 - compared);
  return {found.begin, found.length, 0, span, Buffer::input, 0};
}

/// True where the buckets found are worth moving for: else the part's range is set to what its keys
/// really span.
__device__ inline bool range_is_tight(Part& part, std::uint64_t least, std::uint64_t greatest) {
  if (greatest - least >= part.span / 4) return true;
  part.base = least;
  part.span = greatest - least;
  return false;
}

/// Parts that wait for one block. They hold different items, and each too many for a tile.
struct WaitingParts {
  Part parts[longest_lone_partition / longest_of_small_tile + 1];
  int count;
};

/// One block sees a part of up to longest_lone_partition items through, with all that comes of it.
/// Begins and ends with a barrier.
template <class Shared, class Word, class Lists>
__device__ __forceinline__ void partition_alone(Shared& shared, WaitingParts& waiting,
                                                const Arguments<Word>& arguments,
                                                const Lists& lists, const Part& first) {
  __syncthreads();
  if (threadIdx.x == 0) {
    waiting.parts[0] = first;
    waiting.count = 1;
  }
  __syncthreads();
  while (waiting.count > 0) {
    Part part = waiting.parts[waiting.count - 1];
    __syncthreads();
    if (threadIdx.x == 0) --waiting.count;
    RangeCut cut(part);
    const auto count = [&] {
      return count_digits(shared, arguments.keys_of(part.buffer) + part.begin, part.length,
                          Digits<Word>(arguments.codec, cut), part.length,
                          [](std::uint64_t, const OfBuckets<std::uint32_t>&) {});
    };
    OfBuckets<std::uint32_t> lengths = count();
    const std::uint64_t least = shared.least;
    const std::uint64_t greatest = shared.greatest;
    if (least == greatest) {
      list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      __syncthreads();
      continue;
    }
    if (!range_is_tight(part, least, greatest)) {
      cut = RangeCut(part);
      lengths = count();
    }
    OfBuckets<std::uint64_t> starts{};
    starts += starts_of(lengths, shared.warp_sums);
    const Buffer to = other_buffer(part.buffer);
    list_buckets(shared, lists, part, cut, to, starts,
                 [&](const Part& large) { waiting.parts[atomicAdd(&waiting.count, 1)] = large; });
    OfBuckets<std::uint64_t>{part.begin + starts.first, part.begin + starts.second}.store(
        shared.places);
    set_pass(shared, arguments, cut, part.buffer, to);
    move_items<Shared>(part.begin, part.length);
  }
}

/// Parts of up to longest_lone_partition items, each seen through by one block.
///
///   shared memory, registers   of a tile, as in move_tile(); of the buckets, two a thread
///   shared memory, besides     the parts that wait
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(lone_shape<Word, ValueBytes>.threads,
                                  lone_shape<Word, ValueBytes>.resident_blocks)
    lone_partition_kernel(Arguments<Word> arguments, WorkLists lists) {
  using Shared = PartitionShared<Word, ValueBytes, lone_shape<Word, ValueBytes>>;
  Shared& shared = shared_memory<Shared>();
  __shared__ WaitingParts waiting;
  wait_for_kernels_before();
  const unsigned int segments = lists.counters->segments[lone_partition_class];
  const unsigned int all = segments + lists.counters->parts;
  for (unsigned int i = blockIdx.x; i < all; i += gridDim.x) {
    const Part part = i < segments ? part_of(arguments, lists.segment(lone_partition_class, i))
                                   : lists.parts[i - segments];
    partition_alone(shared, waiting, arguments, lists, part);
  }
}

}  // namespace sortie::segsort
