// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/random.hpp"
#include "multisort/cuda/radix/group_lookup.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/key_codec.hpp"

/// Kernels that count the groups of all keys, and of the keys before each tile; that count the
/// digits of the keys of some buckets; and that take samples.
namespace sortie::multisort {

inline constexpr int count_threads = 512;
/// Loads in flight per thread.
inline constexpr int count_unroll = 8;

/// Counts in shared memory. Run-length aggregates the atomics: equal keys often come in long runs,
/// and their additions to one address would be serialised.
class RunCounter {
 public:
  __device__ explicit RunCounter(std::uint32_t* counts) : counts_(counts) {}
  __device__ void add(std::uint32_t counter) {
    if (counter != last_) {
      flush();
      last_ = counter;
    }
    ++run_;
  }
  __device__ void flush() {
    if (run_ != 0) atomicAdd(&counts_[last_], run_);
    run_ = 0;
  }

 private:
  std::uint32_t* counts_;
  std::uint32_t last_ = 0;
  std::uint32_t run_ = 0;
};

/// The same for heavy hitters: few counters receive most keys, in any order. The block elects the
/// most frequent counters among its first keys, and each thread counts these in registers.
class HeavyHitterCounter {
 public:
  static constexpr int heavy_hitters = 2;

  /// Called by all threads of the block; ends with a barrier.
  /// \param counts     the counters that the thread adds to
  /// \param votes_of   counters shared by the block; zero before and after
  /// \param candidate  counter of one key of the thread
  __device__ HeavyHitterCounter(std::uint32_t* counts, std::uint32_t* votes_of,
                                std::uint32_t candidate)
      : counts_(counts) {
    __shared__ unsigned int best[heavy_hitters];
    if (threadIdx.x < heavy_hitters) best[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&votes_of[candidate], 1);
    __syncthreads();
    const std::uint32_t votes = min(votes_of[candidate], 0xfffu);
    bool is_elected = false;
    for (int h = 0; h < heavy_hitters; ++h) {
      if (!is_elected) atomicMax(&best[h], votes << 20 | candidate);
      __syncthreads();
      heavy_[h] = best[h] == 0 ? ~0u : best[h] & 0xfffff;
      is_elected = is_elected || heavy_[h] == candidate;
    }
    atomicExch(&votes_of[candidate], 0u);  // threads may share it
    __syncthreads();
  }
  __device__ void add(std::uint32_t counter) {
    bool is_heavy = false;
#pragma unroll
    for (int h = 0; h < heavy_hitters; ++h) {
      heavy_counts_[h] += counter == heavy_[h] ? 1 : 0;
      is_heavy = is_heavy || counter == heavy_[h];
    }
    if (!is_heavy) atomicAdd(&counts_[counter], 1);
  }
  __device__ void flush() {
#pragma unroll
    for (int h = 0; h < heavy_hitters; ++h) {
      if (heavy_counts_[h] != 0) atomicAdd(&counts_[heavy_[h]], heavy_counts_[h]);
      heavy_counts_[h] = 0;
    }
  }

