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

/// sum + a * b, rounded after the product and after the sum, as by kernels that store products.
__device__ __forceinline__ float with_product(float before, float a, float b) {
  return __fadd_rn(before, __fmul_rn(a, b));
}
__device__ __forceinline__ double with_product(double before, double a, double b) {
  return __dadd_rn(before, __dmul_rn(a, b));
}
__device__ __forceinline__ std::complex<double> with_product(std::complex<double> before,
                                                             std::complex<double> a,
                                                             std::complex<double> b) {
  return sum(before, product(a, b));
}

/// -0.0, since -0.0 + x has the bits of x for every x, including +0.0 and -0.0.
template <class Value>
__device__ __forceinline__ Value additive_identity() {
  if constexpr (sizeof(Value) > sizeof(double)) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

}  // namespace sortie::spgemm::cuda
