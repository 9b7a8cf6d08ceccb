// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/shared_memory.cuh"
#include "segsort/cuda/word_network.cuh"

/// The tile of a warp, of a block, or of a team of warps within a block: the shared memory that
/// holds its items while their words are sorted (tile_sort.cuh), and the fields of a word.
namespace sortie::segsort {

constexpr int log2_of(int power_of_two) {
  int log = 0;
  while ((1 << log) < power_of_two) ++log;
  return log;
}

template <int Bytes>
struct ValueWord {
  using type = std::uint32_t;
};
template <>
struct ValueWord<8> {
  using type = std::uint64_t;
};

/// \tparam IsOfTeam  the block has several teams of WarpCount neighbouring warps, each with its own
///                   tile
template <class WordType, int ValueBytesOfOne, int WarpCount, int ItemsOfThread,
          bool IsOfTeam = false>
struct Tile {
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  using Value = typename ValueWord<value_bytes>::type;
  static constexpr int warps = WarpCount;
  static constexpr int items = ItemsOfThread;
  static constexpr int threads = 32 * warps;
  static constexpr bool is_of_team = IsOfTeam;
  static constexpr int capacity = threads * items;
  static constexpr int index_bits = log2_of(capacity);
  static constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
  static constexpr int bin_bits = index_bits - 1;  ///< log2 of the bins of a distribution

  alignas(16) Word keys[capacity];                            ///< encoded, in the order of e
  alignas(16) Value values[value_bytes == 0 ? 1 : capacity];  ///< in the order of e
  std::uint32_t words[banked(capacity)];                      ///< in sorted order
  static constexpr bool ids_alias_values = warps > 1 && value_bytes != 0;
  std::uint16_t own_ids[warps == 1 || value_bytes != 0 ? 1 : capacity];
  alignas(4) std::uint16_t splits[warps == 1 ? 1 : threads + 1];  ///< of merged runs
  std::uint32_t least[2];  ///< bounds of the upper and lower words of the keys
  std::uint32_t greatest[2];

  /// Item indices by position after the last pass of sort_by_digits(), in tiles of several warps
  /// (the words of a one-warp tile survive a pass). Rarely used, so they alias `values`, which are
  /// then fetched again: more tiles fit a multiprocessor.
  __device__ std::uint16_t* ids() {
    if constexpr (ids_alias_values) {
      return reinterpret_cast<std::uint16_t*>(values);
    } else {
      return own_ids;
    }
  }

  /// Index of this thread in its tile.
  __device__ static int thread() { return static_cast<int>(threadIdx.x) % threads; }
  /// Index of its team in the block, for tiles of teams.
  __device__ static int team() { return static_cast<int>(threadIdx.x) / threads; }
  __device__ static void synchronise() {
    if constexpr (warps == 1) {
      __syncwarp();
    } else if constexpr (is_of_team) {
      wait_for_team<threads>(team());
    } else {
      __syncthreads();
    }
  }
  /// Returns true on all threads of the tile if `condition` holds on any. A barrier, like
  /// synchronise().
  __device__ static bool any(bool condition) {
    if constexpr (warps == 1) {
      __syncwarp();  // a vote alone does not order memory
      return __any_sync(full_warp, condition) != 0;
    } else if constexpr (is_of_team) {
      return any_of_team<threads>(team(), condition);
    } else {
      return __syncthreads_or(condition) != 0;
    }
  }
  [[nodiscard]] __device__ std::uint32_t word(int position) const {
    return words[banked(position)];
  }
  /// The word at position r * threads + thread(). With a compile-time r the address is a constant
  /// offset.
  __device__ std::uint32_t& striped(int r) {
    return words[r * (threads + warps) + banked(thread())];
  }
  /// The word at position thread() * items + r.
  __device__ std::uint32_t& blocked(int r) {
    static_assert(32 % items == 0, "a thread's words have no gap between them");
    return words[banked(thread() * items) + r];
  }
};

__device__ __forceinline__ int bits_of(std::uint32_t word) {
  return 32 - __clz(static_cast<int>(word));
}
__device__ __forceinline__ int bits_of(std::uint64_t word) {
  return 64 - __clzll(static_cast<long long>(word));
}

/// The 32 bits of `key` that end at bit `span` (exclusive); 1 <= span.
__device__ __forceinline__ std::uint32_t bits_below(std::uint32_t key, int span) {
  return key << (32 - span);
}
__device__ __forceinline__ std::uint32_t bits_below(std::uint64_t key, int span) {
  return static_cast<std::uint32_t>((key << (64 - span)) >> 32);
}

/// Field of the segment index in a word: its highest `segment_bits` bits, possibly none.
__device__ __forceinline__ std::uint32_t segment_field(std::uint32_t segment, int segment_bits) {
  return (segment << 1) << (31 - segment_bits);
}
__device__ __forceinline__ std::uint32_t segment_of(std::uint32_t word, int segment_bits) {
  return (word >> 1) >> (31 - segment_bits);
}

}  // namespace sortie::segsort
