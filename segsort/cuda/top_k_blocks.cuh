// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/top_k_arguments.cuh"
#include "segsort/cuda/top_k_threshold.cuh"

/// Selection by one block per segment, and by all blocks from long segments.
namespace sortie::segsort {

/// Shared memory of a block; behind it, its buffer: `capacity` words, then
/// their positions.
template <class Word>
struct TopKShared {
  Word minima[2 * top_k_block];
  std::uint32_t counts[64];
  std::uint32_t warp_counts[2][top_k_block / 32];
  std::uint32_t warp_ties[top_k_block / 32];
  std::uint32_t run_ends[parts_of_group];
  Word different;
  Word bound;
  Threshold<Word> threshold;
  unsigned long long task;
  bool is_last;
};

template <class Word>
constexpr std::size_t top_k_shared_bytes(int capacity) {
  return sizeof(TopKShared<Word>) +
         static_cast<std::size_t>(capacity) * (sizeof(Word) + sizeof(std::uint32_t));
}

/// Items in the shared memory of a block, ordered by position.
template <class Word>
struct TopKBuffer {
  TopKShared<Word>& shared;
  Word* words;
  std::uint32_t* positions;
  std::uint32_t count = 0;  ///< the same in all threads

  /// Keeps the `wanted` first items. Called by all threads. \pre wanted < count
  /// \return the greatest word kept
  __device__ Word reduce(std::uint32_t wanted) {
    __syncthreads();
    if (count <= top_k_block) {
      if (threadIdx.x < 32) {
        Word own[items_of_thread];
#pragma unroll
        for (int r = 0; r < items_of_thread; ++r) {
          const std::uint32_t i = 32 * r + threadIdx.x;
          own[r] = i < count ? words[i] : ~Word{0};
        }
        const Threshold<Word> found = threshold_in_warp(own, wanted);
        if (threadIdx.x == 0) shared.threshold = found;
      }
    } else {
      if (threadIdx.x < 64) shared.counts[threadIdx.x] = 0;
      if (threadIdx.x == 0) shared.different = 0;
      __syncthreads();
      const Word first = words[0];
      Word different = 0;
      for (std::uint32_t i = threadIdx.x; i < count; i += top_k_block)
        different |= words[i] ^ first;
      different = bits_of_warp(different);
      if (lane() == 0) {
        using Bits = std::conditional_t<sizeof(Word) == 4, unsigned int, unsigned long long>;
        atomicOr(reinterpret_cast<Bits*>(&shared.different), Bits{different});
      }
      __syncthreads();
      const int bit = highest_bit(shared.different);
      int step = 0;
      const Threshold<Word> found =
          find_threshold(without_low_bits(first, bit), bit, wanted, [&](Word middle) {
            std::uint32_t less = 0;
            for (std::uint32_t i = threadIdx.x; i < count; i += top_k_block)
              less += words[i] < middle ? 1 : 0;
            less = total_of_warp(less);
            if (lane() == 0) atomicAdd(&shared.counts[step], less);
            __syncthreads();
            return shared.counts[step++];
          });
      if (threadIdx.x == 0) shared.threshold = found;
    }
    __syncthreads();
    const Threshold<Word> threshold = shared.threshold;
    // Stable compaction, one item per thread at a time: items move to lower
    // places only.
    std::uint32_t all_less = 0;
    std::uint32_t all_ties = 0;
    for (std::uint32_t base = 0; base < count; base += top_k_block) {
      const std::uint32_t i = base + threadIdx.x;
      const Word word = i < count ? words[i] : ~Word{0};
      const std::uint32_t position = i < count ? positions[i] : 0;
      const bool is_less = word < threshold.word;
      const bool is_tie = i < count && word == threshold.word;
      const unsigned int less = __ballot_sync(full_warp, is_less);
      const unsigned int equal = __ballot_sync(full_warp, is_tie);
      if (lane() == 0) {
        shared.warp_counts[0][threadIdx.x / 32] = lanes_of(less);
        shared.warp_ties[threadIdx.x / 32] = lanes_of(equal);
      }
      __syncthreads();
      std::uint32_t less_before = 0;
      std::uint32_t ties_before = 0;
#pragma unroll
      for (unsigned int w = 0; w < top_k_block / 32; ++w) {
        if (w == threadIdx.x / 32) {
          less_before = all_less + rank_among(less);
          ties_before = all_ties + rank_among(equal);
        }
        all_less += shared.warp_counts[0][w];
        all_ties += shared.warp_ties[w];
      }
      if (is_less || (is_tie && ties_before < threshold.ties)) {
        const std::uint32_t place = less_before + min(ties_before, threshold.ties);
        words[place] = word;
        positions[place] = position;
      }
      __syncthreads();
    }
    count = wanted;
    return threshold.word;
  }
};

/// What a block selects from: keys of the caller, or candidates, which are encoded keys.
template <class Key>
struct BlockSource {
  const Key* words;
  std::uint64_t begin;
  std::uint32_t length;
  WordCodec<Key> codec;
};

/// The wanted-th of 32 * Rows minima in shared memory. Called by a warp.
template <int Rows, class Word>
__device__ __forceinline__ Word bound_by_minima(const Word* shared_minima, std::uint32_t wanted) {
  Word minima[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) minima[r] = shared_minima[32 * r + lane()];
  return threshold_in_warp(minima, wanted).greatest();
}

/// Leaves the `wanted` first items in the buffer. Called by all threads of a
/// block.
///
/// Each warp reads consecutive rows, one chunk ahead. Items up to `bound`, an
/// upper bound of the wanted-th word, enter the buffer. After a full buffer has
/// been reduced, the bound is the word before its last, since later items lose
/// against equal ones. \param bound  of the words that matter; all ones: not
/// known. If fewer than `wanted` are within
///               it, the buffer has only those.
template <class Key>
__device__ __forceinline__ void select_in_block(const BlockSource<Key>& source,
                                                std::uint32_t wanted, int capacity,
                                                TopKBuffer<WordOf<Key>>& buffer,
                                                WordOf<Key> bound) {
  using Word = WordOf<Key>;
  constexpr unsigned int warps = top_k_block / 32;
  // At most half as many as there are minima: the bound passes about 1.4 *
  // wanted items.
  constexpr std::uint32_t most_by_minima = top_k_block;
  TopKShared<Word>& shared = buffer.shared;
  const unsigned int warp = threadIdx.x / 32;
  const bool has_bound = bound != ~Word{0};
  bool are_least = bound == 0;  // all words in the buffer are the least
  int parity = 0;
  buffer.count = 0;
  const Key* const from = source.words + source.begin;
  const auto load = [&](Word(&words)[items_of_thread], std::uint32_t first) {
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      const std::uint32_t i = first + 32 * r;
      words[r] = i < source.length ? source.codec.encoded(from[i]) : ~Word{0};
    }
  };
  Word next[items_of_thread];
  load(next, warp * 32 * items_of_thread + lane());
  for (std::uint32_t base = 0; base < source.length; base += top_k_chunk) {
    // Later items lose against those that the buffer has.
    if (are_least && buffer.count >= wanted) break;
    if (buffer.count + top_k_chunk > static_cast<std::uint32_t>(capacity)) {
      const Word last = buffer.reduce(wanted);
      if (last == 0) return;
      bound = last - 1;
    }
    // Prefetches the lines of the chunk after the next.
    constexpr std::uint32_t line_items = 128 / sizeof(Key);
    if (const std::uint32_t ahead = base + 2 * top_k_chunk + threadIdx.x * line_items;
        threadIdx.x < top_k_chunk / line_items && ahead < source.length)
      prefetch_line(from + ahead);
    Word words[items_of_thread];
    const std::uint32_t first = base + warp * 32 * items_of_thread + lane();
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) words[r] = next[r];
    if (base + top_k_chunk < source.length) load(next, first + top_k_chunk);
    if (base == 0 && !has_bound && wanted <= most_by_minima && source.length >= top_k_chunk) {
      constexpr int half = items_of_thread / 2;
      Word least[2] = {words[0], words[half]};
#pragma unroll
      for (int r = 1; r < half; ++r) {
        least[0] = min(least[0], words[r]);
        least[1] = min(least[1], words[half + r]);
      }
      const bool in_halves = wanted > top_k_block / 2;
      __syncthreads();
      shared.minima[threadIdx.x] = in_halves ? least[0] : min(least[0], least[1]);
      if (in_halves) shared.minima[top_k_block + threadIdx.x] = least[1];
      __syncthreads();
      if (warp == 0) {
        const Word found = in_halves ? bound_by_minima<2 * warps>(shared.minima, wanted)
                                     : bound_by_minima<warps>(shared.minima, wanted);
        if (lane() == 0) shared.bound = found;
      }
      __syncthreads();
      bound = shared.bound;
      are_least = bound == 0;
    }
    unsigned int passing[items_of_thread];
    std::uint32_t of_warp = 0;
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      passing[r] = __ballot_sync(full_warp, words[r] <= bound && first + 32 * r < source.length);
      of_warp += lanes_of(passing[r]);
    }
    if (lane() == 0) shared.warp_counts[parity][warp] = of_warp;
    __syncthreads();
    std::uint32_t place = buffer.count;
