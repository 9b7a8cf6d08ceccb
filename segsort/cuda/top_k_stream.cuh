// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/key_vector.cuh"
#include "segsort/cuda/top_k_arguments.cuh"
#include "segsort/cuda/top_k_threshold.cuh"

/// Selection from one long segment whose keys are read once, without barriers. A sample gives a bound
/// that probably a few times k keys are within; one kernel lists those, in any order; the last
/// ranks the listed keys among each other. If many keys are equal to the bound, only those before a
/// place that the sample gives are listed: a key that is not listed loses against all that are. If
/// fewer than k keys, or more than the list holds, are listed, as may be if the order of the keys
/// misleads the sample, the kernels for segments of any kind run after these, and otherwise have
/// nothing to do.
namespace sortie::segsort {

inline constexpr int stream_sample_threads = 1024;
inline constexpr unsigned int stream_sample_blocks = 128;
/// Lines of 32 items that a warp reads.
inline constexpr unsigned int stream_sample_rows = 16;
inline constexpr std::uint64_t stream_sample_lines =
    std::uint64_t{stream_sample_blocks} * (stream_sample_threads / 32) * stream_sample_rows;
/// Lanes whose least item is one of the minima.
inline constexpr unsigned int stream_lanes = 4;
inline constexpr unsigned int stream_minima_of_block = stream_sample_threads / stream_lanes;
inline constexpr unsigned int stream_minima = stream_sample_blocks * stream_minima_of_block;

/// Lines in which each warp of one block counts the keys equal to the bound.
inline constexpr unsigned int tie_rows = 16;
inline constexpr unsigned int tie_lines = tie_rows * stream_sample_threads / 32;
/// With fewer in these lines, the minima tell better how many there are.
inline constexpr std::uint32_t least_sampled_ties = 32;
/// All of up to this many keys equal to the bound are listed.
inline constexpr float most_listed_ties = stream_capacity / 8;

inline constexpr int stream_threads = 256;
/// 16-byte vectors that a thread reads at a time.
inline constexpr int stream_vectors = 4;

/// How many sampled keys are to be within the bound, if `wanted` of `length` keys are: three
/// standard deviations and twelve more than are expected among the selected ones.
__device__ __forceinline__ std::uint32_t wanted_of_sample(std::uint64_t wanted,
                                                          std::uint64_t length) {
  const float expected =
      static_cast<float>(wanted) *
      (static_cast<float>(32 * stream_sample_lines) / static_cast<float>(length));
  return min(static_cast<std::uint32_t>(expected + 3.0f * sqrtf(expected)) + 12, stream_minima);
}

/// Where the keys equal to the bound end to be listed, so that enough of them are, if they are
/// spread evenly. \param share  of all keys
__device__ __forceinline__ std::uint64_t end_of_ties(float share, std::uint64_t wanted,
                                                     std::uint64_t length) {
  if (share * static_cast<float>(length) <= most_listed_ties) return length;
  const float enough = 2.5f * static_cast<float>(wanted) + 512.0f;
  return min(static_cast<std::uint64_t>(enough / share), length);
}

/// Finds the bound: the m-th of the minima of 64 sampled items each, for m = wanted_of_sample(),
/// and where the keys equal to it end to be listed.
///
///   warp w of block b   lines b * 32 + w + r * 4096 of the sample, for r = 0 .. 15; its lanes have
///                       eight minima
///   the last block      all minima, 32 in the registers of each thread
template <class Key>
__global__ void __launch_bounds__(stream_sample_threads)
    top_k_stream_sample_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  constexpr unsigned int warps = stream_sample_threads / 32;
  constexpr unsigned int each = stream_minima / stream_sample_threads;
  __shared__ std::uint32_t counts[8 * sizeof(Word)];
  __shared__ std::uint32_t ties[2];  // among the minima, and in lines
  __shared__ Word differences[warps];
  __shared__ bool is_last;
  const TopKLists& lists = arguments.lists;
  if (arguments.segments() == 0) return;
  const Selection s = selection_of(arguments, 0);
  if (s.wanted == 0 || s.length < shortest_sampled) return;
  auto* const minima = static_cast<Word*>(lists.stream_minima);
  const std::uint64_t step = (s.length - 32) / (stream_sample_lines - 1);
  const Key* const keys = arguments.keys_in + s.begin + lane();
  for (unsigned int part = blockIdx.x; part < stream_sample_blocks; part += gridDim.x) {
    const std::uint64_t line = part * warps + threadIdx.x / 32;
    Word least = ~Word{0};
#pragma unroll
    for (unsigned int row = 0; row < stream_sample_rows; ++row)
      least =
          min(least, arguments.codec.encoded(
                         keys[(line + std::uint64_t{row} * stream_sample_blocks * warps) * step]));
#pragma unroll
    for (unsigned int distance = 1; distance < stream_lanes; distance *= 2)
      least = min(least, from_lane_across(least, static_cast<int>(distance)));
    if (lane() % stream_lanes == 0)
      minima[part * stream_minima_of_block + threadIdx.x / stream_lanes] = least;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(&lists.counters->stream_blocks_done, 1u) == gridDim.x - 1;
  if (threadIdx.x < 8 * sizeof(Word)) counts[threadIdx.x] = 0;
  if (threadIdx.x < 2) ties[threadIdx.x] = 0;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  Word words[each];
#pragma unroll
  for (unsigned int r = 0; r < each; ++r)
    words[r] = minima[r * stream_sample_threads + threadIdx.x];
  const Word first = minima[0];
  Word different = 0;
#pragma unroll
  for (unsigned int r = 0; r < each; ++r) different |= words[r] ^ first;
  different = bits_of_warp(different);
  if (lane() == 0) differences[threadIdx.x / 32] = different;
  __syncthreads();
  different = bits_of_warp(differences[lane()]);
  const int bit = highest_bit(different);
  int steps = 0;
  const Threshold<Word> found = find_threshold(
      without_low_bits(first, bit), bit, wanted_of_sample(s.wanted, s.length), [&](Word middle) {
        std::uint32_t less = 0;
#pragma unroll
        for (unsigned int r = 0; r < each; ++r) less += words[r] < middle ? 1 : 0;
        less = total_of_warp(less);
        if (lane() == 0) atomicAdd(&counts[steps], less);
        __syncthreads();
        return counts[steps++];
      });
  const Word bound = found.greatest();
  std::uint32_t of_minima = 0;
#pragma unroll
  for (unsigned int r = 0; r < each; ++r) of_minima += words[r] == bound ? 1 : 0;
  const std::uint64_t tie_step = (s.length - 32) / (tie_lines - 1);
  std::uint32_t of_lines = 0;
#pragma unroll
  for (unsigned int row = 0; row < tie_rows; ++row) {
    const std::uint64_t line = row * warps + threadIdx.x / 32;
    of_lines += arguments.codec.encoded(keys[line * tie_step]) == bound ? 1 : 0;
  }
  of_minima = total_of_warp(of_minima);
  of_lines = total_of_warp(of_lines);
  if (lane() == 0) {
    atomicAdd(&ties[0], of_minima);
    atomicAdd(&ties[1], of_lines);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const bool are_many = ties[1] >= least_sampled_ties;
    const float share = are_many ? static_cast<float>(ties[1]) / (32.0f * tie_lines)
                                 : static_cast<float>(ties[0]) / (32.0f * stream_sample_lines);
    lists.counters->stream_bound = bound;
    lists.counters->stream_tie_end = end_of_ties(share, s.wanted, s.length);
    lists.counters->has_stream_bound = 1;
  }
}

/// Whether a warp has keys of up to a limit in 16-byte vectors of its lanes.
template <class Key>
class VectorFilter {
 public:
  __device__ explicit VectorFilter(const WordCodec<Key>& codec) : codec_(codec) {}

