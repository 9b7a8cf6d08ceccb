#pragma once

#include <cstdint>

/// What only the hardware has a word for: instructions without a function in CUDA C++, and what the
/// compiler has to be told. The kernels' tests on host threads (tests/kernels) bring another file
/// of this name.
namespace sortie::segsort {

/// Asks for the line that holds a byte, so that it is near when it is read.
__device__ __forceinline__ void prefetch_line(const void* byte) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(byte));
}

/// Waits until all that the kernels before this one wrote is there. Kernels of one sort start
/// before those in front of them have ended (programmatic dependent launch), so each calls this
/// first.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Waits for the other threads of a team, of which a block may have fifteen.
template <int Threads>
__device__ __forceinline__ void wait_for_team(int team) {
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(Threads) : "memory");
}
/// The same, and true on all threads of the team if `condition` is on any.
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

/// Tells the compiler where a pointer leads that it cannot follow back to a kernel's parameter.
template <class T>
__device__ __forceinline__ T* in_global_memory(T* pointer) {
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/// The dynamic shared memory of the block. Functions that are not part of their caller ask for it
/// themselves, for the compiler would not know that a reference leads there.
__device__ __forceinline__ unsigned char* dynamic_shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return shared_bytes;
}

}  // namespace sortie::segsort
