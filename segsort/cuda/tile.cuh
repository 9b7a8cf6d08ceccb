// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_pipeline.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/word_network.cuh"

/// The tile of a warp, of a block, or of a team of warps within a block: the shared memory that
/// holds its items while their words are sorted (tile_sort.cuh), how they are loaded and stored,
/// and the fields of a word.
namespace sortie::segsort {

/// Position of word i in shared memory with a padding word after every 32 words, which spreads
/// accesses with a stride over the banks.
__device__ __forceinline__ constexpr int banked(int i) {
  return i + (i >> 5);
}

/// Array of numbers of `Bits` bits, several per register. Indices must be compile-time constants.
/// Numbers must be set in ascending order of index.
template <int Count, int Bits>
class ShortNumbers {
 public:
  __device__ __forceinline__ void set(int i, std::uint32_t number) {
    const int shift = i % in_word * Bits;
    std::uint32_t& word = words_[i / in_word];
    word = shift == 0 ? number : word | number << shift;
    // Force the packing here: otherwise the compiler keeps the operands in registers until the
    // numbers are read.
    asm volatile("" : "+r"(word));
  }
  __device__ __forceinline__ std::uint32_t operator[](int i) const {
    const int shift = i % in_word * Bits;
    return words_[i / in_word] >> shift & ((1u << Bits) - 1);
  }

 private:
  static constexpr int in_word = 32 / Bits;
  std::uint32_t words_[(Count - 1) / in_word + 1];
};

namespace detail {
template <int Bytes>
struct ValueWordOf {
  using type = std::uint32_t;
};
template <>
struct ValueWordOf<1> {
  using type = std::uint8_t;
};
template <>
struct ValueWordOf<2> {
  using type = std::uint16_t;
};
template <>
struct ValueWordOf<8> {
  using type = std::uint64_t;
};
template <>
struct ValueWordOf<16> {
  using type = uint4;
};
}  // namespace detail
/// Word of a value; if there are none, of any type.
template <int Bytes>
using ValueWord = typename detail::ValueWordOf<Bytes>::type;
/// Whether values have a size that only a sort of one array carries, by digits or buckets.
template <int Bytes>
inline constexpr bool is_of_arrays = Bytes == 1 || Bytes == 2 || Bytes == 16;

/// \tparam IsOfTeam  the block has several teams of WarpCount neighbouring warps, each with its own
///                   tile
template <class WordType, int ValueBytesOfOne, int WarpCount, int ItemsOfThread,
          bool IsOfTeam = false>
struct Tile {
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  using Value = ValueWord<value_bytes>;
  static constexpr int warps = WarpCount;
  static constexpr int items = ItemsOfThread;
  static constexpr int threads = 32 * warps;
  static constexpr bool is_of_team = IsOfTeam;
  static constexpr int capacity = threads * items;
  static constexpr int index_bits = std::bit_width(capacity - 1u);
  static constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
  static constexpr int bin_bits = index_bits - 1;  ///< log2 of the bins of a distribution