  /// All lanes take part.
  template <int Vectors>
  [[nodiscard]] __device__ __forceinline__ bool any_within(const KeyVector<Key> (&vectors)[Vectors],
                                                           WordOf<Key> limit) const {
    auto least = ~WordOf<Key>{0};
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
#pragma unroll
      for (unsigned int k = 0; k < vector_keys<Key>; ++k)
        least = min(least, codec_.encoded(vectors[v].keys[k]));
    }
    return __any_sync(full_warp, least <= limit) != 0;
  }

 private:
  WordCodec<Key> codec_;
};

/// Narrow keys: the two or four of a 32-bit word at the same time.
template <class Key>
requires(sizeof(Key) < 4) class VectorFilter<Key> {
 public:
  __device__ explicit VectorFilter(const WordCodec<Key>& codec)
      : flip_(codec.encoded(0) * ones),
        negative_flip_((codec.encoded(static_cast<Key>(sign)) ^ codec.encoded(0) ^ sign) * ones) {}

  template <int Vectors>
  [[nodiscard]] __device__ __forceinline__ bool any_within(const KeyVector<Key> (&vectors)[Vectors],
                                                           std::uint32_t limit) const {
    if (limit >= sign) return true;
    std::uint32_t words[4 * Vectors];
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      words[4 * v] = vectors[v].whole.x;
      words[4 * v + 1] = vectors[v].whole.y;
      words[4 * v + 2] = vectors[v].whole.z;
      words[4 * v + 3] = vectors[v].whole.w;
    }
    if (negative_flip_ != 0) {
#pragma unroll
      for (std::uint32_t& word : words)
        word ^= ((word >> (bits - 1)) & ones) * greatest & negative_flip_;
    }
    // The highest bit of a field of the difference is set, and that of the word is not, if the field
    // is less than that of `end`, or, by a borrow, if one below it is.
    const std::uint32_t end = (limit + 1) * ones;
    std::uint32_t found = 0;
#pragma unroll
    for (const std::uint32_t word : words) {
      const std::uint32_t encoded = word ^ flip_;
      found |= (encoded - end) & ~encoded;
    }
    return __any_sync(full_warp, (found & sign * ones) != 0) != 0;
  }

 private:
  static constexpr int bits = 8 * sizeof(Key);
  static constexpr std::uint32_t greatest = (1u << bits) - 1;
  static constexpr std::uint32_t ones = 0xffffffffu / greatest;
  static constexpr std::uint32_t sign = 1u << (bits - 1);

  std::uint32_t flip_;
  std::uint32_t negative_flip_;
};

