// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <type_traits>

#include "apps/sort/record_generator.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {
namespace {

/// The range of a distribution's parameter.
struct ParameterRange {
  double usual;
  double least;
  double most;
};

/// In the order of Distribution.
constexpr std::array<ParameterRange, 7> parameter_ranges = {
    {{0, 0, 0}, {0.125, 0, 1}, {1, 0, 16}, {0, 0, 0}, {0, 0, 0}, {16, 0, 1e9}, {16, 0, 64}}};

/// Writes a number as the key of type `Key` with the same rank in the order of that type.
template <class Key>
void put_key(std::uint64_t number, char* into) {
  Key key;
  if constexpr (kind_of(key_type_of<Key>()) == KeyKind::floating_point) {
    key = static_cast<Key>(
        std::ldexp(static_cast<double>(number), -static_cast<int>(8 * sizeof(Key))));
  } else if constexpr (std::is_signed_v<Key>) {
    key = static_cast<Key>(number ^ std::uint64_t{1} << (8 * sizeof(Key) - 1));
  } else {
    key = static_cast<Key>(number);
  }
  std::memcpy(into, &key, sizeof key);
}

/// Writes the index of a record as a value of a type.
NumberWriter value_writer(KeyType type) {
  return with_key_type(type, []<class Value>(Value) -> NumberWriter {
    return [](std::uint64_t number, char* into) {
      const auto value = static_cast<Value>(number);
      std::memcpy(into, &value, sizeof value);
    };
  });
}

class RecordGenerator : public RecordSource {
 public:
  RecordGenerator(const GeneratedRecords& wanted, const RecordFormat& format)
      : wanted_(wanted), format_(format), width_(8 * key_bytes(format.key)), random_(wanted.seed) {
    const ParameterRange& range =
        parameter_ranges.at(static_cast<std::size_t>(wanted.distribution));
    parameter_ = wanted.parameter.value_or(range.usual);
    if (!(parameter_ >= range.least && parameter_ <= range.most)) {
      throw Error(ErrorKind::usage,
                  fmt::format("generator: found parameter {}, expected one from {} to {}",
                              parameter_, range.least, range.most));
    }
  }

  std::uint64_t read(std::span<char> into) override {
    const std::uint64_t count =
        std::min(into.size() / format_.record_bytes(), wanted_.records - next_);
    const int value_at = key_bytes(format_.key);
    const NumberWriter put_the_key = key_writer(format_.key);
    const NumberWriter put_the_value = format_.value ? value_writer(*format_.value) : nullptr;
    char* at = into.data();
    for (std::uint64_t i = 0; i < count; ++i, ++next_, at += format_.record_bytes()) {
      put_the_key(number(next_), at);
      if (put_the_value != nullptr) put_the_value(next_, at + value_at);
    }
    return count;
  }

  [[nodiscard]] std::optional<std::uint64_t> records() const override { return wanted_.records; }

 private:
  /// The number of record `i`, below 2^width.
  std::uint64_t number(std::uint64_t i) {
    switch (wanted_.distribution) {
      case Distribution::normal:
        return at_fraction(0.5 + parameter_ * normal());
      case Distribution::zipf:
        return zipf();
      case Distribution::sorted:
        return in_place(i);
      case Distribution::reverse:
        return in_place(wanted_.records - 1 - i);
      case Distribution::nearly_sorted: {
        const double place = static_cast<double>(i) + std::round(parameter_ * normal());
        return in_place(static_cast<std::uint64_t>(
            std::clamp(place, 0.0, static_cast<double>(wanted_.records - 1))));
      }
      case Distribution::entropy: {
        const int bits = std::min(width_, static_cast<int>(parameter_));
        return bits == 0 ? 0 : random_.next() >> (64 - bits);
      }
      default:
        return random_.next() >> (64 - width_);
    }
  }

  /// A random number of the part [place / records, (place + 1) / records) of the range; these
  /// ascend with the place.
  std::uint64_t in_place(std::uint64_t place) {
    __extension__ using Wide = unsigned __int128;
    const Wide position = (Wide{place} << 64) + random_.next();
    return static_cast<std::uint64_t>(position / wanted_.records) >> (64 - width_);
  }

  /// The number at a fraction of the range, clamped to the range.
  [[nodiscard]] std::uint64_t at_fraction(double fraction) const {
    if (fraction <= 0) return 0;
    if (fraction >= 1) return ~std::uint64_t{0} >> (64 - width_);
    return static_cast<std::uint64_t>(std::ldexp(fraction, width_));
  }

  /// Mean 0, deviation 1 (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random_.uniform());
  }

  /// By inversion of the continuous distribution on [1, 2^width).
  std::uint64_t zipf() {
    const double u = random_.uniform();
    const double logarithm_of_most = width_ * std::numbers::ln2;
    const double rest = 1 - parameter_;
    // (1 + u (most^rest - 1))^(1 / rest), whose limit for rest = 0 is most^u
    const double logarithm = std::abs(rest) < 1e-9
                                 ? u * logarithm_of_most
                                 : std::log1p(u * std::expm1(rest * logarithm_of_most)) / rest;
    return at_fraction(std::exp(logarithm - logarithm_of_most));
  }

  GeneratedRecords wanted_;
  RecordFormat format_;
  int width_;
  double parameter_;
  Random random_;
  std::uint64_t next_ = 0;
};

}  // namespace

NumberWriter key_writer(KeyType type) {
  return with_key_type(type, []<class Key>(Key) -> NumberWriter { return put_key<Key>; });
}

std::unique_ptr<RecordSource> generate_records(const GeneratedRecords& wanted,
                                               const RecordFormat& format) {
  return std::make_unique<RecordGenerator>(wanted, format);
}

}  // namespace sortie::sorting
