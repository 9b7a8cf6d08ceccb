// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/kernels/on_host/cuda_on_host.hpp"

/// segsort/cuda/hardware.cuh, on the host.
namespace sortie::segsort {

inline void prefetch_line(const void*) {}
inline void wait_for_preceding_kernels() {}

template <int Threads>
void wait_for_team(int team) {
  cuda_on_host::barrier_of_team(team, Threads).arrive_and_wait();
}
template <int Threads>
bool any_of_team(int team, bool condition) {
  std::barrier<>& barrier = cuda_on_host::barrier_of_team(team, Threads);
  {
    const cuda_on_host::Unseen unseen;
    cuda_on_host::block.slots[threadIdx.x] = condition ? 1 : 0;
  }
  barrier.arrive_and_wait();
  bool any = false;
  {
    const cuda_on_host::Unseen unseen;
    for (int thread = 0; thread < Threads; ++thread)
      any |= cuda_on_host::block.slots[team * Threads + thread] != 0;
  }
  barrier.arrive_and_wait();
  return any;
}

template <class T>
T* in_global_memory(T* pointer) {
  return pointer;
}

inline unsigned char* dynamic_shared_memory() {
  alignas(128) static unsigned char bytes[240 * 1024];
  return bytes;
}

}  // namespace sortie::segsort
