// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/kernels/on_host/cuda_on_host.hpp"

/// Replaces primitives/cuda/hardware.cuh on the host.
namespace sortie {

inline void prefetch_line(const void*) {}
inline void wait_for_preceding_kernels() {}

template <int Threads>
void wait_for_team(int team) {
  cuda_on_host::barrier_of_team(team, Threads).arrive_and_wait();
}
template <int Threads>
int count_in_team(int team, bool condition) {
  cuda_on_host::Barrier& barrier = cuda_on_host::barrier_of_team(team, Threads);
  {
    const cuda_on_host::Unseen unseen;
    cuda_on_host::block.slots[threadIdx.x] = condition ? 1 : 0;
  }
  barrier.arrive_and_wait();
  int count = 0;
  {
    const cuda_on_host::Unseen unseen;
    for (int thread = 0; thread < Threads; ++thread)
      count += static_cast<int>(cuda_on_host::block.slots[team * Threads + thread]);
  }
  barrier.arrive_and_wait();
  return count;
}
template <int Threads>
bool any_of_team(int team, bool condition) {
  return count_in_team<Threads>(team, condition) != 0;
}

template <class T>
T* in_global_memory(T* pointer) {
  return pointer;
}

inline unsigned char* dynamic_shared_memory() {
  alignas(128) static unsigned char bytes[240 * 1024];
  return bytes;
}

inline void trigger_dependent_launch() {}
inline void wait_for_prior_kernels() {}

template <class T>
void copy_async(T* to, const T* from) {
  *to = *from;
}
inline void wait_for_copies() {}

using SharedAddress = const void*;
template <class T>
SharedAddress shared_address(const T* place) {
  return place;
}
template <class T>
void load_shared(SharedAddress address, T& value) {
  value = *static_cast<const T*>(address);
}
template <class T>
void store_shared(SharedAddress address, T value) {
  *static_cast<T*>(const_cast<void*>(address)) = value;
}

inline std::uint32_t read_shared_word(const std::uint32_t& word) {
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(word)).load();
}

template <class T>
void store_streaming(T* place, T value) {
  *place = value;
}
template <class T>
T load_streaming(const T* place) {
  return *place;
}

}  // namespace sortie