/// Lists the keys within the bound, and of those equal to it the ones before stream_tie_end. The
/// warps read 16-byte vectors; a warp that finds keys takes places in the list for them, and stops
/// when the list is full.
template <class Key>
__global__ void __launch_bounds__(stream_threads)
    top_k_stream_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  constexpr unsigned int in_vector = vector_keys<Key>;
  const TopKLists& lists = arguments.lists;
  if (lists.counters->has_stream_bound == 0) return;
  const auto bound = static_cast<Word>(lists.counters->stream_bound);
  const std::uint64_t tie_end = lists.counters->stream_tie_end;
  const Selection s = selection_of(arguments, 0);
  const WordCodec<Key> codec = arguments.codec;
  const VectorFilter<Key> filter(codec);
  const Key* const keys = arguments.keys_in + s.begin;
  auto* const words = static_cast<Word*>(lists.stream_words);
  /// Returns false if the list is full. All lanes take part.
  const auto list = [&](Word word, std::uint64_t place_in_segment, bool is_key) {
    const bool passes = is_key && (word < bound || (word == bound && place_in_segment < tie_end));
    const unsigned int passing = __ballot_sync(full_warp, passes);
    if (passing == 0) return true;
    unsigned int place = 0;
    if (lane() == 0) place = atomicAdd(&lists.counters->streamed, lanes_of(passing));
    place = __shfl_sync(full_warp, place, 0);
    const unsigned int own = place + rank_among(passing);
    if (passes && own < stream_capacity) {
      words[own] = word;
      lists.stream_positions[own] = static_cast<std::uint32_t>(place_in_segment);
    }
    return place < stream_capacity;
  };
  const std::uint64_t head = keys_before_vectors(keys, s.length);
  const std::uint64_t vectors = (s.length - head) / in_vector;
  const auto* const from = reinterpret_cast<const uint4*>(keys + head);
  constexpr std::uint64_t tile = std::uint64_t{stream_threads} * stream_vectors;
  const unsigned int in_tile = threadIdx.x / 32 * 32 * stream_vectors + lane();
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * tile; begin < vectors;
       begin += std::uint64_t{gridDim.x} * tile) {
    Word limit = bound;
    if (head + begin * in_vector >= tie_end) {
      if (bound == 0) break;
      limit = bound - 1;
    }
    KeyVector<Key> loaded[stream_vectors];
    const bool is_full = begin + tile <= vectors;
#pragma unroll
    for (int v = 0; v < stream_vectors; ++v) {
      const std::uint64_t i = begin + in_tile + 32 * v;
      loaded[v].whole = from[is_full ? i : min(i, vectors - 1)];
    }
    if (!filter.any_within(loaded, limit)) continue;
#pragma unroll
    for (int v = 0; v < stream_vectors; ++v) {
      const std::uint64_t i = begin + in_tile + 32 * v;
#pragma unroll
      for (unsigned int k = 0; k < in_vector; ++k)
        if (!list(codec.encoded(loaded[v].keys[k]), head + i * in_vector + k, i < vectors)) return;
    }
  }
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  // The keys before and after the vectors.
  const std::uint64_t tail = head + vectors * in_vector;
  const std::uint64_t i = lane() < in_vector ? lane() : tail + lane() - in_vector;
  const bool is_key = lane() < in_vector ? i < head : i < s.length;
  list(is_key ? codec.encoded(keys[i]) : Word{0}, i, is_key);
}

