// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "primitives/host/radix_pass.hpp"
#include "primitives/simd/vector_sort.hpp"

namespace sortie::suffix_array::host {

/// An unsigned number with twice the bits of a position: a key above a position.
template <class Pos>
using Wide = std::conditional_t<sizeof(Pos) == sizeof(std::uint32_t), std::uint64_t, DoubleWord>;

/// Longest part that sort_parts() sorts. With 16, genomes took as long, or a twelfth longer.
inline constexpr std::uint64_t longest_vector_part = 32;

/// Sorts numbers that are sorted except within parts, unknown ranges of at most
/// `longest_vector_part` numbers. Longer parts are allowed if they are sorted, or if all their
/// numbers agree above some bit: then they may come out in any order of the bits below it.
///
/// Uses vectors, without a branch that depends on a number: in buckets of a genome every second
/// branch of an insertion sort is mispredicted, and these take longer than everything else. A
/// window of twice longest_vector_part moves over the numbers in steps of half of it. Its lower
/// half is sorted; the upper half is sorted and merged with it, by networks; then the lower is final.
///
/// \param out  `in`, or a separate array
/// \pre has_fast_word_sort()
/// O(n): some 55 vector instructions for 8 numbers.
void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n);

/// Sorts numbers on the calling thread, most significant differing digit first. Does not allocate.
///
/// \param key_shift   numbers that agree from this bit on may come out in any order; but if nearly
///                    all numbers agree in these bits, they keep their order
/// \param scratch     overwritten. Parts longer than it are partitioned in place, at about half the
///                    speed, until they fit.
/// \param by_vectors  has_fast_word_sort(), or false: then short parts of 64-bit numbers are
///                    sorted without vectors, as longer numbers are
/// Complexity: O(n) a digit; digits in which all numbers agree are skipped.
template <class Element>
void sort_elements(Element* elements, std::uint64_t n, std::span<Element> scratch,
                   int key_shift = 0, bool by_vectors = has_fast_word_sort());