  alignas(16) Word keys[capacity];                            ///< encoded, in the order of e
  alignas(16) Value values[value_bytes == 0 ? 1 : capacity];  ///< in the order of e
  std::uint32_t words[banked(capacity)];                      ///< in sorted order
  static constexpr bool ids_alias_values = warps > 1 && value_bytes >= 2;
  std::uint16_t own_ids[warps == 1 || value_bytes >= 2 ? 1 : capacity];
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
  /// Returns for how many threads of the tile `condition` holds. A barrier, like synchronise().
  __device__ static int count(bool condition) {
    if constexpr (warps == 1) {
      __syncwarp();
      return __popc(__ballot_sync(full_warp, condition));
    } else if constexpr (is_of_team) {
      return count_in_team<threads>(team(), condition);
    } else {
      return __syncthreads_count(condition ? 1 : 0);
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

/// The tile at a distance from the begin of shared memory, and this distance. Functions that are
/// not inlined take the distance, so that the compiler knows the address space.
template <class T>
__device__ __forceinline__ T& tile_at(std::uint32_t distance) {
  return *reinterpret_cast<T*>(dynamic_shared_memory() + distance);
}
template <class T>
__device__ __forceinline__ std::uint32_t distance_of(const T& tile) {
  return static_cast<std::uint32_t>(reinterpret_cast<const unsigned char*>(&tile) -
                                    dynamic_shared_memory());
}

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

// Thread t loads items e = r * threads + t: the key into register r and then shared memory, the
// value directly into shared memory. Thread t stores positions r * threads + t.

/// Address of the value at `index` of an array of values; null if there are none.
template <class T, class Array, class Index>
__device__ __forceinline__ auto value_at(Array* values, Index index) {
  using Value =
      std::conditional_t<std::is_const_v<Array>, const typename T::Value, typename T::Value>;
  auto* const typed = static_cast<Value*>(values);
  if constexpr (T::value_bytes == 0) {
    return typed;
  } else {
    return in_global_memory(typed) + index;
  }
}

/// Starts the asynchronous copy of one value to shared memory; of zeros if `is_item` is false.
/// finish_values() waits for all copies of the thread. Values of less than 4 bytes are copied at once.
template <class T>
__device__ __forceinline__ void fetch_value(T& tile, int e, const typename T::Value* value,
                                            bool is_item = true) {
  if constexpr (T::value_bytes == 1 || T::value_bytes == 2) {
    tile.values[e] = 0;
    if (is_item) tile.values[e] = *value;
  } else if constexpr (T::value_bytes != 0)
    __pipeline_memcpy_async(&tile.values[e], value, T::value_bytes, is_item ? 0 : T::value_bytes);
}

/// Starts to load the items of a tile, which are contiguous in memory: item e = r * threads +
/// thread, its key into register r, its value into shared memory. Keys from `length` on are copies
/// of the first.
template <class T, class Stored>
__device__ __forceinline__ void load_items(T& tile, typename T::Word (&keys)[T::items],
                                           const Stored* keys_in,
                                           const typename T::Value* values_in, int length) {
  // Relative to the thread's first item, all others are at compile-time offsets.
  const int thread = T::thread();
  const typename T::Word any_key = *keys_in;
  keys_in += thread;
  if constexpr (T::value_bytes != 0) values_in += thread;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    keys[r] = any_key;
    if (e < length) keys[r] = keys_in[r * T::threads];
    if constexpr (T::value_bytes != 0) fetch_value(tile, e, values_in + r * T::threads, e < length);
  }
}

/// Waits for the copies started by fetch_value(). Ends with a barrier.
template <class T>
__device__ __forceinline__ void finish_values(T&) {
  if constexpr (T::value_bytes != 0) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  T::synchronise();
}

/// Writes a sorted tile: the item at position r * threads + thread goes to index
/// index_of(its word, r) of the arrays.
template <class T, class Codec, class Stored, class IndexOf>
__device__ __forceinline__ void store_tile(T& tile, const Codec& codec, int length,
                                           Stored* keys_out, typename T::Value* values_out,
                                           const IndexOf& index_of) {
  const auto store = [&](int r, bool plain) {
    if (r * T::threads + T::thread() >= length) return;
    const std::uint32_t word = tile.striped(r);
    const std::uint32_t e = word & T::index_mask;
    const auto index = index_of(word, r);
    const typename T::Word key = tile.keys[e];
    keys_out[index] = plain ? static_cast<Stored>(key) : codec.decode(key);
    if constexpr (T::value_bytes != 0) values_out[index] = tile.values[e];
  };
  if (codec.plain) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) store(r, true);
  } else {
#pragma unroll 4
    for (int r = 0; r < T::items; ++r) store(r, false);
  }
}

/// Writes a sorted tile to a contiguous range.
template <class T, class Codec, class Stored>
__device__ __forceinline__ void store_items(T& tile, const Codec& codec, int length,
                                            Stored* keys_out, typename T::Value* values_out) {
  keys_out += T::thread();
  if constexpr (T::value_bytes != 0) values_out += T::thread();
  store_tile(tile, codec, length, keys_out, values_out,
             [](std::uint32_t, int r) { return r * T::threads; });
}

/// Writes the encoded keys to the tile and leaves the compared bits in `keys`. Ends with a barrier.
template <class T, class Codec>
__device__ __forceinline__ void keep_keys(T& tile, typename T::Word (&keys)[T::items],
                                          const Codec& codec) {
  if (codec.plain) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.keys[r * T::threads + T::thread()] = keys[r];
  } else {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const typename T::Word encoded = codec.encode(keys[r]);
      tile.keys[r * T::threads + T::thread()] = encoded;
      keys[r] = encoded & codec.compare_mask;
    }
  }
  T::synchronise();
}

}  // namespace sortie::segsort
