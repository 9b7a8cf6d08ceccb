#pragma once

#include <complex>

/// What kernels do with entries.
namespace sortie::spgemm::cuda {

template <class Value>
__device__ __forceinline__ Value product(Value a, Value b) {
  return a * b;
}
// Spelled out: the operators of std::complex repair NaNs by a call that device code lacks.
__device__ __forceinline__ std::complex<double> product(std::complex<double> a,
                                                        std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class Value>
__device__ __forceinline__ Value sum(Value a, Value b) {
  return a + b;
}
__device__ __forceinline__ std::complex<double> sum(std::complex<double> a,
                                                    std::complex<double> b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}

/// The value that a lane of the calling one's `width` lanes holds.
template <class Value>
__device__ __forceinline__ Value from_lane(Value value, int lane, int width = 32) {
  return __shfl_sync(0xffffffffu, value, lane, width);
}
__device__ __forceinline__ std::complex<double> from_lane(std::complex<double> value, int lane,
                                                          int width = 32) {
  return {__shfl_sync(0xffffffffu, value.real(), lane, width),
          __shfl_sync(0xffffffffu, value.imag(), lane, width)};
}

}  // namespace sortie::spgemm::cuda
