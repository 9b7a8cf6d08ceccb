// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cuda/barrier>

/// Replaced in the tests of kernels on the host, like hardware.cuh.
namespace sortie {

/// A barrier in shared memory with which one warp releases another.
class WarpSignal {
 public:
  /// Called by one thread, followed by a block barrier before other uses.
  __device__ __forceinline__ void prepare() { init(&barrier(), 32); }
  /// Called by all lanes of the releasing warp. Releases the waiting warp, which then sees all
  /// prior writes of these lanes. Each lane arrives itself, because racecheck does not accept one
  /// lane's arrival for the other lanes.
  __device__ __forceinline__ void raise() { (void)barrier().arrive(); }
  /// Waits until raise() has been called more than `before` times.
  /// \param before  number of preceding wait() calls
  __device__ __forceinline__ void wait(std::uint32_t before) {
    barrier().wait_parity((before & 1) != 0);
  }

 private:
  using Barrier = ::cuda::barrier<::cuda::thread_scope_block>;
  __device__ __forceinline__ Barrier& barrier() { return reinterpret_cast<Barrier&>(bytes_); }
  // Raw bytes, since shared variables must not have constructors.
  alignas(Barrier) unsigned char bytes_[sizeof(Barrier)];
};

}  // namespace sortie
