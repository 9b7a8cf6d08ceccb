#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "sortie/segsort/cuda/arguments.cuh"
#include "sortie/segsort/cuda/policy.cuh"
#include "sortie/segsort/cuda/short_numbers.cuh"
#include "sortie/segsort/cuda/word_network.cuh"

/// Sorts the items of one or more whole segments in one tile: a warp's or a block's.
///
/// The items of all segments of the tile are numbered one after the other, e = 0 .. length-1. Each
/// is represented by one word,
///
///     | number of its segment in the tile | window: topmost bits of its key | e |
///
/// and the words are sorted, whatever the segments' lengths. Words are all different, so the sort
/// is stable, and no segment mixes with another or with padding. Keys and values stay in shared
/// memory and are fetched by e when the order is known.
///
/// Keys count from the tile's least key, and the window starts at the highest bit that any of them
/// then has. Where all bits fit into it, the order is exact. Else neighbours with the same window
/// may still be in the wrong order: short runs of them are mended by one thread each, and where a
/// run is long (many keys agree in the window) the tile is sorted again digit by digit, least
/// significant first, with the window as the digit.
namespace sortie::segsort {

constexpr int log2_of(int power_of_two) {
  int log = 0;
  while ((1 << log) < power_of_two) ++log;
  return log;
}

/// Longest run of equal windows that one thread puts right, in a time quadratic in it.
inline constexpr int longest_mended_run = 16;

/// The segments of a tile, as far as it matters for the choice of a network.
struct TileSegments {
  int longest;
  int merge_rounds;  ///< that sort_middle_runs() takes
};

/// Segments of up to `longest` items that begin anywhere in a tile of `items` items a thread: one
/// touches so many threads at most, and takes as many rounds.
__device__ __forceinline__ constexpr TileSegments segments_anywhere(int longest, int items) {
  return {longest, (longest - 2) / items + 2};
}

/// Longest segments for which neighbours in a warp's tile are compared (sort_short_runs), given
/// what sort_middle_runs would take, and for which neighbouring threads are merged at all.
__device__ __forceinline__ constexpr int longest_short_run(int merge_rounds) {
  return merge_rounds >= 2 ? 20 : merge_rounds == 1 ? 14 : 8;
}
inline constexpr int longest_middle_run = 64;

template <int Bytes>
struct ValueWord {
  using type = std::uint32_t;
};
template <>
struct ValueWord<8> {
  using type = std::uint64_t;
};

/// One gap after 32 words spreads accesses at a stride of Items over the banks.
__device__ __forceinline__ constexpr int banked(int i) {
  return i + (i >> 5);
}

template <class WordType, int ValueBytesOfOne, int WarpCount, int ItemsOfThread>
struct Tile {
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  using Value = typename ValueWord<value_bytes>::type;
  static constexpr int warps = WarpCount;
  static constexpr int items = ItemsOfThread;
  static constexpr int threads = 32 * warps;
  static constexpr int capacity = threads * items;
  static constexpr int index_bits = log2_of(capacity);
  static constexpr std::uint32_t index_mask = (1u << index_bits) - 1;

  alignas(16) Word keys[capacity];                            ///< encoded, in the order of e
  alignas(16) Value values[value_bytes == 0 ? 1 : capacity];  ///< in the order of e
  std::uint32_t words[banked(capacity)];                      ///< in sorted order
  static constexpr bool ids_take_place_of_values = warps > 1 && value_bytes != 0;
  std::uint16_t own_ids[warps == 1 || value_bytes != 0 ? 1 : capacity];
  alignas(4) std::uint16_t splits[warps == 1 ? 1 : threads + 1];  ///< of the runs that are merged
  std::uint32_t least[2];  ///< bounds of the keys' upper and lower words
  std::uint32_t greatest[2];

  /// Items at the positions of the last pass of sort_by_digits(), when a block does it (a warp's
  /// words outlast a pass). They are wanted so rarely that they take the place of the values, which
  /// are fetched again: more tiles fit a multiprocessor.
  __device__ std::uint16_t* ids() {
    if constexpr (ids_take_place_of_values) {
      return reinterpret_cast<std::uint16_t*>(values);
    } else {
      return own_ids;
    }
  }