#pragma unroll
    for (unsigned int w = 0; w < warps; ++w) {
      const std::uint32_t of_other = shared.warp_counts[parity][w];
      if (w < warp) place += of_other;
      buffer.count += of_other;
    }
    parity ^= 1;
    if (of_warp == 0) continue;
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      if ((passing[r] >> lane() & 1) != 0) {
        const std::uint32_t at = place + rank_among(passing[r]);
        buffer.words[at] = words[r];
        buffer.positions[at] = first + 32 * r;
      }
      place += lanes_of(passing[r]);
    }
  }
  if (buffer.count > wanted) {
    buffer.reduce(wanted);
  } else {
    __syncthreads();
  }
}

/// Candidates of the members of a group, in the order of the members: those of
/// member m begin at m * stride.
template <class Key>
struct CandidateRuns {
  const Key* words;
  const std::uint32_t* counts;
  std::uint32_t members;
  std::uint32_t stride;
};

/// Collects all candidates in the buffer, and keeps the `wanted` first. Called
/// by all threads of a block. Returns false if they exceed the buffer.
template <class Key>
__device__ __forceinline__ bool collect_runs(const CandidateRuns<Key>& runs, std::uint32_t wanted,
                                             int capacity, TopKBuffer<WordOf<Key>>& buffer) {
  using Word = WordOf<Key>;
  static_assert(parts_of_group == 32);
  TopKShared<Word>& shared = buffer.shared;
  __syncthreads();
  if (threadIdx.x < 32) {
    const std::uint32_t count = lane() < runs.members ? runs.counts[lane()] : 0;
    shared.run_ends[lane()] = inclusive_sum_in_warp(count);
  }
  __syncthreads();
  buffer.count = shared.run_ends[parts_of_group - 1];
  if (buffer.count > static_cast<std::uint32_t>(capacity)) return false;
  for (std::uint32_t member = threadIdx.x / 32; member < runs.members; member += top_k_block / 32) {
    const std::uint32_t begin = member == 0 ? 0 : shared.run_ends[member - 1];
    const std::uint32_t count = shared.run_ends[member] - begin;
    for (std::uint32_t i = lane(); i < count; i += 32) {
      buffer.words[begin + i] = runs.words[member * runs.stride + i];
      buffer.positions[begin + i] = member * runs.stride + i;
    }
  }
  if (buffer.count > wanted) {
    buffer.reduce(wanted);
  } else {
    __syncthreads();
  }
  return true;
}

