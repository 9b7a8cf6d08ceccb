// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "papers/classics/block_quicksort.cuh"

namespace sortie::papers::classics {
namespace {

/// First phase: a block splits a chunk.
template <class Memory, class Item>
__global__ void __launch_bounds__(threads)
    split_kernel(Memory memory, const Item* from, Item* to, Sequence<Item>* sequences,
                 const Chunk* chunks) {
  __shared__ SplitStorage shared;
  const Chunk chunk = chunks[blockIdx.x];
  Sequence<Item>& sequence = sequences[chunk.sequence];
  const std::uint64_t size = sequence.end - sequence.begin;
  const Item pivot = pivot_of(memory, from, sequence.begin, sequence.end);
  if (chunk.number == 0 && threadIdx.x == 0) sequence.pivot = pivot;
  split(memory, from, to, sequence.begin + size * chunk.number / chunk.chunks,
        sequence.begin + size * (chunk.number + 1) / chunk.chunks, pivot, sequence, shared);
}

/// Writes the keys equal to the pivot between those below and above it. They are in final position.
template <class Memory, class Item>
__global__ void __launch_bounds__(threads)
    fill_kernel(Memory memory, Item* sorted, const Sequence<Item>* sequences, const Chunk* chunks) {
  const Chunk chunk = chunks[blockIdx.x];
  const Sequence<Item> sequence = sequences[chunk.sequence];
  const std::uint64_t first = sequence.begin + sequence.below;
  for (std::uint64_t i = first + chunk.number * threads + threadIdx.x;
       i < sequence.end - sequence.above; i += std::uint64_t{chunk.chunks} * threads)
    memory.store(sorted + i, sequence.pivot);
}

}  // namespace

template <class Item>
void quicksort(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<Item> other(keys.n, run.stream);
  std::vector<Waiting> short_ones;  // for the second phase
  with_memory(run, [&](auto memory) {
    std::vector<Sequence<Item>> sequences;
    std::uint32_t buffer = 0;
    const auto add = [&](std::vector<Sequence<Item>>& long_ones, std::uint64_t begin,
                         std::uint64_t end) {
      if (end - begin > most_for_a_block(keys.n)) {
        long_ones.push_back({begin, end, 0, 0, 0});
      } else if (begin < end) {
        short_ones.push_back({begin, end, buffer});
      }
    };
    add(sequences, 0, keys.n);
    while (!sequences.empty()) {
      const std::vector<Chunk> chunks = chunks_of(sequences);
      DeviceBuffer<Sequence<Item>> device_sequences(sequences, run.stream);
      const DeviceBuffer<Chunk> device_chunks(chunks, run.stream);
      const auto blocks = static_cast<unsigned int>(chunks.size());
      Item* const from = buffer == 0 ? keys.data : other.data();
      Item* const to = buffer == 0 ? other.data() : keys.data;
      split_kernel<<<blocks, threads, 0, run.stream>>>(memory, from, to, device_sequences.data(),
                                                       device_chunks.data());
      fill_kernel<<<blocks, threads, 0, run.stream>>>(memory, keys.data, device_sequences.data(),
                                                      device_chunks.data());
      check_cuda(cudaGetLastError());
      device_sequences.copy_to(sequences);
      check_cuda(cudaStreamSynchronize(run.stream));
      buffer = 1 - buffer;
      std::vector<Sequence<Item>> long_ones;
      for (const Sequence<Item>& split_one : sequences) {
        add(long_ones, split_one.begin, split_one.begin + split_one.below);
        add(long_ones, split_one.end - split_one.above, split_one.end);
      }
      sequences = std::move(long_ones);
    }
    sort_sequences(memory, keys.data, other.data(), short_ones, run.stream);
  });
}

template void quicksort(Keys, const Run&);
template void quicksort(Pairs, const Run&);

}  // namespace sortie::papers::classics