  /// Number of this thread in its tile.
  __device__ static int thread() { return static_cast<int>(threadIdx.x) % threads; }
  __device__ static void synchronise() {
    if constexpr (warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  /// True on all threads of the tile if it is on any. A barrier, as synchronise().
  __device__ static bool any(bool condition) {
    if constexpr (warps == 1) {
      __syncwarp();  // a vote alone does not order memory
      return __any_sync(full_warp, condition) != 0;
    } else {
      return __syncthreads_or(condition) != 0;
    }
  }
  [[nodiscard]] __device__ std::uint32_t word(int position) const {
    return words[banked(position)];
  }
  /// The word at position r * threads + thread(); with r known to the compiler, no arithmetic.
  __device__ std::uint32_t& striped(int r) {
    return words[r * (threads + warps) + banked(thread())];
  }
  /// The word at position thread() * items + r.
  __device__ std::uint32_t& blocked(int r) {
    static_assert(32 % items == 0, "a thread's words have no gap between them");
    return words[banked(thread() * items) + r];
  }
};

__device__ __forceinline__ std::uint32_t min_over_warp(std::uint32_t word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(full_warp, word);
#else
  for (int mask = 16; mask > 0; mask /= 2) word = min(word, __shfl_xor_sync(full_warp, word, mask));
  return word;
#endif
}
__device__ __forceinline__ std::uint32_t max_over_warp(std::uint32_t word) {
  return ~min_over_warp(~word);
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

/// Field of the segment's number in a word: its topmost `segment_bits` bits, which may be none.
__device__ __forceinline__ std::uint32_t segment_field(std::uint32_t segment, int segment_bits) {
  return (segment << 1) << (31 - segment_bits);
}
__device__ __forceinline__ std::uint32_t segment_of(std::uint32_t word, int segment_bits) {
  return (word >> 1) >> (31 - segment_bits);
}

/// Merges the warps' runs in shared memory two by two (paper, section 3.3): thread i makes the
/// outputs i*items .. i*items+items-1 of a round. The merge path search (Green, McColl, Bader: ICS
/// 2012) tells which stretches of the two runs these are; read one forwards and the other
/// backwards, they are a bitonic sequence, which half cleaners in registers sort. On entry the runs
/// are in tile.words, on return the result is there and in `words`. Begins and ends with a barrier.
template <class T>
__device__ __forceinline__ void merge_runs(T& tile, std::uint32_t (&words)[T::items]) {
  const int thread = T::thread();
#pragma unroll 1
  for (int run = 32 * T::items; run < T::capacity; run *= 2) {
    __syncthreads();
    const int pair = thread * T::items / (2 * run) * (2 * run);
    const int a_size = min(run, T::capacity - pair);
    const int b_size = min(run, T::capacity - pair - a_size);
    const int diagonal = thread * T::items - pair;
    int low = max(0, diagonal - b_size);
    int high = min(diagonal, a_size);
    while (low < high) {
      const int middle = (low + high) >> 1;
      if (tile.word(pair + middle) < tile.word(pair + a_size + diagonal - 1 - middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    tile.splits[thread] = static_cast<std::uint16_t>(low);
    __syncthreads();
    const bool last = diagonal + T::items == a_size + b_size;
    const int from_a = (last ? a_size : tile.splits[thread + 1]) - low;
    // Item r is word a + r of the first run, or word b - r of the second.
    const int a = pair + low;
    const int b = pair + a_size + diagonal - low + T::items - 1;
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.word(r < from_a ? a + r : b - r);
    clean_in_thread(words);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  }
  __syncthreads();
}

/// Lets each thread trade with its neighbours: half of its words with half of the next thread's,
/// so that both halves together are in order, and then its own two halves. On entry and on return
/// each thread's words are in order. Where a block does it, it contains barriers.
template <class T>
__device__ __forceinline__ void trade_with_neighbours(T& tile, std::uint32_t (&words)[T::items]) {
  constexpr int half = T::items / 2;
  const int lane = T::thread() % 32;
  const int warp = T::thread() / 32;
  // Halves that cross from warp to warp: down to the one before, up to the one behind.
  static_assert(T::warps == 1 || sizeof(tile.splits) >= 2 * T::warps * half * 4);
  auto* const down = reinterpret_cast<std::uint32_t*>(tile.splits);
  std::uint32_t* const up = down + T::warps * half;
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int r = 0; r < half; ++r)
      if (lane == 0) down[warp * half + r] = words[r];
    __syncthreads();
  }
  std::uint32_t both[T::items];
#pragma unroll
  for (int r = 0; r < half; ++r) {
    both[r] = words[half + r];
    std::uint32_t next = __shfl_down_sync(full_warp, words[r], 1);
    if (lane == 31) next = warp + 1 < T::warps ? down[(warp + 1) * half + r] : 0xffffffffu;
    both[T::items - 1 - r] = next;
  }
  clean_in_thread(both);
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int r = 0; r < half; ++r)
      if (lane == 31) up[warp * half + r] = both[half + r];
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < half; ++r) {
    const std::uint32_t previous = __shfl_up_sync(full_warp, both[half + r], 1);
    if (lane != 0) {
      words[r] = previous;
    } else if (warp != 0) {
      words[r] = up[(warp - 1) * half + r];
    }
    words[T::items - 1 - r] = both[r];
  }
  clean_in_thread(words);
}

/// Sorts the words by distribution, if they are spread evenly enough, and leaves them as
/// sort_words() does. On entry, item e = r * threads + thread is in register r; those from `length`
/// on are all ones.
///
/// Each word goes to one of half as many bins as the tile has items, or more, by its topmost bits;
/// then a thread's stretch has the items of some whole bins, and parts of one at each end. Where no
/// bin has more words than a thread, they are in order when each thread has sorted its own and has
/// traded with its neighbours: a bin lies over two threads at most, and what is on the wrong side
/// is in the neighbouring halves.
/// \return false, and the words as they were, where a bin has more words than a thread, or looks as
/// if it will after a quarter of the words
template <class T>
__device__ __forceinline__ bool sort_by_distribution(T& tile, std::uint32_t (&words)[T::items],
                                                     int length) {
  constexpr int bin_bits = T::index_bits - 1;
  constexpr int bins = 1 << bin_bits;
  static_assert(bins <= T::capacity, "the counters take the place of the words");
  const int thread = T::thread();
  const auto counter = [&](int bin) -> std::uint32_t& { return tile.words[banked(bin)]; };
  const auto bin_of = [](std::uint32_t word) { return static_cast<int>(word >> (32 - bin_bits)); };
  const auto is_item = [&](int r) { return r * T::threads + thread < length; };

  for (int bin = thread; bin < bins; bin += T::threads) counter(bin) = 0;
  T::synchronise();
  static_assert(T::capacity <= 1 << 16);
  ShortNumbers<T::items, 16> ranks;  // in the bin
  bool crowded = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    if (r == T::items / 4) {
      if (T::any(crowded)) return false;
    }
    const std::uint32_t rank = is_item(r) ? atomicAdd(&counter(bin_of(words[r])), 1) : 0;
    if (r < T::items / 4) crowded |= rank >= T::items / 2;
    ranks.set(r, rank);
  }
  T::synchronise();

  // A thread adds up a stretch of the counters.
  constexpr int stretch = (bins - 1) / T::threads + 1;
  std::uint32_t counts[stretch];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < stretch; ++i) {
    const int bin = thread * stretch + i;
    counts[i] = bin < bins ? counter(bin) : 0;
    crowded |= counts[i] > T::items;
    sum += counts[i];
  }
  std::uint32_t up_to = sum;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(full_warp, up_to, distance);
    if (thread % 32 >= distance) up_to += other;
  }
  if constexpr (T::warps > 1) {
    if (thread % 32 == 31) tile.splits[thread / 32] = static_cast<std::uint16_t>(up_to);
  }
  if (T::any(crowded)) return false;
  std::uint32_t before = up_to - sum;
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int warp = 0; warp < T::warps; ++warp)
      if (warp < thread / 32) before += tile.splits[warp];
  }
