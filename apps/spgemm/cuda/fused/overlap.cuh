#pragma once

/// What the kernels of a KernelGroup call.
namespace sortie::spgemm::cuda {

/// To be called by each such kernel first: lets the next one start when all blocks have begun. It
/// is enough that the last ones say so, those that may be running when none is left to begin.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned most_at_once = 8192;
  if (blockIdx.x + most_at_once >= gridDim.x)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// To be called by each such kernel last: its end means that those before have ended, too. One
/// block waits; the others make room for the next kernel.
__device__ __forceinline__ void end_after_kernels_before() {
#if __CUDA_ARCH__ >= 900
  if (blockIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace sortie::spgemm::cuda