/// Finds bounds of the k-th words of long segments: for each of sample_parts
/// interleaved samples, the word up to which it has its share of the k items.
/// The greatest of these words is a bound.
///
///   thread t of a block   the least of its items, one of each of sample_rows
///   rows that are
///                         spread over the segment
template <class Key>
__global__ void __launch_bounds__(top_k_block)
    top_k_sample_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  constexpr unsigned int warps = top_k_block / 32;
  __shared__ Word minima[top_k_block];
  const TopKLists& lists = arguments.lists;
  const std::uint64_t tasks = lists.counters->long_segments * sample_parts;
  for (std::uint64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    const std::uint64_t index = task / sample_parts;
    const Selection s = selection_of(arguments, lists.long_segments[index].segment);
    if (s.length < shortest_sampled) continue;
    const std::uint64_t lines = std::uint64_t{sample_parts} * warps * sample_rows;
    const std::uint64_t step = (s.length - 32) / (lines - 1);
    const Key* const keys = arguments.keys_in + s.begin + lane();
    const std::uint64_t first = task % sample_parts * warps + threadIdx.x / 32;
    Word least = ~Word{0};
#pragma unroll 16
    for (unsigned int row = 0; row < sample_rows; ++row)
      least = min(least, arguments.codec.encoded(
                             keys[(first + std::uint64_t{row} * sample_parts * warps) * step]));
    __syncthreads();
    minima[threadIdx.x] = least;
    __syncthreads();
    if (threadIdx.x >= 32) continue;
    const auto share = static_cast<std::uint32_t>((s.wanted - 1) / sample_parts + 1);
    const Word bound = bound_by_minima<warps>(minima, share);
    if (lane() == 0) atomicMax(&lists.bounds[index], stored_bound(bound));
  }
}