 private:
  std::uint32_t* counts_;
  std::uint32_t heavy_[heavy_hitters];
  std::uint32_t heavy_counts_[heavy_hitters] = {};
};

template <class Word, class Body>
__device__ __forceinline__ void for_keys(const Word* keys, std::uint64_t begin, std::uint64_t end,
                                         const Body& body) {
  std::uint64_t i = begin + threadIdx.x;
  for (; i + (count_unroll - 1) * count_threads < end; i += count_unroll * count_threads) {
    Word loaded[count_unroll];
#pragma unroll
    for (int r = 0; r < count_unroll; ++r) loaded[r] = keys[i + r * count_threads];
#pragma unroll
    for (int r = 0; r < count_unroll; ++r) body(loaded[r]);
  }
  for (; i < end; i += count_threads) body(keys[i]);
}

/// One block counts one batch of tiles.
///
///   shared memory  four copies of the counters; neighbouring warps add to different copies
///   thread t       loads keys t, t + 512, ... and sums the copies of counters t, t + 512, ...
template <class Word, class Lookup>
__global__ void __launch_bounds__(count_threads)
    count_kernel(CountArguments arguments, std::uint32_t tile_items) {
  constexpr int copies = 4;
  __shared__ std::uint32_t counts[copies][most_groups];
  __shared__ unsigned long long least_of_block;
  __shared__ unsigned long long greatest_of_block;
  for (std::uint32_t i = threadIdx.x; i < copies * most_groups; i += count_threads)
    (&counts[0][0])[i] = 0;
  if (threadIdx.x == 0) {
    least_of_block = ~0ULL;
    greatest_of_block = 0;
  }
  __syncthreads();
  const auto* const keys = static_cast<const Word*>(arguments.keys);
  const KeyCodec<Word> codec = arguments.order.codec<Word>();
  __shared__ typename Lookup::Tables tables;
  const Lookup lookup(arguments.lookup, tables);
  const std::uint32_t batch = arguments.first_batch + blockIdx.x;
  const std::uint64_t first_tile = std::uint64_t{batch} * arguments.tiles_per_batch;
  const std::uint64_t begin = first_tile * tile_items;
  const std::uint64_t end =
      min(begin + std::uint64_t{arguments.tiles_per_batch} * tile_items, arguments.size);
  const auto sum_of_copies = [&](std::uint32_t group) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int c = 0; c < copies; ++c) sum += counts[c][group];
    return sum;
  };

  auto least = static_cast<Word>(~Word{0});
  Word greatest = 0;
  const auto make_counter = [&] {
    if constexpr (Lookup::is_costly) {  // keys are skewed
      const Word sample = keys[min(begin + threadIdx.x, end - 1)];
      return HeavyHitterCounter(counts[threadIdx.x / 32 % copies], counts[0],
                                lookup(codec.encoded(sample)));
    } else {
      return RunCounter(counts[threadIdx.x / 32 % copies]);
    }
  };
  auto counter = make_counter();
  const auto count = [&](std::uint64_t from, std::uint64_t to) {
    for_keys(keys, from, to, [&](Word key) {
      const Word word = codec.encoded(key);
      least = min(least, word);
      greatest = max(greatest, word);
      counter.add(lookup(word));
    });
    counter.flush();
    __syncthreads();
  };
  if (arguments.tile_rows == nullptr) {
    count(begin, end);
  } else {
    std::uint32_t* row = arguments.tile_rows + first_tile * most_groups;
    for (std::uint64_t tile = begin; tile < end; tile += tile_items, row += most_groups) {
      for (std::uint32_t g = threadIdx.x; g < most_groups; g += count_threads)
        row[g] = sum_of_copies(g);
      __syncthreads();
      count(tile, min(tile + tile_items, end));
    }
  }
  std::uint64_t* const batch_row = arguments.batch_rows + std::uint64_t{batch} * most_groups;
  for (std::uint32_t g = threadIdx.x; g < most_groups; g += count_threads)
    batch_row[g] = sum_of_copies(g);
  if (arguments.range == nullptr) return;
  atomicMin(&least_of_block, static_cast<unsigned long long>(least));
  atomicMax(&greatest_of_block, static_cast<unsigned long long>(greatest));
  __syncthreads();
  if (threadIdx.x != 0) return;
  auto* const range = reinterpret_cast<unsigned long long*>(arguments.range);
  atomicMin(&range[0], least_of_block);
  atomicMax(&range[1], greatest_of_block);
}

/// All blocks count the digits of the keys that have one of the wanted prefixes. Most keys have
/// none. Each block takes a contiguous share of the keys and counts in shared memory.
template <class Word>
__global__ void __launch_bounds__(count_threads) refine_kernel(RefineArguments arguments) {
  auto* const refined_counts = reinterpret_cast<std::uint32_t*>(dynamic_shared_memory());
  const std::uint32_t digits = 1u << arguments.digit_bits;
  const std::uint32_t all = digits * static_cast<std::uint32_t>(arguments.refinements);
  for (std::uint32_t i = threadIdx.x; i <= all; i += count_threads) refined_counts[i] = 0;
  __syncthreads();
  const auto* const keys = static_cast<const Word*>(arguments.keys);
  const KeyCodec<Word> codec = arguments.order.codec<Word>();
  // Shares are multiples of one unrolled iteration of for_keys().
  constexpr std::uint64_t round = count_threads * count_unroll;
  const std::uint64_t rounds = (arguments.size - 1) / round + 1;
  const std::uint64_t begin = rounds * blockIdx.x / gridDim.x * round;
  const std::uint64_t end = min(rounds * (blockIdx.x + 1) / gridDim.x * round, arguments.size);
  if (begin == end) return;
  // An extra counter, which is not read, receives the keys with other prefixes.
  const auto counter_of = [&](Word key) {
    const auto leading = static_cast<std::uint64_t>(codec.encoded(key)) >> arguments.shift;
    const std::uint64_t prefix = leading >> arguments.digit_bits;
    std::uint32_t found = all;
    for (int w = 0; w < arguments.refinements; ++w)
      if (prefix == arguments.prefixes[w])
        found = static_cast<std::uint32_t>(w) * digits +
                (static_cast<std::uint32_t>(leading) & (digits - 1));
    return found;
  };
  const Word sample = keys[min(begin + threadIdx.x, end - 1)];
  HeavyHitterCounter counter(refined_counts, refined_counts, counter_of(sample));
  for_keys(keys, begin, end, [&](Word key) { counter.add(counter_of(key)); });
  counter.flush();
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < all; i += count_threads)
    if (refined_counts[i] != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&arguments.counts[i]),
                static_cast<unsigned long long>(refined_counts[i]));
}

