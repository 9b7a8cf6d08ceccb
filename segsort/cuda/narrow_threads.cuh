// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/narrow_tiles.cuh"

/// Segments of keys of 1 or 2 bytes alone, most of which have up to longest_narrow_thread items: one
/// thread sorts such a segment. Equal keys are interchangeable, so the words hold keys only.
namespace sortie::segsort {

inline constexpr int longest_narrow_thread = 16;
/// Mean lengths of segments that threads sort faster than tiles.
inline constexpr std::uint64_t shortest_mean_of_narrow_threads = 5;
inline constexpr std::uint64_t longest_mean_of_narrow_threads = longest_narrow_thread;
inline constexpr unsigned int narrow_thread_block = 256;

/// Keys that are loaded and stored together where their address allows.
template <class Narrow>
struct alignas(16) NarrowVector {
  static constexpr int length = static_cast<int>(16 / sizeof(Narrow));
  Narrow keys[length];

  /// Whether this many keys from an address on are whole vectors.
  __device__ static bool divides(const Narrow* keys, int count) {
    return reinterpret_cast<std::uintptr_t>(keys) % sizeof(NarrowVector) == 0 &&
           count % length == 0;
  }
};

/// Copies `count` keys. Called by a warp.
template <class Narrow>
__device__ __forceinline__ void copy_narrow(const Narrow* from, Narrow* to, int count) {
  using Vector = NarrowVector<Narrow>;
  int done = 0;
  if (Vector::divides(from, 0) && Vector::divides(to, 0)) {
    const int vectors = count / Vector::length;
    for (int i = static_cast<int>(lane()); i < vectors; i += 32)
      reinterpret_cast<Vector*>(to)[i] = reinterpret_cast<const Vector*>(from)[i];
    done = vectors * Vector::length;
  }
  for (int i = done + static_cast<int>(lane()); i < count; i += 32) to[i] = from[i];
}

/// Sorts up to longest_narrow_thread keys.
/// \param are_short  they are at most half as many
template <class Narrow>
__device__ __forceinline__ void sort_keys_in_thread(const Narrow* from, Narrow* to, int length,
                                                    bool are_short, const KeyCodec<Narrow>& codec) {
  std::uint32_t words[longest_narrow_thread];
#pragma unroll
  for (int i = 0; i < longest_narrow_thread; ++i)
    words[i] = i < length ? std::uint32_t{codec.encoded(from[i])} : 0xffffffffU;
  if (are_short) {
    constexpr int half = longest_narrow_thread / 2;
    std::uint32_t first[half];
#pragma unroll
    for (int i = 0; i < half; ++i) first[i] = words[i];
    sort_in_thread(first);
#pragma unroll
    for (int i = 0; i < half; ++i) words[i] = first[i];
  } else {
    sort_in_thread(words);
  }
#pragma unroll
  for (int i = 0; i < longest_narrow_thread; ++i)
    if (i < length) to[i] = codec.decoded(static_cast<Narrow>(words[i]));
}

/// Sorts a segment of up to longest_narrow_tile keys. Called by a warp.
///
///   registers of lane l   at first keys l, 32 + l, ...; then those of positions 16 l .. 16 l + 15
template <class Narrow>
__device__ __noinline__ void sort_narrow_in_warp(const Narrow* from, Narrow* to, int length,
                                                 KeyCodec<Narrow> codec) {
  std::uint32_t words[warp_tile_items];
#pragma unroll
  for (int r = 0; r < warp_tile_items; ++r) {
    const int i = r * 32 + static_cast<int>(lane());
    words[r] = i < length ? std::uint32_t{codec.encoded(from[i])} : 0xffffffffU;
  }
  sort_in_warp(words, static_cast<int>(lane()));
#pragma unroll
  for (int r = 0; r < warp_tile_items; ++r) {
    const int i = static_cast<int>(lane()) * warp_tile_items + r;
    if (i < length) to[i] = codec.decoded(static_cast<Narrow>(words[r]));
  }
}

/// Sorts segments of up to longest_narrow_tile keys, and lists the others. A warp takes 32 segments
/// at a time. Those of a thread are read and written in whole lines: by the threads themselves if
/// each has as many keys as a thread sorts, otherwise through shared memory if they are adjacent.
///
///   shared memory, per warp   the keys of its 32 segments
///   registers of lane l       the keys of segment l
template <class Narrow>
__global__ void __launch_bounds__(narrow_thread_block, 4)
    narrow_thread_kernel(const NarrowArguments<Narrow> arguments) {
  constexpr unsigned int warps = narrow_thread_block / 32;
  struct alignas(16) Keys {
    Narrow keys[32 * longest_narrow_thread];
  };
  __shared__ Keys tiles[warps];
  Narrow* const tile = tiles[threadIdx.x / 32].keys;
  const auto* const keys_in = in_global_memory(arguments.keys_in);
  auto* const keys_out = in_global_memory(arguments.keys_out);
  const std::uint64_t segments = arguments.segments();
  const std::uint64_t step = std::uint64_t{gridDim.x} * warps * 32;
  const auto read = [&](std::uint64_t first) {
    const std::uint64_t segment = first + lane();
    return segment < segments ? arguments.offsets(segment).extent() : SegmentExtent{};
  };
  std::uint64_t first = (std::uint64_t{blockIdx.x} * warps + threadIdx.x / 32) * 32;
  SegmentExtent next = read(first);
  for (; first < segments; first += step) {
    const SegmentExtent s = next;
    next = read(first + step);
    const bool in_thread = s.length != 0 && s.length <= longest_narrow_thread;
    unsigned int longer = __ballot_sync(full_warp, s.length > longest_narrow_thread);
    if (longer != 0) {
      const bool is_listed = s.length > longest_narrow_tile;
      list_beyond_tiles(arguments, s, is_listed);
      for (longer &= ~__ballot_sync(full_warp, is_listed); longer != 0; longer &= longer - 1) {
        const int owner = first_lane(longer);
        const std::uint64_t begin = __shfl_sync(full_warp, s.begin, owner);
        sort_narrow_in_warp<Narrow>(keys_in + begin, keys_out + begin,
                                    static_cast<int>(__shfl_sync(full_warp, s.length, owner)),
                                    arguments.codec);
      }
    }
    const int length = in_thread ? static_cast<int>(s.length) : 0;
    const unsigned int members = __ballot_sync(full_warp, in_thread);
    if (members == 0) continue;
    const bool are_short = __any_sync(full_warp, length > longest_narrow_thread / 2) == 0;
    const bool is_full = length == longest_narrow_thread &&
                         NarrowVector<Narrow>::divides(keys_in + s.begin, length) &&
                         NarrowVector<Narrow>::divides(keys_out + s.begin, length);
    if (__all_sync(full_warp, is_full) != 0) {
      using Vector = NarrowVector<Narrow>;
      alignas(16) Narrow own[longest_narrow_thread];
#pragma unroll
      for (int i = 0; i < longest_narrow_thread; i += Vector::length)
        *reinterpret_cast<Vector*>(own + i) =
            *reinterpret_cast<const Vector*>(keys_in + s.begin + i);
      sort_keys_in_thread(own, own, longest_narrow_thread, false, arguments.codec);
#pragma unroll
      for (int i = 0; i < longest_narrow_thread; i += Vector::length)
        *reinterpret_cast<Vector*>(keys_out + s.begin + i) =
            *reinterpret_cast<const Vector*>(own + i);
      continue;
    }
    // Whether the segments of threads are adjacent: the items before each are those of the others.
    const std::uint64_t base = __shfl_sync(full_warp, s.begin, first_lane(members));
    const int before = inclusive_sum_in_warp(length) - length;
    const int count = __shfl_sync(full_warp, before + length, 31);
    const bool is_adjacent = !in_thread || s.begin == base + static_cast<std::uint64_t>(before);
    if (__all_sync(full_warp, is_adjacent) == 0) {
      if (in_thread)
        sort_keys_in_thread(keys_in + s.begin, keys_out + s.begin, length, are_short,
                            arguments.codec);
      continue;
    }
    __syncwarp();
    copy_narrow(keys_in + base, tile, count);
    __syncwarp();
    sort_keys_in_thread(tile + before, tile + before, length, are_short, arguments.codec);
    __syncwarp();
    copy_narrow(static_cast<const Narrow*>(tile), keys_out + base, count);
  }
}

}  // namespace sortie::segsort
