// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "apps/bench/sort/sort_bench.hpp"
#include "core/random.hpp"

namespace sortie::bench {

/// Draws the number of an item, below 2^width, by the distribution of a SortCase. Each item uses two
/// numbers of the random stream.
class NumberDraw {
 public:
  NumberDraw(const SortCase& sort_case, int width, std::uint64_t seed)
      : kind_(sort_case.kind), parameter_(sort_case.parameter), width_(width), seed_(seed) {}

  /// \param i  which numbers of the stream the item uses
  /// \param place, items  where it is in an array that is in order, or nearly, and its length
  __device__ std::uint64_t operator()(std::uint64_t i, std::uint64_t place,
                                      std::uint64_t items) const {
    Random random(seed_);
    random.discard(2 * i);
    switch (kind_) {
      case SortCase::Kind::normal:
        return at_fraction(0.5 + parameter_ * normal(random));
      case SortCase::Kind::zipf:
        return zipf(random);
      case SortCase::Kind::sorted:
        return in_place(static_cast<double>(place), items);
      case SortCase::Kind::reverse:
        return in_place(static_cast<double>(items - 1 - place), items);
      case SortCase::Kind::nearly:
        return in_place(static_cast<double>(place) + round(parameter_ * normal(random)), items);
      case SortCase::Kind::entropy: {
        const int bits = min(width_, static_cast<int>(parameter_));
        return bits == 0 ? 0 : random.next() >> (64 - bits);
      }
      case SortCase::Kind::high_bits: {
        const int bits = min(width_, static_cast<int>(parameter_));
        return bits == 0 ? 0 : random.next() >> (64 - bits) << (width_ - bits);
      }
      case SortCase::Kind::few: {
        const auto keys = max(std::uint64_t{1}, static_cast<std::uint64_t>(parameter_));
        return Random(seed_ + 1 + random.next() % keys).next() >> (64 - width_);
      }
      case SortCase::Kind::equal:
        return 0x1234567890abcdefULL >> (64 - width_);
      case SortCase::Kind::shared_digit: {
        const std::uint64_t number = random.next();
        return ((number & 1) << 8 | 0xaa) << max(0, width_ - 16) |
               (width_ > 16 ? number >> (80 - width_) : 0);
      }
      default:
        return random.next() >> (64 - width_);
    }
  }

 private:
  __device__ static double normal(Random& random) {
    const double radius = sqrt(-2 * log(1 - random.uniform()));
    return radius * cospi(2 * random.uniform());
  }
  __device__ std::uint64_t at_fraction(double fraction) const {
    if (fraction <= 0) return 0;
    if (fraction >= 1) return ~std::uint64_t{0} >> (64 - width_);
    return static_cast<std::uint64_t>(ldexp(fraction, width_));
  }
  __device__ std::uint64_t in_place(double place, std::uint64_t items) const {
    return at_fraction((place + 0.5) / static_cast<double>(items));
  }
  /// By inversion of the continuous law on [1, 2^width).
  __device__ std::uint64_t zipf(Random& random) const {
    const double u = random.uniform();
    const double logarithm_of_most = width_ * 0.69314718055994530942;
    const double rest = 1 - parameter_;
    const double logarithm = fabs(rest) < 1e-9 ? u * logarithm_of_most
                                               : log1p(u * expm1(rest * logarithm_of_most)) / rest;
    return at_fraction(exp(logarithm - logarithm_of_most));
  }

  SortCase::Kind kind_;
  double parameter_;
  int width_;
  std::uint64_t seed_;
};

}  // namespace sortie::bench
