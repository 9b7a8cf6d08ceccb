// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/prefix_plan.hpp"
#include "primitives/simd/vector_sort.hpp"

namespace sortie::suffix_array::host {

/// Leading digits of the keys of the first sort, chosen so that they distribute the keys evenly.
///
/// Keys are numbers in base sigma + 1, in which the end of a record and rare letters take as many
/// values as other letters: keys of DNA with N and ends use a quarter of the 1024 values of 10
/// leading bits. So the leading symbols index a table of the fraction of keys that are smaller,
/// under the model of independent symbols with the frequencies of the text: monotonic, and evenly
/// filled.
class KeyDigits {
 public:
  /// 32 KiB of counters. With 2^11 digits, chrX (17 000 elements a bucket) takes 4 to 9 % longer.
  static constexpr int most_bits = 13;
  static constexpr std::uint32_t most_digits = 1U << most_bits;

  explicit KeyDigits(const PrefixPlan& plan) {
    // As many symbols as a table in the L1 cache allows.
    constexpr std::uint64_t most_entries = std::uint64_t{1} << 14;
    std::uint64_t entries = plan.base;
    int symbols = 1;
    while (symbols < plan.key_symbols && entries * plan.base <= most_entries) {
      entries *= plan.base;
      ++symbols;
    }
    // The upper half of the product with `factor_` is the element divided by the span of one entry;
    // rounding shifts the boundaries of entries, but for all elements alike.
    std::uint64_t entry_keys = 1;
    for (int i = symbols; i < plan.key_symbols; ++i) entry_keys *= plan.base;
    // An entry of one element would make this 2^64.
    const DoubleWord span = static_cast<DoubleWord>(entry_keys) << plan.position_bits;
    factor_ = static_cast<std::uint64_t>((static_cast<DoubleWord>(1) << 64) / span);
    table_.reserve(entries);
    fill(plan, symbols, 0.0, 1.0);
  }

  /// The first `bits` bits of the digit of an element.
  [[nodiscard]] std::uint32_t of(std::uint64_t element, int bits) const {
    const auto entry =
        static_cast<std::uint64_t>((static_cast<DoubleWord>(element) * factor_) >> 64);
    return static_cast<std::uint32_t>(table_[entry]) >> (most_bits - bits);
  }

 private:
  /// Fills the entries of all keys that begin with the same symbols; a fraction `smaller` of all
  /// keys is below them, and a fraction `share` among them.
  void fill(const PrefixPlan& plan, int symbols, double smaller, double share) {
    if (symbols == 0) {
      const auto digit =
          static_cast<std::uint16_t>(std::min<double>(smaller * most_digits, most_digits - 1));
      // Rounding may make equal sums differ in their last bits; digits must still ascend.
      table_.push_back(table_.empty() ? digit : std::max(table_.back(), digit));
      return;
    }
    for (std::uint64_t code = 0; code < plan.base; ++code) {
      const double of_code = share * plan.share[code];
      fill(plan, symbols - 1, smaller, of_code);
      smaller += of_code;
    }
  }

  std::uint64_t factor_;
  std::vector<std::uint16_t> table_;
};

/// Sorts the elements of a bucket by their keys, on the calling thread; elements with equal keys
/// come out in any order.
///
/// One pass distributes them by evenly filled digits, so that most parts are short. With vectors,
/// longer parts are partitioned and all parts are sorted by vectors; otherwise insertion sorts
/// them.
///
/// \param scratch     overwritten; buckets longer than it are sorted by bits, without key digits
/// \param by_vectors  has_vector_sort(), or false
inline void sort_by_keys(const PrefixPlan& plan, const KeyDigits& key_digits,
                         std::uint64_t* elements, std::uint64_t size,
                         std::span<std::uint64_t> scratch, bool by_vectors = has_vector_sort()) {
  // Without vectors, parts of longer buckets are too long for insertion.
  constexpr std::uint64_t most_without_vectors = std::uint64_t{1} << 15;
  const int key_shift = plan.position_bits;
  if (size <= 2 * longest_vector_part || size > scratch.size() ||
      (!by_vectors && size > most_without_vectors)) {
    sort_elements(elements, size, scratch, key_shift, by_vectors);
    return;
  }
  const auto sort_others = [=](std::uint64_t* others, std::uint64_t count) {
    sort_elements(others, count, scratch, key_shift, by_vectors);
  };
  if (detail::divide_by_dominant_key(elements, size, scratch, key_shift, sort_others)) return;
  // Sixteen elements per counter for vectors, two for insertion.
  const int elements_a_counter_bits = by_vectors ? 4 : 1;
  const int bits = std::clamp(static_cast<int>(std::bit_width(size)) - elements_a_counter_bits, 1,
                              KeyDigits::most_bits);
  const std::size_t digits = std::size_t{1} << bits;
  std::array<std::uint32_t, KeyDigits::most_digits> ends;
  const auto digit = [&](std::uint64_t element) { return key_digits.of(element, bits); };
  radix_pass<std::uint64_t, NoValue>({elements}, size, digit, ends.data(), digits,
                                     {scratch.data()});
  if (!by_vectors) {
    std::memcpy(elements, scratch.data(), size * sizeof(*elements));
    return detail::sort_within_parts(elements, size, std::span(ends).first(digits), scratch,
                                     key_shift, false);
  }
  std::uint64_t sorted = 0;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : std::span(ends).first(digits)) {
    if (end - begin > longest_vector_part) {
      sort_parts(scratch.data() + sorted, elements + sorted, begin - sorted);
      sort_words(scratch.data() + begin, end - begin, key_shift);
      std::copy_n(scratch.data() + begin, end - begin, elements + begin);
      sorted = end;
    }
    begin = end;
  }
  sort_parts(scratch.data() + sorted, elements + sorted, size - sorted);
}

}  // namespace sortie::suffix_array::host
