// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

/// Arithmetic of entries in kernels.
namespace sortie::spgemm::cuda {

template <class Value>
__device__ __forceinline__ Value product(Value a, Value b) {
  return a * b;
}
// Explicit: operator* of std::complex calls a NaN recovery function that device code lacks.
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

}  // namespace sortie::spgemm::cuda
