// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

namespace sortie {

/// Value type of sorts of keys alone.
struct NoValue {};

/// True if items have values.
template <class Value>
inline constexpr bool has_values = !std::same_as<Value, NoValue>;

/// A value of any type and alignment: only its bytes matter. Held as a word rather than as bytes,
/// because compilers must assume that stores through byte types alias everything.
template <std::unsigned_integral Word>
struct [[gnu::packed]] Opaque {
  Word word;
};

/// std::complex<double>, whose header is too large for every kernel to include.
template <class Value>
concept ComplexOfDoubles = requires(const Value& value) {
  { value.real() } -> std::same_as<double>;
  { value.imag() } -> std::same_as<double>;
};

}  // namespace sortie
