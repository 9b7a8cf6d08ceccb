// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Inline-PTX wrappers and compiler hints. tests/kernels, which runs the kernels on host threads,
/// supplies another file of this name.
namespace sortie::segsort {

/// Prefetches the line that holds a byte into the L2 cache.
__device__ __forceinline__ void prefetch_line(const void* byte) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(byte));
}

/// Waits until all writes of the preceding kernels are visible. With programmatic dependent launch,
/// the kernels of a sort start before their predecessors have ended, so each kernel calls this
/// first.
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

}  // namespace sortie::segsort
