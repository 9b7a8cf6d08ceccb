// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/partition_tile.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Segments that exceed the tiles of all blocks: split by the range of their keys until the buckets
/// fit.
///
/// A pass counts the items of each bucket of a part, and moves the items, stably, to their buckets
/// in the other buffer. Neighbouring buckets that together fit a block's tile become a group for
/// block_sort_kernel; larger buckets become parts of the next pass. Buckets divide the range that
/// the keys of the part actually span. Hence there is at most one pass for every four bits of the
/// keys, and mostly one for each factor of some hundred in the length.
namespace sortie::segsort {

/// Lists items that are in order already, so that they are copied to the output. `lists` accepts
/// groups of up to lists.longest() items by lists.add_group().
template <class Lists>
__device__ __forceinline__ void list_ordered(const Lists& lists, std::uint64_t begin,
                                             std::uint64_t length, Buffer buffer,
                                             unsigned int thread, unsigned int threads) {
  if (buffer == Buffer::output) return;
  const std::uint64_t longest = lists.longest();
  for (std::uint64_t i = thread * longest; i < length; i += threads * longest)
    lists.add_group(Group(begin + i, static_cast<std::uint32_t>(min(length - i, longest)), buffer));
}

/// Index of the last of `count` ascending numbers, returned by `number_of`, that does not exceed
/// `number`; 0 if all do.
template <class Number, class NumberOf>
__device__ __forceinline__ std::uint32_t last_not_beyond(Number number, std::uint32_t count,
                                                         const NumberOf& number_of) {
  std::uint32_t low = 0;
  std::uint32_t high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (number_of(middle) <= number) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Lists the remaining work on the buckets of a part. `starts` holds the first item of each bucket,
/// relative to the part. Calls `keep_large` for a bucket that exceeds all tiles of a block. Begins
/// and ends with a barrier.
///
/// Groups are as long as possible: each thread searches the end of a group that would start with
/// its bucket; then one thread follows the chain.
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
  const bool fills_small_tiles =
      part.length <= std::uint64_t{most_buckets} * bucket_for_group_class(0);
  const std::uint64_t group_limit = fills_small_tiles ? lists.preferred() : lists.longest();
  for (int bucket = thread; bucket < buckets; bucket += Shared::threads) {
    const std::uint64_t limit = shared.starts[bucket] + group_limit;
    const int next = bucket + 1;
    const std::uint32_t further = last_not_beyond(
        limit, buckets - bucket, [&](std::uint32_t i) { return shared.starts[next + i]; });
    shared.next_group[bucket] = static_cast<std::uint16_t>(next + further);
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
    const bool is_one_bucket = shared.next_group[first] == first + 1;
    if (Shared::may_float && cut.is_floating() && is_one_bucket && length != 0) {
      Part large = cut.template part_of_floating<typename Shared::Word>(first, part);
      large.begin = part.begin + start;
      large.length = length;
      large.buffer = to;
      if (large.span == 0 && (to == Buffer::output || length <= longest_single_block_partition)) {
        list_ordered(lists, large.begin, length, to, 0, 1);
      } else if (length > lists.longest()) {
        keep_large(large);
      } else {
        lists.add_group(Group(large.begin, static_cast<std::uint32_t>(length), to));
      }
    } else if (length > lists.longest()) {
      const std::uint64_t least = cut.first_of(first);
      keep_large(Part{part.begin + start, length, part.base + least,
                      cut.first_of(first + 1) - 1 - least, to, part.low_keys});
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
  // An array that is sorted in place: the first pass moves its items to the scratch buffer.
  const Buffer buffer = arguments.keys_in == arguments.keys_out ? Buffer::output : Buffer::input;
  if (arguments.ranges != nullptr) {
    const SegmentRange range = arguments.ranges[segment];
    return {found.begin, found.length,    range.least, range.greatest - range.least,
            buffer,      LowKeys::unknown};
  }
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const int compared = bits - arguments.codec.ignored_bits;
  const std::uint64_t span = compared == 0 ? 0 : ~std::uint64_t{0} >> (64 - compared);
  return {found.begin, found.length, 0, span, buffer, LowKeys::unknown};
}

/// Whether a cut divides the keys of a part well enough to move the items. Otherwise equal ranges
/// shall, and the range of the part is narrowed to the one that its keys span.
template <class Word>
__device__ inline bool divides(const RangeCut& cut, Part& part, const BitRangeCodec<Word>& codec,
                               std::uint64_t least, std::uint64_t greatest) {
  if (!cut.is_floating() && greatest - least >= part.span / 4) return true;
  part.base = least;
  part.span = greatest - least;
  if (!cut.is_floating()) return false;
  part.low_keys = LowKeys::divided;
  const Digits<Word> digits(codec, cut);
  return digits.template of_compared<true>(static_cast<Word>(least)) !=
         digits.template of_compared<true>(static_cast<Word>(greatest));
}

/// Stack of parts that one block has yet to partition. They are disjoint, and each exceeds a tile.
template <class Tiles>
struct PendingParts {
  Part parts[longest_single_block_partition / Tiles::longest_sorted_part + 1];
  int count;
};

/// One block partitions a part of up to longest_single_block_partition items, and all parts that
/// result from it. Begins and ends with a barrier.
template <class Shared, class Word, class Lists>
__device__ __forceinline__ void partition_in_block(Shared& shared,
                                                   PendingParts<typename Lists::Tiles>& pending,
                                                   const Arguments<Word>& arguments,
                                                   const Lists& lists, const Part& first) {
  __syncthreads();
  if (threadIdx.x == 0) {
    pending.parts[0] = first;
    pending.count = 1;
  }
  __syncthreads();
  while (pending.count > 0) {
    Part part = pending.parts[pending.count - 1];
    __syncthreads();
    if (threadIdx.x == 0) --pending.count;
    const auto set_cut = [&](const Word(&keys)[Shared::items]) {
      if (threadIdx.x >= 32) return;
      RangeCut cut(part, typename Lists::Tiles{});
      if constexpr (Shared::may_float) {
        constexpr int step = Shared::items / samples_of_lane;
        static_assert(Shared::threads * step * (samples_of_lane - 1) + 32 <=
                      LargeTiles::longest_group);
        if (part.low_keys == LowKeys::unknown && lists.cuts_may_float) {
          const Digits<Word> digits(arguments.codec, cut);
          Word sample[samples_of_lane];
#pragma unroll
          for (int i = 0; i < samples_of_lane; ++i) sample[i] = digits.compared(keys[i * step]);
          Part sampled = part;
          cut = cut_by_sample(sampled, sample, typename Lists::Tiles{});
        }
      }
      if (threadIdx.x != 0) return;
      shared.cut = cut;
      shared.digits = Digits<Word>(arguments.codec, cut);
    };
    const auto count = [&] {
      return count_digits(shared, arguments.keys_of(part.buffer) + part.begin, part.length, set_cut,
                          part.length, [](std::uint64_t, const OfBuckets<std::uint32_t>&) {});
    };
    OfBuckets<std::uint32_t> lengths = count();
    RangeCut cut = shared.cut;
    const std::uint64_t least = shared.least;
    const std::uint64_t greatest = shared.greatest;
    if (least == greatest) {
      list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      __syncthreads();
      continue;
    }
    if (!divides(cut, part, arguments.codec, least, greatest)) {
      lengths = count();
      cut = shared.cut;
    }
    OfBuckets<std::uint64_t> starts{};
    starts += starts_of(lengths, shared.warp_sums);
    const Buffer to = other_buffer(part.buffer);
    list_buckets(shared, lists, part, cut, to, starts,
                 [&](const Part& large) { pending.parts[atomicAdd(&pending.count, 1)] = large; });
    OfBuckets<std::uint64_t>{part.begin + starts.first, part.begin + starts.second}.store(
        shared.places);
    set_pass(shared, arguments, cut, part.buffer, to);
    move_items<Shared>(part.begin, part.length);
  }
}

/// Parts of up to longest_single_block_partition items, each partitioned by one block until its
/// buckets fit tiles.
///
///   shared memory, registers   for a tile: as in move_tile(); for the buckets: two per thread
///   shared memory              also the stack of pending parts
template <class Word, int ValueBytes, class Tiles = LargeTiles>
__global__ void __launch_bounds__(
    Tiles::template single_block_shape<Word, ValueBytes>.threads,
    Tiles::template single_block_shape<Word, ValueBytes>.resident_blocks)
    single_block_partition_kernel(Arguments<Word> arguments, WorkListsOf<Tiles> lists) {
  using Shared =
      PartitionShared<Word, ValueBytes, Tiles::template single_block_shape<Word, ValueBytes>>;
  Shared& shared = shared_memory<Shared>();
  __shared__ PendingParts<Tiles> pending;
  wait_for_preceding_kernels();
  const unsigned int segments = lists.counters->segments[single_block_class];
  const unsigned int all = segments + lists.counters->parts;
  for (unsigned int i = blockIdx.x; i < all; i += gridDim.x) {
    const Part part = i < segments ? part_of(arguments, lists.segment(single_block_class, i))
                                   : lists.parts[i - segments];
    partition_in_block(shared, pending, arguments, lists, part);
  }
}

}  // namespace sortie::segsort