/// Each thread takes one key.
template <class Word>
__global__ void __launch_bounds__(count_threads) sample_kernel(SampleArguments arguments) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * count_threads + threadIdx.x;
  if (i >= arguments.samples) return;
  std::uint64_t at = 0;
  if (arguments.scattered) {
    const std::uint64_t begin = arguments.size * i / arguments.samples;
    const std::uint64_t end = arguments.size * (i + 1) / arguments.samples;
    at = begin + Random(i).next() % (end - begin);
  } else if (arguments.samples > 1) {
    at = (arguments.size - 1) * i / (arguments.samples - 1);
  }
  const KeyCodec<Word> codec = arguments.order.codec<Word>();
  static_cast<Word*>(arguments.sample)[i] =
      codec.encoded(static_cast<const Word*>(arguments.keys)[at]);
}

/// Encodes keys in place, or decodes them.
template <class Word, bool Decode>
__global__ void __launch_bounds__(count_threads)
    encode_kernel(Word* keys, std::uint64_t n, KeyOrder order) {
  const KeyCodec<Word> codec = order.codec<Word>();
  const std::uint64_t threads = std::uint64_t{gridDim.x} * count_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * count_threads + threadIdx.x; i < n;
       i += threads)
    keys[i] = Decode ? codec.decoded(keys[i]) : codec.encoded(keys[i]);
}

#ifdef __CUDACC__  // the tests run the kernels on host threads without launches
template <class Word>
cudaError_t launch_count(const CountArguments& arguments, std::uint32_t tile, cudaStream_t stream) {
  const std::uint32_t batches = arguments.end_batch - arguments.first_batch;
  if (batches == 0) return cudaSuccess;
  with_lookup<Word>(arguments.lookup, [&]<class Lookup>(LookupType<Lookup>) {
    count_kernel<Word, Lookup><<<batches, count_threads, 0, stream>>>(arguments, tile);
  });
  return cudaGetLastError();
}

/// Enough blocks to occupy every multiprocessor of a GPU and finish at about the same time.
inline constexpr unsigned int busy_blocks = 2048;

template <class Word>
cudaError_t launch_refine(const RefineArguments& arguments, cudaStream_t stream) {
  if (arguments.size == 0) return cudaSuccess;
  const std::size_t shared =
      (std::size_t{4} << arguments.digit_bits) * static_cast<std::size_t>(arguments.refinements) +
      sizeof(std::uint32_t);
  const cudaError_t status = cudaFuncSetAttribute(
      refine_kernel<Word>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  refine_kernel<Word><<<busy_blocks, count_threads, shared, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word>
cudaError_t launch_sample(const SampleArguments& arguments, cudaStream_t stream) {
  if (arguments.samples == 0) return cudaSuccess;
  sample_kernel<Word>
      <<<(arguments.samples - 1) / count_threads + 1, count_threads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word>
cudaError_t launch_encode(void* keys, std::uint64_t n, KeyOrder order, bool decode,
                          cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned int>(std::min<std::uint64_t>((n - 1) / count_threads + 1, busy_blocks));
  const auto kernel = decode ? encode_kernel<Word, true> : encode_kernel<Word, false>;
  kernel<<<blocks, count_threads, 0, stream>>>(static_cast<Word*>(keys), n, order);
  return cudaGetLastError();
}
#endif

}  // namespace sortie::multisort
