// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "papers/ics17/register_sort.cuh"

/// In-register transpose before a store (paper, section 3.4, "striped write").
///
/// After reg-sort, thread t holds positions t*K .. t*K+K-1: a store of register r over the group
/// touches every K-th address. In binary, position = (thread bits, register bits). Swapping a
/// register bit with a thread bit takes one shuffle of half of the registers. min(log K, log M)
/// such swaps move all low bits of the position into the thread index, so that each store covers M
/// consecutive addresses. Their order among threads does not affect coalescing, so the final
/// permutation is omitted; position_after_transpose() returns the position of each register.
namespace sortie::segsort::ics17 {

constexpr int log2_of(int power_of_two) {
  int log = 0;
  while ((1 << log) < power_of_two) ++log;
  return log;
}

/// Swaps bit RegisterBit of the register index with bit ThreadBit of the thread index.
template <int RegisterBit, int ThreadBit, int Items, class I>
__device__ void swap_bits(I (&items)[Items], int thread) {
  const bool high = ((thread >> ThreadBit) & 1) != 0;
#pragma unroll
  for (int r = 0; r < Items; ++r) {
    if (((r >> RegisterBit) & 1) != 0) continue;
    constexpr int step = 1 << RegisterBit;
    const I sent = high ? items[r] : items[r + step];
    const I received = shuffle_xor(sent, 1 << ThreadBit);
    if (high) {
      items[r] = received;
    } else {
      items[r + step] = received;
    }
  }
}

template <int Threads, int Items, int Bit = 0, class I>
__device__ void register_transpose(I (&items)[Items], int thread) {
  constexpr int thread_bits = log2_of(Threads);
  constexpr int register_bits = log2_of(Items);
  constexpr int swaps = register_bits < thread_bits ? register_bits : thread_bits;
  if constexpr (Bit < swaps) {
    constexpr int thread_bit =
        register_bits <= thread_bits ? thread_bits - register_bits + Bit : Bit;
    swap_bits<Bit, thread_bit>(items, thread);
    register_transpose<Threads, Items, Bit + 1>(items, thread);
  }
}

/// Position in sorted order of the item in register r of thread `thread` after
/// register_transpose().
template <int Threads, int Items>
__device__ int position_after_transpose(int thread, int r) {
  constexpr int thread_bits = log2_of(Threads);
  constexpr int register_bits = log2_of(Items);
  if constexpr (register_bits <= thread_bits) {
    constexpr int low_bits = thread_bits - register_bits;
    return (r << thread_bits) | ((thread & ((1 << low_bits) - 1)) << register_bits) |
           (thread >> low_bits);
  } else {
    return thread | ((r & ((1 << thread_bits) - 1)) << register_bits) |
           ((r >> thread_bits) << thread_bits);
  }
}

}  // namespace sortie::segsort::ics17
