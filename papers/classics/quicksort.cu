// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "papers/classics/prefix_sum.cuh"

namespace sortie::papers::classics {
namespace {

/// Maximum number of keys that a block sorts by a network in shared memory.
constexpr unsigned int short_keys = 1024;

/// Keys per block in the first phase, and the minimum length of a sequence that is split there.
constexpr std::uint64_t chunk_keys = std::uint64_t{1} << 14;

/// The first phase ends when no sequence is longer than this fraction of all keys. There are then
/// enough sequences to keep all blocks of a large GPU busy.
constexpr std::uint64_t sequences_for_all_blocks = 4096;

/// A range of keys between two pivots, and the numbers of its keys that the splitting blocks have
/// found below and above the new pivot.
struct Sequence {
  std::uint64_t begin;
  std::uint64_t end;
  unsigned long long below;
  unsigned long long above;
  std::uint32_t pivot;
};

/// The part of a sequence that one block of the first phase splits.
struct Chunk {
  std::uint32_t sequence;
  std::uint32_t number;  ///< of `chunks` of the sequence
  std::uint32_t chunks;
};

/// Shared memory of a split.
struct SplitStorage {
  std::uint32_t scan[33];
  unsigned long long below;
  unsigned long long above;
};

/// The median of the first, the middle and the last key.
template <class Memory>
__device__ std::uint32_t pivot_of(Memory memory, const std::uint32_t* keys, std::uint64_t begin,
                                  std::uint64_t end) {
  const std::uint32_t a = memory.load(keys + begin);
  const std::uint32_t b = memory.load(keys + begin + (end - begin) / 2);
  const std::uint32_t c = memory.load(keys + end - 1);
  return max(min(a, b), min(max(a, b), c));
}

/// Moves the keys [begin, end) of a sequence to the other buffer: those below the pivot to the
/// front of the sequence, those above to its end. Each thread counts its keys first; a prefix sum
/// gives its output positions. A block reserves space for all its keys by one fetch-and-add at each
/// end.
template <class Memory>
__device__ void split(Memory memory, const std::uint32_t* from, std::uint32_t* to,
                      std::uint64_t begin, std::uint64_t end, std::uint32_t pivot,
                      Sequence& sequence, SplitStorage& shared) {
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads) {
    const std::uint32_t key = memory.load(from + i);
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
    const std::uint32_t key = memory.load(from + i);
    if (key < pivot) memory.store(to + front++, key);
    if (key > pivot) memory.store(to + --back, key);
  }
}

/// First phase: a block splits a chunk.
template <class Memory>
__global__ void __launch_bounds__(threads)
    split_kernel(Memory memory, const std::uint32_t* from, std::uint32_t* to, Sequence* sequences,
                 const Chunk* chunks) {
  __shared__ SplitStorage shared;
  const Chunk chunk = chunks[blockIdx.x];
  Sequence& sequence = sequences[chunk.sequence];
  const std::uint64_t size = sequence.end - sequence.begin;
  const std::uint32_t pivot = pivot_of(memory, from, sequence.begin, sequence.end);
  if (chunk.number == 0 && threadIdx.x == 0) sequence.pivot = pivot;
  split(memory, from, to, sequence.begin + size * chunk.number / chunk.chunks,
        sequence.begin + size * (chunk.number + 1) / chunk.chunks, pivot, sequence, shared);
}

/// Writes the keys equal to the pivot between those below and above it. They are in final position.
template <class Memory>
__global__ void __launch_bounds__(threads)
    fill_kernel(Memory memory, std::uint32_t* sorted, const Sequence* sequences,
                const Chunk* chunks) {
  const Chunk chunk = chunks[blockIdx.x];
  const Sequence sequence = sequences[chunk.sequence];
  const std::uint64_t first = sequence.begin + sequence.below;
  for (std::uint64_t i = first + chunk.number * threads + threadIdx.x;
       i < sequence.end - sequence.above; i += std::uint64_t{chunk.chunks} * threads)
    memory.store(sorted + i, sequence.pivot);
}

/// Sorts up to short_keys keys by a bitonic network whose stages begin with a mirrored step, so
/// comparisons with positions beyond the end can be omitted.
template <class Memory>
__device__ void sort_short(Memory memory, const std::uint32_t* from, std::uint32_t* to,
                           unsigned int n, std::uint32_t* shared) {
  for (unsigned int i = threadIdx.x; i < n; i += threads) shared[i] = memory.load(from + i);
  const auto compare = [&](unsigned int i, unsigned int j) {
    if (i < j && j < n && shared[j] < shared[i]) {
      const std::uint32_t key = shared[i];
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
  for (unsigned int i = threadIdx.x; i < n; i += threads) memory.store(to + i, shared[i]);
  __syncthreads();
}

/// A pending sequence of the second phase, and the buffer that contains it.
struct Waiting {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t buffer;
};

/// Second phase: one block sorts a sequence, the shorter half first. The stack therefore holds at
/// most one sequence for each halving of the length.
template <class Memory>
__global__ void __launch_bounds__(threads)
    sort_kernel(Memory memory, std::uint32_t* sorted, std::uint32_t* other,
                const Waiting* sequences) {
  __shared__ SplitStorage shared;
  __shared__ Sequence sequence;
  __shared__ Waiting stack[64];
  __shared__ std::uint32_t keys[short_keys];
  int waiting = 1;  // the same in all threads
  if (threadIdx.x == 0) stack[0] = sequences[blockIdx.x];
  __syncthreads();
  while (waiting > 0) {
    const Waiting now = stack[--waiting];
    const std::uint64_t size = now.end - now.begin;
    const std::uint32_t* const from = now.buffer == 0 ? sorted : other;
    std::uint32_t* const to = now.buffer == 0 ? other : sorted;
    if (size <= short_keys) {
      sort_short(memory, from + now.begin, sorted + now.begin, static_cast<unsigned int>(size),
                 keys);
      continue;
    }
    const std::uint32_t pivot = pivot_of(memory, from, now.begin, now.end);
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

/// Divides all sequences into chunks of about chunk_keys keys.
std::vector<Chunk> chunks_of(const std::vector<Sequence>& sequences) {
  std::vector<Chunk> chunks;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const std::uint64_t size = sequences[s].end - sequences[s].begin;
    const auto count = static_cast<std::uint32_t>((size + chunk_keys - 1) / chunk_keys);
    for (std::uint32_t i = 0; i < count; ++i)
      chunks.push_back({static_cast<std::uint32_t>(s), i, count});
  }
  return chunks;
}

}  // namespace

void quicksort(Keys keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<std::uint32_t> other(keys.n, run.stream);
  const std::uint64_t most_for_a_block = std::max(chunk_keys, keys.n / sequences_for_all_blocks);
  std::vector<Waiting> short_ones;  // for the second phase
  with_memory(run, [&](auto memory) {
    std::vector<Sequence> sequences;
    std::uint32_t buffer = 0;
    const auto add = [&](std::vector<Sequence>& long_ones, std::uint64_t begin, std::uint64_t end) {
      if (end - begin > most_for_a_block) {
        long_ones.push_back({begin, end, 0, 0, 0});
      } else if (begin < end) {
        short_ones.push_back({begin, end, buffer});
      }
    };
    add(sequences, 0, keys.n);
    while (!sequences.empty()) {
      const std::vector<Chunk> chunks = chunks_of(sequences);
      DeviceBuffer<Sequence> device_sequences(sequences, run.stream);
      const DeviceBuffer<Chunk> device_chunks(chunks, run.stream);
      const auto blocks = static_cast<unsigned int>(chunks.size());
      std::uint32_t* const from = buffer == 0 ? keys.data : other.data();
      std::uint32_t* const to = buffer == 0 ? other.data() : keys.data;
      split_kernel<<<blocks, threads, 0, run.stream>>>(memory, from, to, device_sequences.data(),
                                                       device_chunks.data());
      fill_kernel<<<blocks, threads, 0, run.stream>>>(memory, keys.data, device_sequences.data(),
                                                      device_chunks.data());
      check_cuda(cudaGetLastError());
      device_sequences.copy_to(sequences);
      check_cuda(cudaStreamSynchronize(run.stream));
      buffer = 1 - buffer;
      std::vector<Sequence> long_ones;
      for (const Sequence& split_one : sequences) {
        add(long_ones, split_one.begin, split_one.begin + split_one.below);
        add(long_ones, split_one.end - split_one.above, split_one.end);
      }
      sequences = std::move(long_ones);
    }
    if (short_ones.empty()) return;
    // Long sequences first, for load balance: the last blocks then have little work.
    std::sort(short_ones.begin(), short_ones.end(),
              [](const Waiting& a, const Waiting& b) { return a.end - a.begin > b.end - b.begin; });
    const DeviceBuffer<Waiting> waiting(short_ones, run.stream);
    sort_kernel<<<static_cast<unsigned int>(short_ones.size()), threads, 0, run.stream>>>(
        memory, keys.data, other.data(), waiting.data());
    check_cuda(cudaGetLastError());
    check_cuda(cudaStreamSynchronize(run.stream));  // short_ones is destroyed here
  });
}

}  // namespace sortie::papers::classics