#pragma unroll
  for (int i = 0; i < stretch; ++i) {
    const int bin = thread * stretch + i;
    if (bin < bins) counter(bin) = before;
    before += counts[i];
  }
  T::synchronise();
  ShortNumbers<T::items, 16> places;
#pragma unroll
  for (int r = 0; r < T::items; ++r)
    places.set(r, is_item(r) ? ranks[r] + counter(bin_of(words[r]))
                             : static_cast<std::uint32_t>(r * T::threads + thread));
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.words[banked(static_cast<int>(places[r]))] = words[r];
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  sort_in_thread(words);
  trade_with_neighbours(tile, words);
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  T::synchronise();
  return true;
}

/// Sorts the words in the threads' registers, wherever each of them is; all ones stand for no item.
/// On return tile.words has them in order, and register r of thread t that of position
/// t * items + r.
template <class T>
__device__ __forceinline__ void sort_words(T& tile, std::uint32_t (&words)[T::items]) {
  sort_in_warp(words, static_cast<int>(threadIdx.x) % 32);
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  if constexpr (T::warps > 1) {
    merge_runs(tile, words);
  } else {
    __syncwarp();
  }
}

/// Sorts again by all bits: one pass a digit of `window` bits, least significant first. Where a
/// block does it, the values in the tile are lost.
template <class T>
__device__ __noinline__ void sort_by_digits(T& tile, int length, int segment_bits, int window,
                                            typename T::Word base, typename T::Word compare_mask,
                                            int first_bit, int bits) {
  std::uint32_t words[T::items];
  for (int done = 0; done < bits; done += window) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int position = r * T::threads + T::thread();
      words[r] = 0xffffffffu;
      if (position >= length) continue;
      const std::uint32_t word = tile.striped(r);
      const std::uint32_t e = word & T::index_mask;
      const typename T::Word key = (tile.keys[e] & compare_mask) - base;
      const auto digit =
          static_cast<std::uint32_t>(key >> (first_bit + done)) & ((1u << window) - 1);
      words[r] = segment_field(segment_of(word, segment_bits), segment_bits) |
                 digit << T::index_bits | (done == 0 ? e : static_cast<std::uint32_t>(position));
      if constexpr (T::warps > 1) tile.ids()[position] = static_cast<std::uint16_t>(e);
    }
    T::synchronise();
    if constexpr (T::warps == 1) {
      sort_in_warp(words, T::thread());
      if (done != 0) {
#pragma unroll
        for (int r = 0; r < T::items; ++r)
          if (T::thread() * T::items + r < length)  // the last item may look like padding
            words[r] = (words[r] & ~T::index_mask) |
                       (tile.word(static_cast<int>(words[r] & T::index_mask)) & T::index_mask);
        __syncwarp();
      }
#pragma unroll
      for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
    } else {
      sort_words(tile, words);
      if (done != 0) {
#pragma unroll
        for (int r = 0; r < T::items; ++r) {
          const std::uint32_t word = tile.striped(r);
          if (r * T::threads + T::thread() < length)
            tile.striped(r) = (word & ~T::index_mask) | tile.ids()[word & T::index_mask];
        }
      }
    }
    T::synchronise();
  }
}

