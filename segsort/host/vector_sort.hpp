#pragma once

#include "sortie/segsort/host/register_sort.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sortie::segsort::detail {

/// Quicksort of words with the instructions of AVX-512, in place, on one thread.
///
/// A partition reads four registers at a time from that end of what is not divided yet where there
/// is less room, and of each register writes the words below the pivot to the one end, the others
/// to the other. The pivot is the median of a register of words from everywhere. What fits is
/// sorted in registers (RegisterSort). Where pivots are bad too often, std::sort does the rest, so
/// that it takes O(n log n) in any case.
///
/// Not stable: for words of which all bits count. Does not allocate and does not throw.
/// One core of an Intel Xeon (Sapphire Rapids, virtual), random words, nanoseconds a word with 32
/// and 64 bits: 1.3 and 5.4 at 2^8, 4.1 and 8.0 at 2^12, 4.7 and 9.7 at 2^16, 5.8 and 13 at 2^20;
/// by radix sort 9.6 and 14, 10 and 11, 13 and 13, 17 and 18. For a level of the partition, with
/// words in the cache, 0.2 and 0.4.
template <std::unsigned_integral Word>
class VectorSort {
  using Vector = WideVector<Word>;
  using Mask = typename Vector::Mask;
  static constexpr std::size_t lanes = Vector::lanes;

 public:
  SORTIE_TARGET_AVX512 static void sort(Word* words, std::size_t n) {
    sort(words, n, 2 * static_cast<int>(std::bit_width(n)));
  }

  /// \param depth  partitions of which one may be within the other before std::sort takes over
  SORTIE_TARGET_AVX512 static void sort(Word* words, std::size_t n, int depth) {
    static_assert(RegisterSort<Word>::most_words >= 2 * step);
    while (n > RegisterSort<Word>::most_words) {
      if (depth-- == 0) return std::sort(words, words + n);
      const Word pivot = choose_pivot(words, n);
      std::size_t below = partition(words, n, pivot);
      if (below > 0) {
        sort(words, below, depth);
      } else if (pivot < std::numeric_limits<Word>::max()) {
        below = partition(words, n, pivot + 1);  // all of them the pivot
      } else {
        return;
      }
      words += below;
      n -= below;
    }
    RegisterSort<Word>::sort(words, n);
  }

  /// Divides n > 2^10 words in two parts of about the same size, of which the first holds the
  /// lesser words, and returns the size of that: 0 where all words are equal. Where most words are
  /// equal and the least, these are the first part.
  [[nodiscard]] SORTIE_TARGET_AVX512 static std::size_t divide(Word* words, std::size_t n) {
    std::array<Word, 255> sample;
    const std::size_t stride = n / sample.size();
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = words[i * stride];
    sort(sample.data(), sample.size());
    const Word pivot = sample[sample.size() / 2];
    const std::size_t below = partition(words, n, pivot);
    if (below > 0 || pivot == std::numeric_limits<Word>::max()) return below;
    const std::size_t equal = partition(words, n, pivot + 1);
    return equal < n ? equal : 0;
  }

 private:
  /// Registers that are read at a time.
  static constexpr std::size_t registers = 4;
  static constexpr std::size_t step = registers * lanes;
  using Registers = std::array<Vector, registers>;

  [[nodiscard]] SORTIE_TARGET_AVX512 static Word choose_pivot(const Word* words, std::size_t n) {
    // Distances fit 31 bits for words of 32: beyond 2^31 words the sample is of the first.
    constexpr std::size_t farthest = std::size_t{1} << 27;
    const std::size_t stride = std::min((n - 1) / (lanes - 1), farthest);
    std::array<Word, lanes> sample;
    RegisterSort<Word>::sorted(Vector::load_strided(words, stride)).store(sample.data());
    return sample[lanes / 2];
  }