namespace detail {

/// Stable for elements that agree from bit `key_shift` on.
template <class Element>
void insertion_sort(Element* elements, std::uint64_t n, int key_shift = 0) {
  for (std::uint64_t i = 1; i < n; ++i) {
    const Element element = elements[i];
    // Elements up to this bound stay before `element`.
    const Element bound = element | ((Element{1} << key_shift) - 1);
    std::uint64_t to = i;
    for (; to > 0 && elements[to - 1] > bound; --to) elements[to] = elements[to - 1];
    elements[to] = element;
  }
}

/// Longest part that is sorted by insertion.
inline constexpr std::uint64_t longest_inserted = 24;
/// Elements per counter of a distribution pass: so few that one insertion sort over the whole
/// array, without a loop per part, does the rest. With 1 or 4 the first sort of E. coli takes about
/// as long.
inline constexpr std::uint64_t elements_a_counter = 2;
/// 2^11 counters leave most of the L1 cache to the elements.
inline constexpr int widest_digit = 11;
/// Widest digit of an in-place pass over an array that is not in cache.
inline constexpr int widest_digit_in_place = 8;
/// Longest part that is sorted by insertion when vectors sort the others: for vectors, four numbers
/// take no longer than three.
inline constexpr std::uint64_t longest_inserted_beside_vectors = 3;
/// Longest part that vectors partition by pivots in any case; a distribution pass does as much as
/// 11 partitions if there are many keys. With 2^13, genomes took as long in one run, and Fibonacci
/// strings a twentieth longer.
inline constexpr std::uint64_t longest_divided = std::uint64_t{1} << 17;

/// Fewest elements that are searched for a dominant key.
inline constexpr std::uint64_t least_divided_by_dominant_key = std::uint64_t{1} << 12;

/// True when two of 16 evenly spaced elements agree from bit `key_shift` on: then there are few
/// keys, or frequent ones, and partitioning by pivots separates these at once.
template <class Element>
bool are_keys_frequent(const Element* elements, std::uint64_t n, int key_shift) {
  constexpr std::uint64_t count = 16;
  std::array<Element, count> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = elements[n / count * i] >> key_shift;
  insertion_sort(keys.data(), count);
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

/// Separates the elements of one dominant key, which nearly all elements of periodic texts have.
/// They keep their order, which partitioning by pivots would destroy.
///
/// \param scratch      holds the other elements
/// \param sort_others  called with the smaller elements and with the greater ones, and their number
/// \return whether there is such a key
template <class Element, class SortOthers>
[[nodiscard]] bool divide_by_dominant_key(Element* elements, std::uint64_t n,
                                          std::span<Element> scratch, int key_shift,
                                          const SortOthers& sort_others) {
  constexpr std::uint64_t looked_at = 16;
  if (n < least_divided_by_dominant_key) return false;
  const Element sample = elements[0];
  for (std::uint64_t i = 1; i < looked_at; ++i) {
    if ((elements[n / looked_at * i] ^ sample) >> key_shift != 0) return false;
  }
  // Smaller elements go to the front of the scratch, greater ones to its back.
  const std::uint64_t most_others = std::min<std::uint64_t>(scratch.size(), n / 8);
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < n;) {
    constexpr std::uint64_t step = 16;
    const std::uint64_t end = std::min(i + step, n);
    Element differing = 0;
    for (std::uint64_t j = i; j < end; ++j) differing |= elements[j] ^ sample;
    if (differing >> key_shift == 0) [[likely]] {
      if (kept != i) std::copy(elements + i, elements + end, elements + kept);
      kept += end - i;
      i = end;
      continue;
    }
    if (below + above + step > most_others) {
      // Not dominant: copies the others back to the gap that they left.
      std::copy_n(scratch.begin(), below, elements + kept);
      std::copy_n(scratch.end() - static_cast<std::ptrdiff_t>(above), above,
                  elements + kept + below);
      return false;
    }
    for (; i < end; ++i) {
      const Element element = elements[i];
      if ((element ^ sample) >> key_shift == 0) {
        elements[kept++] = element;
      } else if (element < sample) {
        scratch[below++] = element;
      } else {
        scratch[scratch.size() - ++above] = element;
      }
    }
  }
  if (below > 0) std::copy_backward(elements, elements + kept, elements + below + kept);
  std::copy_n(scratch.begin(), below, elements);
  std::copy_n(scratch.end() - static_cast<std::ptrdiff_t>(above), above, elements + below + kept);
  sort_others(elements, below);
  sort_others(elements + below + kept, above);
  return true;
}

/// Partitions elements by a digit, in place, by cycles (American flag sort; McIlroy, Bostic,
/// McIlroy 1993). Calls visit(begin, end) for each part that is not empty, in order.
/// \param digit  of at most widest_digit_in_place bits
template <class Element, class Visit>
void divide_in_place(Element* elements, std::uint64_t n, Digit digit, const Visit& visit) {
  std::array<std::uint64_t, 1U << widest_digit_in_place> starts{};
  std::array<std::uint64_t, 1U << widest_digit_in_place> ends{};
  count_keys(elements, n, digit, ends.data());
  std::exclusive_scan(ends.begin(), ends.end(), starts.begin(), std::uint64_t{0});
  std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
  for (std::size_t part = 0; part < digit.values(); ++part) {
    while (starts[part] < ends[part]) {
      Element element = elements[starts[part]];
      for (std::size_t to = digit(element); to != part; to = digit(element)) {
        std::swap(element, elements[starts[to]++]);
      }
      elements[starts[part]++] = element;
    }
  }
  std::uint64_t begin = 0;
  for (std::size_t part = 0; part < digit.values(); ++part) {
    if (begin < ends[part]) visit(begin, ends[part]);
    begin = ends[part];
  }
}

/// Calls sort_long(begin, end) for each part longer than `longest`, and before it sort_short(begin,
/// end) for the range of shorter parts up to it; last for those up to the end.
/// \param ends  of all parts
template <class SortShort, class SortLong>
void for_each_part(std::span<const std::uint32_t> ends, std::uint64_t longest,
                   const SortShort& sort_short, const SortLong& sort_long) {
  std::uint64_t sorted = 0;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    if (end - begin > longest) {
      sort_short(sorted, begin);
      sort_long(begin, end);
      sorted = end;
    }
    begin = end;
  }
  sort_short(sorted, begin);
}