/// Where the keys of a tile lie: from `base` to below base + 2^span.
template <class Word>
struct KeyRange {
  Word base;
  int span;
};

/// Least and greatest of one word a thread over the tile; `slot` 0 or 1, each once a tile.
template <class T>
__device__ __forceinline__ void bounds_of_tile(T& tile, int slot, std::uint32_t& least,
                                               std::uint32_t& greatest) {
  least = min_over_warp(least);
  greatest = max_over_warp(greatest);
  if constexpr (T::warps > 1) {
    if (threadIdx.x == 0) {
      tile.least[slot] = 0xffffffffu;
      tile.greatest[slot] = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      atomicMin(&tile.least[slot], least);
      atomicMax(&tile.greatest[slot], greatest);
    }
    __syncthreads();
    least = tile.least[slot];
    greatest = tile.greatest[slot];
  }
}

/// Range of the compared bits of the tile's keys. For 64-bit keys the upper words decide unless
/// they are all the same: a base that is a little too small costs nothing but window bits.
template <class T>
__device__ __forceinline__ KeyRange<typename T::Word> key_range(
    T& tile, const typename T::Word (&keys)[T::items]) {
  using Word = typename T::Word;
  constexpr int upper = static_cast<int>(sizeof(Word)) * 8 - 32;
  std::uint32_t least = 0xffffffffu;
  std::uint32_t greatest = 0;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    least = min(least, static_cast<std::uint32_t>(keys[r] >> upper));
    greatest = max(greatest, static_cast<std::uint32_t>(keys[r] >> upper));
  }
  bounds_of_tile(tile, 0, least, greatest);
  if constexpr (upper == 0) return {least, bits_of(greatest - least)};
  const Word base = static_cast<Word>(least) << upper;
  if (least != greatest) return {base, upper + bits_of(greatest - least)};
  least = 0xffffffffu;
  greatest = 0;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    least = min(least, static_cast<std::uint32_t>(keys[r]));
    greatest = max(greatest, static_cast<std::uint32_t>(keys[r]));
  }
  bounds_of_tile(tile, 1, least, greatest);
  return {base | least, bits_of(greatest - least)};
}

