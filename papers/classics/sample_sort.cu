// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "papers/classics/block_quicksort.cuh"

namespace sortie::papers::classics {
namespace {

/// Splitters of a sequence, and the sample that they are drawn from: every eighth key of 1024.
constexpr unsigned int splitters = 127;
constexpr unsigned int sample_keys = 1024;
/// Bucket 2 j holds the keys between splitters j - 1 and j; bucket 2 j + 1 those equal to splitter j,
/// which are in order already. The last number is not used.
constexpr unsigned int buckets = 2 * (splitters + 1);
static_assert(buckets == threads && sample_keys == short_keys, "a thread for each bucket");

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t first_count;  ///< of the sequence's counts, those of a bucket one after the other
};

/// A block sorts a sample of a sequence and takes its splitters.
template <class Memory, class Item>
__global__ void __launch_bounds__(threads)
    sample_kernel(Memory memory, const Item* keys, const Range* ranges, Item* splitter) {
  __shared__ Item sample[sample_keys];
  const Range range = ranges[blockIdx.x];
  for (unsigned int i = threadIdx.x; i < sample_keys; i += threads) {
    const std::uint64_t pseudo_random = (i + 1) * 0x9e3779b97f4a7c15ULL ^ range.end;
    const std::uint64_t place = pseudo_random * 0xbf58476d1ce4e5b9ULL >> 20;
    sample[i] = memory.load(keys + range.begin + place % (range.end - range.begin));
  }
  sort_shared(sample, sample_keys);
  if (threadIdx.x < splitters)
    memory.store(splitter + blockIdx.x * splitters + threadIdx.x,
                 sample[(threadIdx.x + 1) * (sample_keys / (splitters + 1))]);
}

/// Number of a key's bucket, by binary search.
template <class Item>
__device__ unsigned int bucket_of(Item key, const Item* splitter) {
  unsigned int j = 0;  // splitters below the key
  for (unsigned int step = (splitters + 1) / 2; step > 0; step /= 2)
    if (splitter[j + step - 1] < key) j += step;
  return 2 * j + (j < splitters && splitter[j] == key ? 1 : 0);
}

/// A block counts the keys of its chunk in each bucket or, with Move, moves them. Thread b stores the
/// count of bucket b and loads its place, which the prefix sum over all counts yields.
/// \param bounds  with Move: the begins of the buckets of each sequence
template <bool Move, class Memory, class Item>
__global__ void __launch_bounds__(threads)
    buckets_kernel(Memory memory, const Item* from, Item* to, const Range* ranges,
                   const Chunk* chunks, const Item* splitter, std::uint32_t* counts,
                   std::uint64_t* bounds) {
  __shared__ Item of_sequence[splitters];
  __shared__ unsigned long long places[buckets];
  const Chunk chunk = chunks[blockIdx.x];
  const Range range = ranges[chunk.sequence];
  const unsigned int bucket = threadIdx.x;
  if (bucket < splitters)
    of_sequence[bucket] = memory.load(splitter + chunk.sequence * splitters + bucket);
  std::uint32_t* const count =
      counts + range.first_count + std::uint64_t{bucket} * chunk.chunks + chunk.number;
  places[bucket] = 0;
  if constexpr (Move) {
    places[bucket] = range.begin + (memory.load(count) - memory.load(counts + range.first_count));
    if (chunk.number == 0) bounds[chunk.sequence * buckets + bucket] = places[bucket];
  }
  __syncthreads();
  const std::uint64_t size = range.end - range.begin;
  const std::uint64_t end = range.begin + size * (chunk.number + 1) / chunk.chunks;
  for (std::uint64_t i = range.begin + size * chunk.number / chunk.chunks + threadIdx.x; i < end;
       i += threads) {
    const Item key = memory.load(from + i);
    const unsigned long long place = atomicAdd(&places[bucket_of(key, of_sequence)], 1ULL);
    if constexpr (Move) memory.store(to + place, key);
  }
  if constexpr (!Move) {
    __syncthreads();
    memory.store(count, static_cast<std::uint32_t>(places[bucket]));
  }
}

}  // namespace

template <class Item>
void sample_sort(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<Item> other(keys.n, run.stream);
  with_memory(run, [&](auto memory) {
    std::vector<Waiting> short_ones;
    std::vector<Range> ranges;
    std::uint32_t buffer = 0;
    const auto add = [&](std::vector<Range>& long_ones, std::uint64_t begin, std::uint64_t end) {
      if (end - begin > most_for_a_block(keys.n)) {
        long_ones.push_back({begin, end, 0});
      } else if (begin < end) {
        short_ones.push_back({begin, end, buffer});
      }
    };
    add(ranges, 0, keys.n);
    while (!ranges.empty()) {
      const std::vector<Chunk> chunks = chunks_of(ranges);
      std::uint64_t all_counts = 0;
      for (const Chunk& chunk : chunks) {
        if (chunk.number != 0) continue;
        ranges[chunk.sequence].first_count = all_counts;
        all_counts += std::uint64_t{chunk.chunks} * buckets;
      }
      const DeviceBuffer<Range> device_ranges(ranges, run.stream);
      const DeviceBuffer<Chunk> device_chunks(chunks, run.stream);
      DeviceBuffer<Item> splitter(ranges.size() * splitters, run.stream);
      DeviceBuffer<std::uint32_t> counts(all_counts, run.stream);
      DeviceBuffer<std::uint64_t> device_bounds(ranges.size() * buckets, run.stream);
      const auto blocks = static_cast<unsigned int>(chunks.size());
      Item* const from = buffer == 0 ? keys.data : other.data();
      Item* const to = buffer == 0 ? other.data() : keys.data;
      sample_kernel<<<static_cast<unsigned int>(ranges.size()), threads, 0, run.stream>>>(
          memory, from, device_ranges.data(), splitter.data());
      buckets_kernel<false><<<blocks, threads, 0, run.stream>>>(
          memory, from, to, device_ranges.data(), device_chunks.data(), splitter.data(),
          counts.data(), device_bounds.data());
      prefix_sum(memory, counts.data(), all_counts, run.stream);
      buckets_kernel<true><<<blocks, threads, 0, run.stream>>>(
          memory, from, to, device_ranges.data(), device_chunks.data(), splitter.data(),
          counts.data(), device_bounds.data());
      check_cuda(cudaGetLastError());
      std::vector<std::uint64_t> bounds(ranges.size() * buckets);
      device_bounds.copy_to(bounds);
      check_cuda(cudaStreamSynchronize(run.stream));
      buffer = 1 - buffer;
      std::vector<Range> long_ones;
      for (std::size_t s = 0; s < ranges.size(); ++s) {
        for (unsigned int b = 0; b < buckets; ++b) {
          std::uint64_t begin = bounds[s * buckets + b];
          const std::uint64_t end = b + 1 < buckets ? bounds[s * buckets + b + 1] : ranges[s].end;
          // Parts of a bucket of equal keys are in order, too.
          for (; b % 2 == 1 && end - begin > chunk_keys; begin += chunk_keys)
            add(long_ones, begin, begin + chunk_keys);
          add(long_ones, begin, end);
        }
      }
      ranges = std::move(long_ones);
    }
    sort_sequences(memory, keys.data, other.data(), short_ones, run.stream);
  });
}

template void sample_sort(Keys, const Run&);
template void sample_sort(Pairs, const Run&);

}  // namespace sortie::papers::classics
