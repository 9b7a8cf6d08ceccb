#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "sortie/segsort/host/sort_segment.hpp"

namespace sortie::suffix_array::host {

/// Items that one counter of a spreading pass should receive on average: a few, so that what is
/// left is sorted by insertion. With 4 or 16 the sort takes 2 to 7 % longer (E. coli, yeast,
/// proteins; one core of a Zen 5 VM).
inline constexpr std::uint64_t items_per_counter = 8;

/// Widest digit of a spreading pass; 2^10 counters of 4 bytes leave most of the L1 cache to the
/// data.
inline constexpr int widest_digit = 10;

/// Sorts packed words with their positions, on the calling thread; stable, does not allocate.
///
/// Most significant digit first: the words of a text differ early, so that after one pass on the
/// leading bits nearly all parts are short enough for insertion. Digits in which all words agree
/// (runs, repeats) are jumped over.
///
/// \param words, positions                  n items, n < 2^32, sorted in place
/// \param word_scratch, position_scratch    n items each, overwritten
/// Complexity O(n) a digit, at most ceil(64 / 4) digits.
template <class Pos>
void sort_words(std::uint64_t* words, Pos* positions, std::uint64_t n, std::uint64_t* word_scratch,
                Pos* position_scratch) {
  // Shorter parts than this go to the segment sort, which knows networks and insertion.
  constexpr std::uint64_t short_part = 32;
  if (n <= short_part) {
    if (n > 1) segsort::sort_segment(words, positions, n, word_scratch, position_scratch);
    return;
  }
  std::uint64_t differing = 0;
  for (std::uint64_t i = 1; i < n; ++i) differing |= words[i] ^ words[0];
  if (differing == 0) return;

  const int top = static_cast<int>(std::bit_width(differing));
  const int wanted = static_cast<int>(std::bit_width(n / items_per_counter));
  const int bits = std::min({std::clamp(wanted, 4, widest_digit), top});
  const int shift = top - bits;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::array<std::uint32_t, (1U << widest_digit) + 1> starts;
  std::fill_n(starts.begin(), mask + 2, 0U);
  for (std::uint64_t i = 0; i < n; ++i) ++starts[((words[i] >> shift) & mask) + 1];
  for (std::uint64_t digit = 0; digit < mask; ++digit) starts[digit + 1] += starts[digit];
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint32_t to = starts[(words[i] >> shift) & mask]++;
    word_scratch[to] = words[i];
    position_scratch[to] = positions[i];
  }
  std::memcpy(words, word_scratch, n * sizeof(*words));
  std::memcpy(positions, position_scratch, n * sizeof(*positions));
  if (shift == 0) return;
  // Each start has moved to the end of its part.
  std::uint64_t begin = 0;
  for (std::uint64_t digit = 0; digit <= mask; ++digit) {
    const std::uint64_t end = starts[digit];
    sort_words(words + begin, positions + begin, end - begin, word_scratch, position_scratch);
    begin = end;
  }
}

}  // namespace sortie::suffix_array::host
