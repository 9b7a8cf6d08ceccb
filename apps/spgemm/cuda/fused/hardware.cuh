#pragma once

#include <complex>
#include <cstdint>
#include <cuda/barrier>

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

/// A warp's word in shared memory by which another warp lets it go on.
class WarpSignal {
 public:
  /// By one thread; others use it after the block's next barrier.
  __device__ __forceinline__ void prepare() { init(&barrier(), 32); }
  /// By all lanes of the other warp: the one that waits, or will wait, goes on and sees what these
  /// wrote before. Each lane arrives by itself, since racecheck takes no lane's word for another's.
  __device__ __forceinline__ void raise() { (void)barrier().arrive(); }
  /// Waits until it has been raised once more than `before` times.
  /// \param before  how often this has been called
  __device__ __forceinline__ void wait(std::uint32_t before) {
    barrier().wait_parity((before & 1) != 0);
  }

 private:
  using Barrier = ::cuda::barrier<::cuda::thread_scope_block>;
  __device__ __forceinline__ Barrier& barrier() { return reinterpret_cast<Barrier&>(bytes_); }
  // Shared memory takes no constructors.
  alignas(Barrier) unsigned char bytes_[sizeof(Barrier)];
};

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
