#pragma once

#include <complex>
#include <cstdint>

/// What only the hardware has a word for: instructions without a function in CUDA C++. The kernels'
/// tests on host threads (tests/kernels) bring another file of this name.
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

namespace detail {

template <int Barrier, int Last>
__device__ __forceinline__ void wait_at_barrier(int barrier) {
  if (barrier == Barrier) {
    asm volatile("bar.sync %0, 64;" ::"n"(Barrier) : "memory");
  } else if constexpr (Barrier < Last) {
    wait_at_barrier<Barrier + 1, Last>(barrier);
  }
}
template <int Barrier, int Last>
__device__ __forceinline__ void arrive_at_barrier(int barrier) {
  if (barrier == Barrier) {
    asm volatile("bar.arrive %0, 64;" ::"n"(Barrier) : "memory");
  } else if constexpr (Barrier < Last) {
    arrive_at_barrier<Barrier + 1, Last>(barrier);
  }
}

}  // namespace detail

/// Waits until another warp has called release_other_warp() for the same barrier, one of 1 ..
/// Warps.
///
/// A block that names a barrier by a register is given all sixteen, and four such blocks have all
/// that a multiprocessor has; so blocks of few warps, of which there is room for more, name them by
/// constants.
template <int Warps>
__device__ __forceinline__ void wait_for_other_warp(int barrier) {
  if constexpr (Warps > 4) {
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
  } else {
    detail::wait_at_barrier<1, Warps>(barrier);
  }
}
/// Lets the warp go on that waits, or will wait, at a barrier; what this one wrote before is there.
template <int Warps>
__device__ __forceinline__ void release_other_warp(int barrier) {
  if constexpr (Warps > 4) {
    asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
  } else {
    detail::arrive_at_barrier<1, Warps>(barrier);
  }
}

/// A place in shared memory that is known before it is a warp's turn: the compiler does not work it
/// out again.
using SharedAddress = std::uint32_t;
template <class T>
__device__ __forceinline__ SharedAddress shared_address(const T* place) {
  auto address = static_cast<SharedAddress>(__cvta_generic_to_shared(place));
  asm volatile("" : "+r"(address));
  return address;
}

/// Reads and writes that stay where they are, in order.
__device__ __forceinline__ void load_shared(SharedAddress address, float& value) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(SharedAddress address, double& value) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(SharedAddress address, std::complex<double>& value) {
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
__device__ __forceinline__ void store_shared(SharedAddress address, std::complex<double> value) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(value.real()),
               "d"(value.imag())
               : "memory");
}
__device__ __forceinline__ void store_shared(SharedAddress address, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// A word that others may be changing by atomic functions.
__device__ __forceinline__ std::uint32_t read_shared_word(const std::uint32_t& word) {
  return *static_cast<const volatile std::uint32_t*>(&word);
}

/// What is written once and read much later, if at all, and what is read for the last time: it
/// leaves the second-level cache before the rows of B do, which are read again.
template <class T>
__device__ __forceinline__ void write_once(T* place, T value) {
  __stcs(place, value);
}
// By halves: a complex number need not be aligned to its size.
__device__ __forceinline__ void write_once(std::complex<double>* place,
                                           std::complex<double> value) {
  __stcs(reinterpret_cast<double*>(place), value.real());
  __stcs(reinterpret_cast<double*>(place) + 1, value.imag());
}
template <class T>
__device__ __forceinline__ T read_once(const T* place) {
  return __ldcs(place);
}
__device__ __forceinline__ std::complex<double> read_once(const std::complex<double>* place) {
  const auto* const halves = reinterpret_cast<const double*>(place);
  return {__ldcs(halves), __ldcs(halves + 1)};
}

/// The dynamic shared memory of the block.
__device__ __forceinline__ unsigned char* dynamic_shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return shared_bytes;
}

}  // namespace sortie::spgemm::cuda
