// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "primitives/key_codec.hpp"  // SORTIE_HOST_DEVICE
#include "sortie/float16.hpp"

/// Arithmetic of the semirings, on the host and in kernels with the same bits.
///
/// A semiring has the types Operand and Sum, zero(), the neutral element of the addition,
/// product(x, y) and add(sum, product).
namespace sortie::spgemm {

/// Operand of semirings that read no values.
struct NoOperand {};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

// nvcc contracts x * y + z to a fused multiply-add, which rounds once, unless told by intrinsics.
template <std::floating_point T>
SORTIE_HOST_DEVICE T rounded_product(T x, T y) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(float)) return __fmul_rn(x, y);
  return __dmul_rn(x, y);
#else
  return x * y;
#endif
}
template <std::floating_point T>
SORTIE_HOST_DEVICE T rounded_sum(T x, T y) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(float)) return __fadd_rn(x, y);
  return __dadd_rn(x, y);
#else
  return x + y;
#endif
}
// Integers wrap around.
template <std::signed_integral T>
SORTIE_HOST_DEVICE constexpr T rounded_product(T x, T y) {
  using Word = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Word>(x) * static_cast<Word>(y));
}
template <std::signed_integral T>
SORTIE_HOST_DEVICE constexpr T rounded_sum(T x, T y) {
  using Word = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Word>(x) + static_cast<Word>(y));
}
// Explicit: operator* of std::complex calls a NaN recovery function that device code lacks.
template <class T>
SORTIE_HOST_DEVICE std::complex<T> rounded_product(std::complex<T> x, std::complex<T> y) {
  return {rounded_sum(rounded_product(x.real(), y.real()), -rounded_product(x.imag(), y.imag())),
          rounded_sum(rounded_product(x.real(), y.imag()), rounded_product(x.imag(), y.real()))};
}
template <class T>
SORTIE_HOST_DEVICE std::complex<T> rounded_sum(std::complex<T> x, std::complex<T> y) {
  return {rounded_sum(x.real(), y.real()), rounded_sum(x.imag(), y.imag())};
}

template <class T>
struct PlusTimes {
  using Operand = T;
  using Sum = T;
  /// -0.0 + x has the bits of x for every x.
  SORTIE_HOST_DEVICE static Sum zero() {
    if constexpr (is_complex<T>) {
      return {-0.0, -0.0};
    } else {
      return static_cast<T>(-0.0);
    }
  }
  SORTIE_HOST_DEVICE static Sum product(T x, T y) { return rounded_product(x, y); }
  SORTIE_HOST_DEVICE static void add(Sum& sum, Sum product) { sum = rounded_sum(sum, product); }
};

/// Number of products.
template <class Counter>
struct Count {
  using Operand = NoOperand;
  using Sum = Counter;
  SORTIE_HOST_DEVICE static Sum zero() { return 0; }
  SORTIE_HOST_DEVICE static Sum product(NoOperand, NoOperand) { return 1; }
  SORTIE_HOST_DEVICE static void add(Sum& sum, Sum product) { sum += product; }
};

/// Least or greatest product; NaN is neutral.
template <class T, bool Greatest, bool Times>
struct Extremum {
  using Operand = T;
  using Sum = T;
  SORTIE_HOST_DEVICE static Sum zero() {
    if constexpr (std::floating_point<T>) return std::numeric_limits<T>::quiet_NaN();
    return Greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
  SORTIE_HOST_DEVICE static Sum product(T x, T y) {
    return Times ? rounded_product(x, y) : rounded_sum(x, y);
  }
  SORTIE_HOST_DEVICE static void add(Sum& sum, Sum product) {
    if ((Greatest ? sum < product : product < sum) || sum != sum) sum = product;
  }
};
template <class T>
using MinPlus = Extremum<T, false, false>;
template <class T>
using MaxPlus = Extremum<T, true, false>;
template <class T>
using MaxTimes = Extremum<T, true, true>;

/// \pre operands are 0 or 1
struct OrAnd {
  using Operand = std::uint8_t;
  using Sum = std::uint8_t;
  SORTIE_HOST_DEVICE static Sum zero() { return 0; }
  SORTIE_HOST_DEVICE static Sum product(Sum x, Sum y) { return x & y; }
  SORTIE_HOST_DEVICE static void add(Sum& sum, Sum product) { sum |= product; }
};

/// Whether an entry is not zero.
template <class T>
SORTIE_HOST_DEVICE std::uint8_t truth(T value) {
  if constexpr (is_complex<T>) {
    return value.real() != 0 || value.imag() != 0 ? 1 : 0;
  } else {
    return value != 0 ? 1 : 0;
  }
}

/// The value of type T for a count or a truth.
template <class T, class Number>
SORTIE_HOST_DEVICE T from_number(Number number) {
  if constexpr (is_complex<T>) {
    return {static_cast<typename T::value_type>(number), 0};
  } else if constexpr (std::same_as<T, std::uint8_t>) {
    return number != 0 ? 1 : 0;
  } else {
    return static_cast<T>(number);
  }
}

/// The absolute value of an entry as an integer in the same order. NaN is greatest.
template <class T>
SORTIE_HOST_DEVICE std::uint64_t magnitude_key(T value) {
  if constexpr (is_complex<T>) {
    // Operations that IEEE 754 rounds alike everywhere, other than hypot(). Squares of numbers
    // beyond 2^500, or all below 2^-500, are taken of scaled numbers.
    const double re = std::fabs(static_cast<double>(value.real()));
    const double im = std::fabs(static_cast<double>(value.imag()));
    if (re != re || im != im) return ~std::uint64_t{0};
    const double large = re < im ? im : re;
    const double scale = large > 0x1p500 ? 0x1p-600 : large < 0x1p-500 ? 0x1p500 : 1.0;
    const double x = re * scale;
    const double y = im * scale;
    return magnitude_key(std::sqrt(rounded_sum(rounded_product(x, x), rounded_product(y, y))) /
                         scale);
  } else if constexpr (Float16Like<T>) {
    return magnitude_key(float{value});
  } else if constexpr (std::floating_point<T>) {
    if (value != value) return ~std::uint64_t{0};
    return std::bit_cast<std::uint64_t>(std::fabs(static_cast<double>(value)));
  } else if constexpr (std::unsigned_integral<T>) {
    return value;
  } else {
    const auto word = static_cast<std::uint64_t>(value);
    return value < 0 ? 0 - word : word;
  }
}

/// The least magnitude_key() of entries that are not below `limit`. \pre limit >= 0
template <class T>
[[nodiscard]] std::uint64_t least_key(double limit) {
  if constexpr (std::integral<T>) {
    const double least = std::ceil(limit);
    return least < 0x1p64 ? static_cast<std::uint64_t>(least) : ~std::uint64_t{0};
  } else {
    return std::bit_cast<std::uint64_t>(limit == 0 ? 0.0 : limit);  // -0.0 is 0
  }
}

}  // namespace sortie::spgemm
