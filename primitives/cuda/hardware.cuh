// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/payload.hpp"

/// Inline-PTX wrappers, special memory accesses and compiler hints. The kernel tests on host threads
/// (tests/kernels) replace this file by one of the same path.
namespace sortie {

/// Prefetches the line that holds a byte into the L2 cache.
__device__ __forceinline__ void prefetch_line(const void* byte) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(byte));
}

/// Waits until all writes of the preceding kernels are visible. Each kernel of a sort calls this
/// first: with programmatic dependent launch, it starts before its predecessors have ended.
__device__ __forceinline__ void wait_for_preceding_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Barrier of the threads of a team; a block has at most fifteen teams.
template <int Threads>
__device__ __forceinline__ void wait_for_team(int team) {
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(Threads) : "memory");
}
/// As above; returns true on all threads of the team if `condition` holds on any.
template <int Threads>
__device__ __forceinline__ bool any_of_team(int team, bool condition) {
  int any = 0;
  asm volatile(
      "{\n"
      ".reg .pred mine, all;\n"
      "setp.ne.s32 mine, %3, 0;\n"
      "bar.red.or.pred all, %1, %2, mine;\n"
      "selp.s32 %0, 1, 0, all;\n"
      "}"
      : "=r"(any)
      : "r"(team + 1), "n"(Threads), "r"(condition ? 1 : 0)
      : "memory");
  return any != 0;
}

/// As above; returns for how many threads of the team `condition` holds.
template <int Threads>
__device__ __forceinline__ int count_in_team(int team, bool condition) {
  int count = 0;
  asm volatile(
      "{\n"
      ".reg .pred mine;\n"
      "setp.ne.s32 mine, %3, 0;\n"
      "bar.red.popc.u32 %0, %1, %2, mine;\n"
      "}"
      : "=r"(count)
      : "r"(team + 1), "n"(Threads), "r"(condition ? 1 : 0)
      : "memory");
  return count;
}

/// Asserts that a pointer refers to global memory, for pointers that the compiler cannot trace to a
/// kernel parameter.
template <class T>
__device__ __forceinline__ T* in_global_memory(T* pointer) {
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/// The dynamic shared memory of the block. Functions that are not inlined call this rather than
/// take a reference, so that the compiler knows the address space.
__device__ __forceinline__ unsigned char* dynamic_shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return shared_bytes;
}

/// Called first in a kernel of a KernelGroup: lets the next kernel start when all blocks of this
/// one have started. Calls by the last 8192 blocks suffice, since no more blocks are resident at
/// once when the last block starts.
__device__ __forceinline__ void trigger_dependent_launch() {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned most_at_once = 8192;
  if (blockIdx.x + most_at_once >= gridDim.x)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Called last in a kernel of a KernelGroup: the kernel ends only after the prior kernels have
/// ended. Block 0 waits; the others exit and free their resources for the next kernel.
__device__ __forceinline__ void wait_for_prior_kernels() {
#if __CUDA_ARCH__ >= 900
  if (blockIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// An address in shared memory, computed early. The asm statement keeps the compiler from
/// recomputing it later.
using SharedAddress = std::uint32_t;
template <class T>
__device__ __forceinline__ SharedAddress shared_address(const T* place) {
  auto address = static_cast<SharedAddress>(__cvta_generic_to_shared(place));
  asm volatile("" : "+r"(address));
  return address;
}

/// Loads and stores that the compiler neither moves nor reorders.
__device__ __forceinline__ void load_shared(SharedAddress address, float& value) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(SharedAddress address, double& value) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
}
template <ComplexOfDoubles Complex>
__device__ __forceinline__ void load_shared(SharedAddress address, Complex& value) {
  double real = 0;
  double imaginary = 0;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];"
               : "=d"(real), "=d"(imaginary)
               : "r"(address)
               : "memory");
  value = {real, imaginary};
}
__device__ __forceinline__ void store_shared(SharedAddress address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void store_shared(SharedAddress address, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
}
template <ComplexOfDoubles Complex>
__device__ __forceinline__ void store_shared(SharedAddress address, Complex value) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(value.real()),
               "d"(value.imag())
               : "memory");
}
__device__ __forceinline__ void store_shared(SharedAddress address, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// Copies an element from global to shared memory without a register, where the hardware can. Other
/// lanes see it after wait_for_copies() and a barrier.
template <class T>
__device__ __forceinline__ void copy_async(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  // In halves of 8 bytes: a complex number need not be aligned to its size.
  constexpr int bytes = sizeof(T) < 8 ? 4 : 8;
  static_assert(sizeof(T) % bytes == 0);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T)); i += bytes)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                     static_cast<SharedAddress>(__cvta_generic_to_shared(to)) + i),
                 "l"(reinterpret_cast<const unsigned char*>(from) + i), "n"(bytes)
                 : "memory");
#else
  *to = *from;
#endif
}
/// Waits for all copies of the calling thread.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Reads a word that other threads may be changing with atomics.
__device__ __forceinline__ std::uint32_t read_shared_word(const std::uint32_t& word) {
  return *static_cast<const volatile std::uint32_t*>(&word);
}

/// Streaming stores and loads (evict-first), for data that is not reused soon: they keep the rows
/// of B, which are reused, in the L2 cache.
template <class T>
__device__ __forceinline__ void store_streaming(T* place, T value) {
  __stcs(place, value);
}
// In halves: a complex number need not be aligned to its size.
template <ComplexOfDoubles Complex>
__device__ __forceinline__ void store_streaming(Complex* place, Complex value) {
  __stcs(reinterpret_cast<double*>(place), value.real());
  __stcs(reinterpret_cast<double*>(place) + 1, value.imag());
}
template <class T>
__device__ __forceinline__ T load_streaming(const T* place) {
  return __ldcs(place);
}
template <ComplexOfDoubles Complex>
__device__ __forceinline__ Complex load_streaming(const Complex* place) {
  const auto* const halves = reinterpret_cast<const double*>(place);
  return {__ldcs(halves), __ldcs(halves + 1)};
}

}  // namespace sortie