/// Tells the compiler where a pointer leads that it cannot follow back to a kernel's parameter.
template <class T>
__device__ __forceinline__ T* in_global_memory(T* pointer) {
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/// The value at `index` of an array of values, which is null where there are none.
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

/// Starts the copy of one value to shared memory, or where there is none, of zeros; finish_values()
/// waits for all of the thread's.
template <class T>
__device__ __forceinline__ void fetch_value(T& tile, int e, const typename T::Value* value,
                                            bool is_item = true) {
  if constexpr (T::value_bytes != 0)
    __pipeline_memcpy_async(&tile.values[e], value, T::value_bytes, is_item ? 0 : T::value_bytes);
}
/// Starts to load the tile's items, which lie side by side: item e = r * threads + thread, its key
/// into register r, its value into shared memory. From `length` on, keys are that of the first.
template <class T>
__device__ __forceinline__ void load_items(T& tile, typename T::Word (&keys)[T::items],
                                           const typename T::Word* keys_in,
                                           const typename T::Value* values_in, int length) {
  // From the thread's first item on, so that the others are at distances known to the compiler.
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
template <class T>
__device__ __forceinline__ void finish_values(T&) {
  if constexpr (T::value_bytes != 0) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  T::synchronise();
}

enum class Ties { none, mended, long_runs };

/// Puts runs of equal windows right by their whole keys. The thread that holds the first word of a
/// run works on it alone; `words` are those that sort_words() left. Ends with a barrier, unless
/// there are no ties. Where a run is longer than longest_mended_run, nothing is done.
template <class T>
__device__ __forceinline__ Ties mend_ties(T& tile, const std::uint32_t (&words)[T::items],
                                          int length, typename T::Word compare_mask) {
  static_assert(longest_mended_run <= 16 && T::items <= 16, "four bits a position");
  // Words differ, so equal windows leave a difference of 1 .. index_mask; padding leaves 0.
  const auto same = [](std::uint32_t a, std::uint32_t b) { return (a ^ b) - 1 < T::index_mask; };
  const int thread = T::thread();
  const std::uint32_t next =
      thread + 1 < T::threads ? tile.word((thread + 1) * T::items) : 0xffffffffu;
  std::uint32_t nearest = (words[T::items - 1] ^ next) - 1;
#pragma unroll
  for (int r = 0; r + 1 < T::items; ++r) nearest = min(nearest, (words[r] ^ words[r + 1]) - 1);
  if (!T::any(nearest < T::index_mask)) return Ties::none;

  bool long_run = false;
  std::uint32_t starts = 0;
  std::uint64_t lengths = 0;  // of the runs, less one
  if (nearest < T::index_mask) {
    std::uint32_t equals_next = same(words[T::items - 1], next) ? 1u << (T::items - 1) : 0;
#pragma unroll
    for (int r = 0; r + 1 < T::items; ++r)
      if (same(words[r], words[r + 1])) equals_next |= 1u << r;
    // The last item may look like padding, but padding is no item.
    equals_next &= (1u << min(max(length - 1 - thread * T::items, 0), T::items)) - 1;
    std::uint32_t equals_previous = equals_next << 1;
    if (thread > 0 && same(tile.word(thread * T::items - 1), words[0])) equals_previous |= 1;
    starts = equals_next & ~equals_previous;
    for (std::uint32_t rest = starts; rest != 0; rest &= rest - 1) {
      const int r = __ffs(static_cast<int>(rest)) - 1;
      const int position = thread * T::items + r;
      const std::uint32_t word = tile.word(position);
      int run = 1;
      while (run <= longest_mended_run && position + run < length &&
             same(word, tile.word(position + run)))
        ++run;
      long_run |= run > longest_mended_run;
      lengths |= static_cast<std::uint64_t>((run - 1) & 15) << (4 * r);
    }
  }
  if (T::any(long_run)) return Ties::long_runs;
  T::synchronise();
  for (; starts != 0; starts &= starts - 1) {
    const int r = __ffs(static_cast<int>(starts)) - 1;
    const int begin = thread * T::items + r;
    const int end = begin + static_cast<int>(lengths >> (4 * r) & 15);
    for (int i = begin + 1; i <= end; ++i) {  // insertion: the run is in the order of e
      const std::uint32_t word = tile.word(i);
      const auto key = tile.keys[word & T::index_mask] & compare_mask;
      int place = i;
      while (place > begin &&
             (tile.keys[tile.word(place - 1) & T::index_mask] & compare_mask) > key) {
        tile.words[banked(place)] = tile.word(place - 1);
        --place;
      }
      tile.words[banked(place)] = word;
    }
  }
  T::synchronise();
  return Ties::mended;
}

/// Sorts a tile. On entry, item e = r * threads + thread is in register r: the compared bits of its
/// key in `keys` (its encoded key in tile.keys), and its segment's field and e in `words`. From
/// `length` on the words are all ones, and the keys are those of any item. On return tile.words is
/// in order. Ends with a barrier.
/// \tparam AreShort  no segment is longer than longest_middle_run
/// \return true if the values in the tile are lost
template <class T, bool AreShort = false>
__device__ __forceinline__ bool sort_tile(T& tile, const typename T::Word (&keys)[T::items],
                                          std::uint32_t (&words)[T::items], int length,
                                          int segment_bits, const TileSegments& segments,
                                          const KeyCodec<typename T::Word>& codec) {
  const int window = 32 - T::index_bits - segment_bits;
  const auto [base, span] = key_range(tile, keys);
  if (span == 0) {  // one key: all is in order
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
    T::synchronise();
    return false;
  }
#pragma unroll
  for (int r = 0; r < T::items; ++r)
    words[r] |= (bits_below(keys[r] - base, span) >> segment_bits) & ~T::index_mask;
  bool sorted = false;
  if constexpr (T::warps == 1) {
    if (segments.longest <=
        longest_middle_run) {  // the words are in the order of their segments already
#pragma unroll
      for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
      __syncwarp();
#pragma unroll
      for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
      if (segments.longest <= longest_short_run(segments.merge_rounds)) {
        sort_short_runs(words, T::thread(), segments.longest);
      } else {
        sort_middle_runs(words, T::thread(), segments.merge_rounds);
      }
      __syncwarp();
#pragma unroll
      for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
      __syncwarp();
      sorted = true;
    }
  }
  if constexpr (!AreShort) {
    if constexpr (T::warps > 1 || warps_distribute<typename T::Word, T::value_bytes>) {
      if (!sorted) sorted = sort_by_distribution(tile, words, length);
    }
    if (!sorted) sort_words(tile, words);
  }
  const int differing_bits = span - codec.ignored_bits;
  if (differing_bits <= window) return false;
  if (mend_ties(tile, words, length, codec.compare_mask) != Ties::long_runs) return false;
  if constexpr (T::ids_take_place_of_values) finish_values(tile);
  sort_by_digits(tile, length, segment_bits, window, base, codec.compare_mask, codec.ignored_bits,
                 differing_bits);
  return T::ids_take_place_of_values;
}

/// Writes a sorted tile: the item at position r * threads + thread goes to index
/// index_of(its word, r) of the arrays.
template <class T, class IndexOf>
__device__ __forceinline__ void store_tile(T& tile, const KeyCodec<typename T::Word>& codec,
                                           int length, typename T::Word* keys_out,
                                           typename T::Value* values_out, const IndexOf& index_of) {
  const auto store = [&](int r, bool plain) {
    if (r * T::threads + T::thread() >= length) return;
    const std::uint32_t word = tile.striped(r);
    const std::uint32_t e = word & T::index_mask;
    const auto index = index_of(word, r);
    const typename T::Word key = tile.keys[e];
    keys_out[index] = plain ? key : codec.decode(key);
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

/// Writes a sorted tile to where its items lie side by side.
template <class T>
__device__ __forceinline__ void store_items(T& tile, const KeyCodec<typename T::Word>& codec,
                                            int length, typename T::Word* keys_out,
                                            typename T::Value* values_out) {
  keys_out += T::thread();
  if constexpr (T::value_bytes != 0) values_out += T::thread();
  store_tile(tile, codec, length, keys_out, values_out,
             [](std::uint32_t, int r) { return r * T::threads; });
}

/// Puts the encoded keys into the tile and leaves the compared bits in `keys`. Ends with a barrier.
template <class T>
__device__ __forceinline__ void keep_keys(T& tile, typename T::Word (&keys)[T::items],
                                          const KeyCodec<typename T::Word>& codec) {
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
