// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/sorts/key_digits.hpp"
#include "apps/suffix_array/host/sorts/part_sort.hpp"
#include "apps/suffix_array/host/text/prefix_plan.hpp"
#include "primitives/simd/vector_sort.hpp"

namespace sortie::suffix_array::host {

/// Sorts the elements of a bucket by their keys, on the calling thread; elements with equal keys
/// come out in any order.
///
/// One pass distributes them by evenly filled digits (key_digits.hpp), so that most parts are
/// short. With vectors, longer parts are partitioned and all parts are sorted by vectors; otherwise
/// insertion sorts them.
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
  if (const auto [begin, end] = detail::divide_by_dominant_key(elements, size, scratch, key_shift);
      begin < end) {
    sort_elements(elements, begin, scratch, key_shift, by_vectors);
    sort_elements(elements + end, size - end, scratch, key_shift, by_vectors);
    return;
  }
  // Sixteen elements per counter for vectors, two for insertion.
  const int elements_a_counter_bits = by_vectors ? 4 : 1;
  const int bits = std::clamp(static_cast<int>(std::bit_width(size)) - elements_a_counter_bits, 1,
                              key_digits.bits());
  const std::size_t digits = std::size_t{1} << bits;
  std::array<std::uint32_t, KeyDigits::most_digits> ends;
  const auto digit = [&](std::uint64_t element) { return key_digits.of(element, bits); };
  radix_pass<std::uint64_t, NoValue>({elements}, size, digit, ends.data(), digits,
                                     {scratch.data()});
  if (by_vectors) {
    std::uint64_t sorted = 0;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const std::uint64_t end = ends[i];
      if (end - begin > longest_vector_part) {
        sort_parts(scratch.data() + sorted, elements + sorted, begin - sorted);
        const std::span<std::uint64_t> part = scratch.subspan(begin, end - begin);
        const std::span<std::uint64_t> place(elements + begin, part.size());
        sort_words(part.data(), part.size(), key_shift);
        std::copy(part.begin(), part.end(), place.begin());
        sorted = end;
      }
      begin = end;
    }
    sort_parts(scratch.data() + sorted, elements + sorted, size - sorted);
    return;
  }
  std::memcpy(elements, scratch.data(), size * sizeof(*elements));
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint64_t end = ends[i];
    if (end - begin > detail::longest_inserted) {
      sort_elements(elements + begin, end - begin, scratch, key_shift, false);
    }
    begin = end;
  }
  detail::insertion_sort(elements, size, key_shift);
}

}  // namespace sortie::suffix_array::host
