// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie {

/// A random number generator with the same sequence on every machine and compiler: SplitMix64.
///
/// The state is a counter with a fixed stride, and each number is a bijective mix of
/// the counter. The period is 2^64, and the generator passes BigCrush. Construction is cheap enough
/// for one generator per matrix row: Random(seed, row) is an independent stream, so rows can be
/// generated in parallel and in any order with the same result. Not suitable for cryptography.
///
/// Satisfies std::uniform_random_bit_generator. The distributions of <random> differ between
/// standard libraries; use uniform() and below() instead.
/// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (OOPSLA 2014).
class Random {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  /// Stream number `stream` of the family given by `seed`. The start and the stride between streams
  /// are mixed, so neighbouring streams do not overlap in practice.
  constexpr Random(std::uint64_t seed, std::uint64_t stream)
      : state_(mix(mix(seed) + stride * (2 * stream + 1))) {}

  /// Skips `count` numbers in constant time: gives random access to a stream, also on a device.
  constexpr void discard(std::uint64_t count) { state_ += stride * count; }

  /// 64 uniform bits.
  constexpr std::uint64_t next() { return mix(state_ += stride); }

  /// Uniform in [0, 1): a multiple of 2^-53.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Uniform integer in [0, bound), without bias. \pre bound > 0
  /// Source: Lemire: Fast Random Integer Generation in an Interval (ACM TOMACS 2019).
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      // 2^64 mod bound of the low halves would bias the result; draw again for those.
      const std::uint64_t surplus = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < surplus) product = Wide{next()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  constexpr std::uint64_t operator()() { return next(); }
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

 private:
  static constexpr std::uint64_t stride = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace sortie
