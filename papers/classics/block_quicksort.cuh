// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/cuda/check.hpp"
#include "papers/classics/prefix_sum.cuh"

/// Quicksort of many sequences, one block each: the last phase of the classics that split keys into
/// sequences first.
namespace sortie::papers::classics {

/// Maximum number of keys that a block sorts by a network in shared memory.
constexpr unsigned int short_keys = 1024;

/// A range of keys between two pivots, and the numbers of its keys that the splitting blocks have
/// found below and above the new pivot.
template <class Item>
struct Sequence {
  std::uint64_t begin;
  std::uint64_t end;
  unsigned long long below;
  unsigned long long above;
  Item pivot;
};

/// Shared memory of a split.
struct SplitStorage {
  std::uint32_t scan[33];
  unsigned long long below;
  unsigned long long above;
};

/// The median of the first, the middle and the last key.
template <class Memory, class Item>
__device__ Item pivot_of(Memory memory, const Item* keys, std::uint64_t begin, std::uint64_t end) {
  const Item a = memory.load(keys + begin);
  const Item b = memory.load(keys + begin + (end - begin) / 2);
  const Item c = memory.load(keys + end - 1);
  return max(min(a, b), min(max(a, b), c));
}

/// Moves the keys [begin, end) of a sequence to the other buffer: those below the pivot to the
/// front of the sequence, those above to its end. Each thread counts its keys first; a prefix sum
/// gives its output positions. A block reserves space for all its keys by one fetch-and-add at each
/// end.
template <class Memory, class Item>
__device__ void split(Memory memory, const Item* from, Item* to, std::uint64_t begin,
                      std::uint64_t end, Item pivot, Sequence<Item>& sequence,
                      SplitStorage& shared) {
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads) {
    const Item key = memory.load(from + i);
    below += key < pivot ? 1 : 0;
    above += key > pivot ? 1 : 0;
  }
  std::uint32_t all_below = 0;
  std::uint32_t all_above = 0;
  const std::uint32_t below_before = sum_before(below, shared.scan, all_below);
  __syncthreads();
  const std::uint32_t above_before = sum_before(above, shared.scan, all_above);
  if (threadIdx.x == 0) {
    shared.below = atomicAdd(&sequence.below, static_cast<unsigned long long>(all_below));
    shared.above = atomicAdd(&sequence.above, static_cast<unsigned long long>(all_above));
  }
  __syncthreads();
  std::uint64_t front = sequence.begin + shared.below + below_before;
  std::uint64_t back = sequence.end - shared.above - above_before;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads) {
    const Item key = memory.load(from + i);
    if (key < pivot) memory.store(to + front++, key);
    if (key > pivot) memory.store(to + --back, key);
  }
}

/// Sorts keys in shared memory by a bitonic network whose stages begin with a mirrored step, so
/// comparisons with positions beyond the end can be omitted.
template <class Item>
__device__ void sort_shared(Item* shared, unsigned int n) {
  const auto compare = [&](unsigned int i, unsigned int j) {
    if (i < j && j < n && shared[j] < shared[i]) {
      const Item key = shared[i];
      shared[i] = shared[j];
      shared[j] = key;
    }
  };
  for (unsigned int block = 2; block / 2 < n; block *= 2) {
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < n; i += threads) compare(i, i ^ (block - 1));
    for (unsigned int distance = block / 4; distance > 0; distance /= 2) {
      __syncthreads();
      for (unsigned int i = threadIdx.x; i < n; i += threads) compare(i, i ^ distance);
    }
  }
  __syncthreads();
}

template <class Memory, class Item>
__device__ void sort_short(Memory memory, const Item* from, Item* to, unsigned int n,
                           Item* shared) {
  for (unsigned int i = threadIdx.x; i < n; i += threads) shared[i] = memory.load(from + i);
  sort_shared(shared, n);
  for (unsigned int i = threadIdx.x; i < n; i += threads) memory.store(to + i, shared[i]);
  __syncthreads();
}

/// A sequence that a block sorts, and the buffer that contains it.
struct Waiting {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t buffer;
};