  /// Writes the words below the pivot from `left` on, the others so that they end at `right`.
  /// \tparam Room  a whole register may be written from `left` on
  template <bool Room>
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void write(Vector from, Mask there,
                                                                       Vector pivot, Word* words,
                                                                       std::size_t& left,
                                                                       std::size_t& right) {
    const auto below = static_cast<Mask>(from.below(pivot) & there);
    const auto others = static_cast<Mask>(~below & there);
    const auto num_below = static_cast<std::size_t>(std::popcount(below));
    const auto num_others = static_cast<std::size_t>(std::popcount(others));
    if constexpr (Room) {
      from.compressed(below).store(words + left);
    } else {
      from.compressed(below).store(words + left, low_lanes<Word>(num_below));
    }
    left += num_below;
    right -= num_others;
    from.compressed(others).store(words + right, low_lanes<Word>(num_others));
  }

  /// Brings the words below the pivot to the front, and returns how many there are.
  /// \pre n >= 2 * step
  [[nodiscard]] SORTIE_TARGET_AVX512 static std::size_t partition(Word* words, std::size_t n,
                                                                  Word pivot_word) {
    constexpr auto all = static_cast<Mask>(~0U);
    const Vector pivot = Vector::all(pivot_word);
    // Room: what is read into these registers first is written last.
    Registers first;
    Registers last;
    for (std::size_t i = 0; i < registers; ++i) first[i] = Vector::load(words + i * lanes);
    for (std::size_t i = 0; i < registers; ++i)
      last[i] = Vector::load(words + n - step + i * lanes);
    std::size_t left = 0;
    std::size_t right = n;
    std::size_t unread = step;
    std::size_t unread_end = n - step;
    while (unread_end - unread >= step) {
      // The room on both sides is 2 * step; with the registers read from where it is less, both
      // sides have at least `step`, of which each register but the last leaves a register's.
      const bool from_right = right - unread_end < unread - left;
      unread_end -= from_right ? step : 0;
      const std::size_t place = from_right ? unread_end : unread;
      unread += from_right ? 0 : step;
      Registers next;
      for (std::size_t i = 0; i < registers; ++i) next[i] = Vector::load(words + place + i * lanes);
      for (std::size_t i = 0; i < registers; ++i)
        write<true>(next[i], all, pivot, words, left, right);
    }
    const std::size_t rest = unread_end - unread;
    Registers middle;
    std::array<Mask, registers> there;
    for (std::size_t i = 0; i < registers; ++i) {
      there[i] = low_lanes<Word>(rest > i * lanes ? rest - i * lanes : 0);
      middle[i] = Vector::load(words + unread + i * lanes, there[i], pivot);
    }
    for (std::size_t i = 0; i < registers; ++i)
      write<false>(middle[i], there[i], pivot, words, left, right);
    for (const Vector& from : first) write<false>(from, all, pivot, words, left, right);
    for (const Vector& from : last) write<false>(from, all, pivot, words, left, right);
    return left;
  }
};

}  // namespace sortie::segsort::detail

#endif

namespace sortie::segsort {

/// Whether sort_words() is there, and faster than a radix sort: on processors with AVX-512.
[[nodiscard]] inline bool has_vector_sort() {
  return vector_unit() == VectorUnit::avx512;
}

/// Sorts words of which all bits count, in place, on the calling thread. See detail::VectorSort.
/// \pre has_vector_sort()
template <std::unsigned_integral Word>
void sort_words([[maybe_unused]] Word* words, [[maybe_unused]] std::size_t n) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  detail::VectorSort<Word>::sort(words, n);
#endif
}

/// Divides words in two parts to be sorted by themselves. See detail::VectorSort::divide().
/// \pre has_vector_sort(), n > 2^10
template <std::unsigned_integral Word>
[[nodiscard]] std::size_t divide_words([[maybe_unused]] Word* words,
                                       [[maybe_unused]] std::size_t n) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  return detail::VectorSort<Word>::divide(words, n);
#else
  return 0;
#endif
}

}  // namespace sortie::segsort