/// Sorts elements within parts that ascend.
/// \param ends  of all parts
template <class Element>
void sort_within_parts(Element* elements, std::uint64_t n, std::span<const std::uint32_t> ends,
                       std::span<Element> scratch, int key_shift, bool by_vectors) {
  for_each_part(
      ends, by_vectors ? longest_vector_part : longest_inserted,
      [=](std::uint64_t begin, std::uint64_t end) {
        if constexpr (std::is_same_v<Element, std::uint64_t>) {
          if (by_vectors) sort_parts(elements + begin, elements + begin, end - begin);
        }
      },
      [=](std::uint64_t begin, std::uint64_t end) {
        sort_elements(elements + begin, end - begin, scratch, key_shift, by_vectors);
      });
  if (!by_vectors) insertion_sort(elements, n, key_shift);
}

}  // namespace detail

template <class Element>
void sort_elements(Element* elements, std::uint64_t n, std::span<Element> scratch, int key_shift,
                   bool by_vectors) {
  constexpr bool vectors_hold_them = std::is_same_v<Element, std::uint64_t>;
  by_vectors = by_vectors && vectors_hold_them;
  const auto sort_part = [=](Element* part, std::uint64_t size) {
    sort_elements(part, size, scratch, key_shift, by_vectors);
  };
  if (n <= (by_vectors ? detail::longest_inserted_beside_vectors : detail::longest_inserted)) {
    return detail::insertion_sort(elements, n, key_shift);
  }
  if (detail::divide_by_dominant_key(elements, n, scratch, key_shift, sort_part)) return;
  if constexpr (vectors_hold_them) {
    if (by_vectors &&
        (n <= detail::longest_divided || detail::are_keys_frequent(elements, n, key_shift)))
      return sort_words(elements, n, key_shift);
  }
  const Element differing = differing_bits(elements, n);
  if (differing >> key_shift == 0) return;
  if (n > scratch.size()) {
    const Digit digit = Digit::highest(differing, detail::widest_digit_in_place, key_shift);
    return detail::divide_in_place(elements, n, digit, [=](std::uint64_t begin, std::uint64_t end) {
      if (digit.shift != key_shift) sort_part(elements + begin, end - begin);
    });
  }
  const int wanted = static_cast<int>(std::bit_width(n / detail::elements_a_counter));
  const Digit digit = Digit::highest(differing, std::min(wanted, detail::widest_digit), key_shift);
  std::array<std::uint32_t, 1U << detail::widest_digit> ends;
  radix_pass<Element, NoValue>({elements}, n, digit, ends.data(), digit.values(), {scratch.data()});
  std::memcpy(elements, scratch.data(), n * sizeof(Element));
  if (digit.shift == key_shift) return;
  detail::sort_within_parts(elements, n, std::span(ends).first(digit.values()), scratch, key_shift,
                            by_vectors);
}

/// The same for numbers that are often sorted already, or in reverse order, as in periodic ranges
/// of a text.
template <class Element>
void sort_perhaps_ordered(Element* elements, std::uint64_t n, std::span<Element> scratch,
                          int key_shift) {
  // Unsorted numbers usually fail these tests within the first few.
  if (std::is_sorted(elements, elements + n)) return;
  if (std::is_sorted(elements, elements + n, std::greater<Element>()))
    return std::reverse(elements, elements + n);
  sort_elements(elements, n, scratch, key_shift);
}

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
/// \param scratch  overwritten; buckets longer than it are sorted by bits, without key digits
inline void sort_by_keys(const PrefixPlan& plan, const KeyDigits& key_digits,
                         std::uint64_t* elements, std::uint64_t size,
                         std::span<std::uint64_t> scratch, bool by_vectors = has_fast_word_sort()) {
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
  detail::for_each_part(
      std::span(ends).first(digits), longest_vector_part,
      [=](std::uint64_t begin, std::uint64_t end) {
        sort_parts(scratch.data() + begin, elements + begin, end - begin);
      },
      [=](std::uint64_t begin, std::uint64_t end) {
        sort_words(scratch.data() + begin, end - begin, key_shift);
        std::copy_n(scratch.data() + begin, end - begin, elements + begin);
      });
}

}  // namespace sortie::suffix_array::host