/// One block sorts a sequence, the shorter half first. The stack therefore holds at
/// most one sequence for each halving of the length.
template <class Memory, class Item>
__global__ void __launch_bounds__(threads)
    sort_kernel(Memory memory, Item* sorted, Item* other, const Waiting* sequences) {
  __shared__ SplitStorage shared;
  __shared__ Sequence<Item> sequence;
  __shared__ Waiting stack[64];
  __shared__ Item keys[short_keys];
  int waiting = 1;  // the same in all threads
  if (threadIdx.x == 0) stack[0] = sequences[blockIdx.x];
  __syncthreads();
  while (waiting > 0) {
    const Waiting now = stack[--waiting];
    const std::uint64_t size = now.end - now.begin;
    const Item* const from = now.buffer == 0 ? sorted : other;
    Item* const to = now.buffer == 0 ? other : sorted;
    if (size <= short_keys) {
      sort_short(memory, from + now.begin, sorted + now.begin, static_cast<unsigned int>(size),
                 keys);
      continue;
    }
    const Item pivot = pivot_of(memory, from, now.begin, now.end);
    __syncthreads();  // all threads have read the stack and the keys that determine the pivot
    if (threadIdx.x == 0) sequence = {now.begin, now.end, 0, 0, pivot};
    __syncthreads();
    split(memory, from, to, now.begin, now.end, pivot, sequence, shared);
    __syncthreads();
    const std::uint64_t below_end = now.begin + sequence.below;
    const std::uint64_t above_begin = now.end - sequence.above;
    const bool below_is_longer = sequence.below > sequence.above;
    for (std::uint64_t i = below_end + threadIdx.x; i < above_begin; i += threads)
      memory.store(sorted + i, pivot);
    if (threadIdx.x == 0) {
      const Waiting below{now.begin, below_end, 1 - now.buffer};
      const Waiting above{above_begin, now.end, 1 - now.buffer};
      stack[waiting] = below_is_longer ? below : above;
      stack[waiting + 1] = below_is_longer ? above : below;
    }
    waiting += 2;
    __syncthreads();
  }
}

/// The part of a sequence that one block splits.
struct Chunk {
  std::uint32_t sequence;
  std::uint32_t number;  ///< of `chunks` of the sequence
  std::uint32_t chunks;
};

/// Keys per chunk, and the minimum length of a sequence that several blocks split.
constexpr std::uint64_t chunk_keys = std::uint64_t{1} << 14;

/// Several blocks split sequences until none is longer than this fraction of all keys. There are
/// then enough sequences to keep all blocks of a large GPU busy.
constexpr std::uint64_t sequences_for_all_blocks = 4096;

[[nodiscard]] inline std::uint64_t most_for_a_block(std::uint64_t n) {
  return std::max(chunk_keys, n / sequences_for_all_blocks);
}

/// Divides all sequences, which have `begin` and `end`, into chunks of about chunk_keys keys.
template <class S>
[[nodiscard]] std::vector<Chunk> chunks_of(const std::vector<S>& sequences) {
  std::vector<Chunk> chunks;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const std::uint64_t size = sequences[s].end - sequences[s].begin;
    const auto count = static_cast<std::uint32_t>((size + chunk_keys - 1) / chunk_keys);
    for (std::uint32_t i = 0; i < count; ++i)
      chunks.push_back({static_cast<std::uint32_t>(s), i, count});
  }
  return chunks;
}

/// Sorts each sequence by a block. Waits for the stream.
template <class Memory, class Item>
void sort_sequences(Memory memory, Item* sorted, Item* other, std::vector<Waiting> sequences,
                    cudaStream_t stream) {
  if (sequences.empty()) return;
  // Long sequences first, for load balance: the last blocks then have little work.
  std::sort(sequences.begin(), sequences.end(),
            [](const Waiting& a, const Waiting& b) { return a.end - a.begin > b.end - b.begin; });
  const DeviceBuffer<Waiting> waiting(sequences, stream);
  sort_kernel<<<static_cast<unsigned int>(sequences.size()), threads, 0, stream>>>(
      memory, sorted, other, waiting.data());
  check_cuda(cudaGetLastError());
  check_cuda(cudaStreamSynchronize(stream));  // the copy to the device reads `sequences`
}

}  // namespace sortie::papers::classics
