// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

/// Reg-sort: bitonic sort of N items in the registers of M threads of a warp (paper, section 3.2).
///
/// Thread t of a group of M holds items t*K .. t*K+K-1 of the network in registers 0..K-1, with K =
/// N/M. A comparator joins positions p and p ^ mask. Three exchange patterns make up the network:
///   exchange_local      mask < K: both positions are in registers of one thread
///   exchange_intersect  mask = 2^s - 1: the first step of a merge, partners mirrored (exch_intxn)
///   exchange_parallel   mask = 2^s: the later steps, partners at the same register (exch_paral)
///
/// All comparators move the smaller item to the lower position and do not exchange equal items.
/// Hence an item of the largest key (padding) that starts after all data stays there: no comparator
/// can move it down, whatever the keys of the data. The paper's primitive swaps registers before it
/// compares, which moves equal keys and mixes padding with data of the largest key. This one
/// compares on both sides instead, with the same number of shuffles.
namespace sortie::segsort::ics17 {

/// Payload type of keys alone.
struct NoPayload {};

/// A key and its payload.
template <class Word, class Payload>
struct Item {
  Word key;
  Payload payload;
};
template <class Word>
struct Item<Word, NoPayload> {
  Word key;
};

template <class Word, class Payload>
__device__ Item<Word, Payload> shuffle_xor(const Item<Word, Payload>& item, int lane_mask) {
  Item<Word, Payload> other;
  other.key = __shfl_xor_sync(full_warp, item.key, lane_mask);
  if constexpr (!std::is_same_v<Payload, NoPayload>)
    other.payload = __shfl_xor_sync(full_warp, item.payload, lane_mask);
  return other;
}

/// Order of an unstable sort: by the whole word.
struct CompareWords {
  template <class I>
  __device__ bool operator()(const I& a, const I& b) const {
    return a.key < b.key;
  }
};

/// Order of a stable sort: by the compared bits, then by the index that is the payload.
template <class Word>
struct CompareBitsThenIndex {
  Word mask;

  template <class I>
  __device__ bool operator()(const I& a, const I& b) const {
    const Word x = a.key & mask;
    const Word y = b.key & mask;
    return x < y || (x == y && a.payload < b.payload);
  }
};

/// Comparators between registers r and r ^ Mask of the same thread.
template <int Mask, int Items, class I, class Less>
__device__ void exchange_local(I (&items)[Items], const Less& less) {
#pragma unroll
  for (int r = 0; r < Items; ++r) {
    const int s = r ^ Mask;
    if (r < s && less(items[s], items[r])) {
      const I smaller = items[s];
      items[s] = items[r];
      items[r] = smaller;
    }
  }
}

/// Keeps the smaller of the own item and that of the partner in the lower thread, the larger in the
/// upper.
template <class I, class Less>
__device__ void keep(I& own, const I& other, bool upper, const Less& less) {
  const bool take = upper ? less(own, other) : less(other, own);
  if (take) own = other;
}

/// Comparators between thread t, register r and thread t ^ ThreadMask, register K-1-r.
template <int ThreadMask, int Items, class I, class Less>
__device__ void exchange_intersect(I (&items)[Items], int thread, const Less& less) {
  const bool upper = (thread & ((ThreadMask + 1) / 2)) != 0;
#pragma unroll
  for (int r = 0; r < (Items + 1) / 2; ++r) {
    const int s = Items - 1 - r;
    const I for_r = shuffle_xor(items[s], ThreadMask);
    if (s != r) {
      const I for_s = shuffle_xor(items[r], ThreadMask);
      keep(items[s], for_s, upper, less);
    }
    keep(items[r], for_r, upper, less);
  }
}

/// Comparators between thread t and thread t ^ ThreadMask at the same register.
template <int ThreadMask, int Items, class I, class Less>
__device__ void exchange_parallel(I (&items)[Items], int thread, const Less& less) {
  const bool upper = (thread & ThreadMask) != 0;
#pragma unroll
  for (int r = 0; r < Items; ++r) keep(items[r], shuffle_xor(items[r], ThreadMask), upper, less);
}

/// Steps Stride, Stride/2, ..., 1 of a bitonic merge.
template <int Stride, int Items, class I, class Less>
__device__ void merge_steps(I (&items)[Items], int thread, const Less& less) {
  if constexpr (Stride > 0) {
    if constexpr (Stride < Items) {
      exchange_local<Stride>(items, less);
    } else {
      exchange_parallel<Stride / Items>(items, thread, less);
    }
    merge_steps<Stride / 2>(items, thread, less);
  }
}

/// Sorts the Threads * Items items of a group (paper, algorithm 1). Thread t of the group passes
/// `thread` = t. All lanes of the warp must take part.
template <int Threads, int Items, int Size = 2, class I, class Less>
__device__ void register_sort(I (&items)[Items], int thread, const Less& less) {
  if constexpr (Size <= Threads * Items) {
    if constexpr (Size <= Items) {
      exchange_local<Size - 1>(items, less);
    } else {
      exchange_intersect<Size / Items - 1>(items, thread, less);
    }
    merge_steps<Size / 4>(items, thread, less);
    register_sort<Threads, Items, Size * 2>(items, thread, less);
  }
}

}  // namespace sortie::segsort::ics17