/// Segments of more than longest_of_warp items, and the parts of long ones. The
/// block that finishes the last part of a group merges their results, and so
/// on.
template <class Key>
__global__ void __launch_bounds__(top_k_block, 4)
    top_k_block_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  auto& shared = *reinterpret_cast<TopKShared<Word>*>(dynamic_shared_memory());
  auto* const words = reinterpret_cast<Word*>(&shared + 1);
  TopKBuffer<Word> buffer{shared, words,
                          reinterpret_cast<std::uint32_t*>(words + arguments.capacity)};
  const TopKLists& lists = arguments.lists;
  auto* const candidates = static_cast<Key*>(lists.candidates);
  const std::uint64_t all_parts = lists.counters->parts;
  const std::uint64_t tasks = all_parts + lists.counters->block_segments;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) shared.task = atomicAdd(&lists.counters->next_task, 1);
    __syncthreads();
    const std::uint64_t task = shared.task;
    if (task >= tasks) return;

    const bool in_parts = task < all_parts;
    LongSegment owner{};
    std::uint32_t owner_index = 0;
    if (in_parts) {
      owner_index = lists.part_owner[task];
      owner = lists.long_segments[owner_index];
    } else {
      owner.segment = lists.block_segments[task - all_parts];
    }
    Word bound = ~Word{0};
    if (in_parts && lists.bounds != nullptr && lists.bounds[owner_index] != 0)
      bound = loaded_bound<Word>(lists.bounds[owner_index]);
    const Selection whole = selection_of(arguments, owner.segment);
    const Parts parts(whole.length);
    const std::uint64_t part = in_parts ? task - owner.first_part : 0;
    const std::uint64_t last_part = whole.length - (parts.count - 1) * parts.size;
    std::uint64_t begin = whole.begin + part * parts.size;
    std::uint64_t length = whole.length;
    if (in_parts) length = part + 1 == parts.count ? last_part : parts.size;
    // Where candidates go; all parts and groups but the last have whole.wanted
    // of them.
    std::uint64_t place = owner.first_part * arguments.k + part * whole.wanted;
    const std::uint64_t group = part / parts_of_group;
    const std::uint64_t group_candidates = (lists.part_capacity + owner.first_group) * arguments.k;
    bool merges = false;
    std::uint64_t first_count = 0;  // of the members that are merged
    std::uint32_t all_members = 0;
    for (int level = in_parts ? 0 : 2;; ++level) {
      // Constructed at each level: nvcc 13.0 keeps keys_in in place of a
      // pointer that is assigned at the end of the loop.
      const BlockSource<Key> source{merges ? in_global_memory(candidates) : arguments.keys_in,
                                    begin, static_cast<std::uint32_t>(length),
                                    merges ? WordCodec<Key>{} : arguments.codec};
      const auto wanted = static_cast<std::uint32_t>(min(whole.wanted, length));
      const CandidateRuns<Key> runs{in_global_memory(candidates) + begin,
                                    lists.candidate_counts + first_count, all_members,
                                    static_cast<std::uint32_t>(whole.wanted)};
      if (!merges || !collect_runs(runs, wanted, arguments.capacity, buffer))
        select_in_block(source, wanted, arguments.capacity, buffer, bound);
      const bool is_result = level == 2 || (level == 1 && parts.groups == 1);
      for (std::uint32_t i = threadIdx.x; i < wanted; i += top_k_block) {
        if (i >= buffer.count) {  // beyond the bound: loses against all
                                  // candidates within it
          candidates[place + i] = static_cast<Key>(~Key{0});
          continue;
        }
        const Word word = buffer.words[i];
        const std::uint64_t at = begin + buffer.positions[i];
        const std::uint64_t position = merges ? lists.positions[at] : at;
        if (!is_result) {
          candidates[place + i] = static_cast<Key>(word);
          lists.positions[place + i] = position;
          continue;
        }
        std::uint32_t rank = i;
        if (arguments.sorted) {
          rank = 0;
          for (std::uint32_t j = 0; j < wanted; ++j)
            rank += buffer.words[j] < word || (buffer.words[j] == word && j < i) ? 1 : 0;
        }
        arguments.put(whole.out + rank, word, position);
      }
      if (is_result) break;
      if (threadIdx.x == 0)
        lists.candidate_counts[level == 0 ? owner.first_part + part
                                          : lists.part_capacity + owner.first_group + group] =
            min(buffer.count, wanted);
      const std::uint64_t first_of_group = group * parts_of_group;
      const std::uint64_t members =
          level == 0 ? min(parts_of_group, parts.count - first_of_group) : parts.groups;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) {
        unsigned int& done = level == 0 ? lists.parts_done[owner.first_group + group]
                                        : lists.groups_done[owner_index];
        shared.is_last = atomicAdd(&done, 1u) + 1 == members;
      }
      __syncthreads();
      if (!shared.is_last) break;
      __threadfence();
      // The last member has fewer candidates only if it is the last part
      // itself.
      const bool ends_with_part =
          level == 0 ? first_of_group + members == parts.count : parts.count % parts_of_group == 1;
      const std::uint64_t last = ends_with_part ? min(whole.wanted, last_part) : whole.wanted;
      merges = true;
      all_members = static_cast<std::uint32_t>(members);
      first_count =
          level == 0 ? owner.first_part + first_of_group : lists.part_capacity + owner.first_group;
      begin = level == 0 ? owner.first_part * arguments.k + first_of_group * whole.wanted
                         : group_candidates;
      length = (members - 1) * whole.wanted + last;
      place = group_candidates + group * whole.wanted;
    }
  }
}

}  // namespace sortie::segsort
