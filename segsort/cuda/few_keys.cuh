// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/relaxed_access.cuh"

/// Arrays of few distinct keys: the keys are counted in hash tables. Each block has a table in shared
/// memory and adds it to one in global memory; the block that ends last puts that in order. Keys
/// alone are then written as often as they occur; items with values are moved by one pass over the
/// ranks of their keys (radix_passes.cuh).
namespace sortie::segsort::few {

inline constexpr unsigned int most_keys = 512;
/// Ranks of keys with values are digits of a pass.
inline constexpr unsigned int most_keys_with_values = 256;
inline constexpr unsigned int slots = 2 * most_keys;
/// Counters per slot, chosen by the lane, so that frequent keys do not make lanes wait.
inline constexpr unsigned int copies = 8;
inline constexpr unsigned int threads = 512;
inline constexpr int items = 8;
/// Slots that are tried for a key. Tables are at most half full, so that more are hardly ever
/// needed.
inline constexpr unsigned int most_probes = 64;

/// A key that marks a free slot. Such keys themselves have the slot after the last.
template <class Word>
inline constexpr Word free_slot = ~Word{0};

/// In temporary storage.
struct FewKeys {
  unsigned long long keys[slots];
  unsigned long long counts[slots + 1];
  std::uint64_t sorted[most_keys + 1];     ///< encoded keys, ascending
  std::uint64_t positions[most_keys + 1];  ///< of the first of each key
  std::uint16_t ranks[slots + 1];          ///< of the keys in the slots
  unsigned int used;                       ///< slots; in the end the number of keys
};

/// Clears the table. Called by a block.
__device__ inline void clear(FewKeys& table) {
  for (unsigned int i = threadIdx.x; i < slots; i += blockDim.x)
    table.keys[i] = free_slot<unsigned long long>;
  for (unsigned int i = threadIdx.x; i <= slots; i += blockDim.x) table.counts[i] = 0;
  if (threadIdx.x == 0) table.used = 0;
}

/// The slot where the search for a key begins: the same for its words of 4 and 8 bytes.
template <class Word>
__device__ __forceinline__ unsigned int first_slot(Word key) {
  unsigned int hash = static_cast<unsigned int>(key * Word{0x9e3779b1}) ^
                      static_cast<unsigned int>(std::uint64_t{key} >> 32) * 0x85ebca6bu;
  hash ^= hash >> 15;  // the square of the factor would give neighbouring keys one slot
  static_assert(slots == 1 << 10);
  return hash * 0x9e3779b1u >> 22;
}

/// The slot of a key, inserted if it is new; `slots` for keys like free_slot; slots + 1 if there is
/// no place, or if there are `most` others.
template <class Word>
__device__ __forceinline__ unsigned int slot_of(Word* keys, unsigned int* used, unsigned int most,
                                                Word key) {
  if (key == free_slot<Word>) return slots;
  unsigned int slot = first_slot(key);
  for (unsigned int probe = 0; probe < most_probes; ++probe) {
    Word found = load_relaxed(keys[slot]);
    if (found == key) return slot;
    if (found == free_slot<Word>) {
      found = atomicCAS(&keys[slot], free_slot<Word>, key);
      if (found == free_slot<Word>) {
        if (atomicAdd(used, 1) >= most) return slots + 1;
        return slot;
      }
      if (found == key) return slot;
    }
    slot = (slot + 1) % slots;
  }
  return slots + 1;
}

/// Type of a word in shared memory that atomicCAS takes.
template <class Word>
using AtomicWord = std::conditional_t<sizeof(Word) == 4, unsigned int, unsigned long long>;

template <class Word>
struct Shared {
  AtomicWord<Word> keys[slots];
  alignas(8) unsigned int counts[(slots + 1) * copies];
  unsigned int used;
};

/// Counts the keys of tiles blockIdx.x, blockIdx.x + gridDim.x, ..., and adds them to `table`. Sets
/// `failed` and ends early where more than `most` slots are used.
template <class Word>
__device__ void count(Shared<Word>& shared, const Word* keys, std::uint64_t length,
                      unsigned int most, FewKeys& table, std::uint32_t& failed) {
  constexpr std::uint64_t tile = threads * items;
  const unsigned int thread = threadIdx.x;
  for (unsigned int i = thread; i < slots; i += threads)
    shared.keys[i] = free_slot<AtomicWord<Word>>;
  for (unsigned int i = thread; i < (slots + 1) * copies; i += threads) shared.counts[i] = 0;
  if (thread == 0) shared.used = 0;
  __syncthreads();
  for (std::uint64_t begin = blockIdx.x * tile; begin < length && load_relaxed(failed) == 0;
       begin += gridDim.x * tile) {
    AtomicWord<Word> loaded[items];
#pragma unroll
    for (int r = 0; r < items; ++r) loaded[r] = keys[min(begin + r * threads + thread, length - 1)];
#pragma unroll
    for (int r = 0; r < items; ++r) {
      if (begin + r * threads + thread >= length) continue;
      const unsigned int slot = slot_of(shared.keys, &shared.used, most, loaded[r]);
      if (slot <= slots) {
        atomicAdd(&shared.counts[slot * copies + lane() % copies], 1);
      } else {
        store_relaxed(failed, 1u);
      }
    }
  }
  __syncthreads();
  if (load_relaxed(failed) != 0) return;
  for (unsigned int i = thread; i <= slots; i += threads) {
    unsigned long long sum = 0;
    for (unsigned int copy = 0; copy < copies; ++copy) sum += shared.counts[i * copies + copy];
    if (sum == 0) continue;
    // A key of 4 bytes is never like the free slot of the table, which has 8.
    const unsigned int slot = i == slots ? slots
                                         : slot_of(table.keys, &table.used, most,
                                                   static_cast<unsigned long long>(shared.keys[i]));
    if (slot <= slots) {
      atomicAdd(&table.counts[slot], sum);
    } else {
      store_relaxed(failed, 1u);
    }
  }
}

/// Puts the keys of the table in order. Called by the last block, when all others have added
/// theirs.
template <class Word>
__device__ void order(Shared<Word>& shared, FewKeys& table, const BitRangeCodec<Word>& codec) {
  const unsigned int thread = threadIdx.x;
  // The shared memory of the hash table is free.
  Word* const encoded = reinterpret_cast<Word*>(shared.keys);
  auto* const amounts = reinterpret_cast<unsigned long long*>(shared.counts);
  if (thread == 0) shared.used = 0;
  __syncthreads();
  for (unsigned int i = thread; i <= slots; i += threads) {
    const unsigned long long amount = table.counts[i];
    if (amount == 0) continue;
    const unsigned int place = atomicAdd(&shared.used, 1);
    if (place > most_keys) continue;
    encoded[place] = codec.encode(i == slots ? free_slot<Word> : static_cast<Word>(table.keys[i]));
    amounts[place] = amount;
  }
  __syncthreads();
  const unsigned int count = min(shared.used, most_keys + 1);
  for (unsigned int i = thread; i <= slots; i += threads) {
    if (table.counts[i] == 0) continue;
    const Word key = codec.encode(i == slots ? free_slot<Word> : static_cast<Word>(table.keys[i]));
    unsigned int rank = 0;
    std::uint64_t before = 0;
    for (unsigned int other = 0; other < count; ++other) {
      if (encoded[other] >= key) continue;
      ++rank;
      before += amounts[other];
    }
    table.ranks[i] = static_cast<std::uint16_t>(rank);
    if (rank > most_keys) continue;
    table.sorted[rank] = key;
    table.positions[rank] = before;
  }
  if (thread == 0) table.used = count;
}

/// Keys as their ranks, for a block of a pass: a copy of the table in shared memory.
template <class Word>
struct Ranks {
  Word slot_keys[slots];
  Word keys[most_keys_with_values];  ///< by rank
  std::uint16_t ranks[slots + 1];

  /// Called by a block; a barrier must follow.
  __device__ void load(const FewKeys& table, const BitRangeCodec<Word>& codec) {
    for (unsigned int i = threadIdx.x; i < slots; i += blockDim.x)
      slot_keys[i] = static_cast<Word>(table.keys[i]);
    for (unsigned int i = threadIdx.x; i <= slots; i += blockDim.x) ranks[i] = table.ranks[i];
    for (unsigned int i = threadIdx.x; i < min(table.used, most_keys_with_values); i += blockDim.x)
      keys[i] = codec.decode(static_cast<Word>(table.sorted[i]));
  }
  __device__ __forceinline__ Word encode(Word key) const {
    if (key == free_slot<Word>) return ranks[slots];
    unsigned int slot = first_slot(key);
    for (unsigned int probe = 0; slot_keys[slot] != key && probe < most_probes; ++probe)
      slot = (slot + 1) % slots;
    return ranks[slot];
  }
  __device__ __forceinline__ Word decode(Word rank) const { return keys[rank]; }
};

}  // namespace sortie::segsort::few