/// Keys that a warp ranks at a time.
inline constexpr int ranked_keys = 2;
/// Listed keys that a block keeps in shared memory.
inline constexpr unsigned int rank_chunk = 2048;

/// Ranks the listed keys, and writes those of the first ranks to their final places. If the list
/// cannot be used, the bound is handed to the kernels that follow.
///
///   shared memory   a chunk of the list
///   warp w          keys 2 w and 2 w + 1 of each 16; its lanes compare them with all of the chunk
template <class Key>
__global__ void __launch_bounds__(stream_threads)
    top_k_stream_rank_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  __shared__ Word other_words[rank_chunk];
  __shared__ std::uint32_t other_places[rank_chunk];
  const TopKLists& lists = arguments.lists;
  TopKCounters& counters = *lists.counters;
  if (counters.has_stream_bound == 0) return;
  const Selection s = selection_of(arguments, 0);
  const unsigned int count = counters.streamed;
  const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
  if (count > stream_capacity || count < s.wanted) {
    if (is_first && count > stream_capacity && lists.bounds != nullptr)
      lists.bounds[0] = stored_bound(counters.stream_bound);
    return;
  }
  if (is_first) {
    counters.is_streamed = 1;
    if (lists.begins != nullptr) lists.begins[0] = lists.ends[0] = 0;  // nothing is left to sort
  }
  const auto* const words = static_cast<const Word*>(lists.stream_words);
  const std::uint32_t* const places = lists.stream_positions;
  constexpr unsigned int of_block = stream_threads / 32 * ranked_keys;
  constexpr unsigned int unrolled = 8 * 32;
  for (unsigned int first = blockIdx.x * of_block; first < count; first += gridDim.x * of_block) {
    Word word[ranked_keys];
    std::uint32_t place[ranked_keys];
    std::uint32_t before[ranked_keys] = {};
#pragma unroll
    for (int n = 0; n < ranked_keys; ++n) {
      const unsigned int i = min(first + threadIdx.x / 32 * ranked_keys + n, count - 1);
      word[n] = words[i];
      place[n] = places[i];
    }
    for (unsigned int chunk = 0; chunk < count; chunk += rank_chunk) {
      __syncthreads();
#pragma unroll
      for (unsigned int j = threadIdx.x; j < rank_chunk; j += stream_threads) {
        const bool is_listed = chunk + j < count;
        other_words[j] = is_listed ? words[chunk + j] : ~Word{0};
        other_places[j] = is_listed ? places[chunk + j] : ~std::uint32_t{0};  // before none
      }
      __syncthreads();
      const unsigned int end =
          min((count - chunk - 1) / unrolled * unrolled + unrolled, rank_chunk);
#pragma unroll 8
      for (unsigned int j = lane(); j < end; j += 32) {
        const Word other = other_words[j];
        const std::uint32_t other_place = other_places[j];
#pragma unroll
        for (int n = 0; n < ranked_keys; ++n)
          before[n] += other < word[n] || (other == word[n] && other_place < place[n]) ? 1 : 0;
      }
    }
#pragma unroll
    for (int n = 0; n < ranked_keys; ++n) {
      const std::uint32_t rank = total_of_warp(before[n]);
      const bool is_listed = first + threadIdx.x / 32 * ranked_keys + n < count;
      if (lane() == 0 && is_listed && rank < s.wanted)
        arguments.put(s.out + rank, word[n], s.begin + place[n]);
    }
  }
}

}  // namespace sortie::segsort
