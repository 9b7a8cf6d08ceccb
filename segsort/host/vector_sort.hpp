#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/segsort/host/vector_unit.hpp"

/// Quicksort of words with the instructions of AVX-512, in place, on the calling thread.

namespace sortie::segsort {

/// Whether sort_words() is there, and faster than a radix sort: on processors with AVX-512.
[[nodiscard]] inline bool has_vector_sort() {
  return vector_unit() == VectorUnit::avx512;
}

/// Sorts words of 32 or 64 bits. Not stable, does not allocate and does not throw.
///
/// A part is divided by the median of a few of its words until it fits in registers (RegisterSort).
/// A frequent word takes one division. Where pivots are bad too often, std::sort does the rest, so
/// that it takes O(n log n) in any case, and O(n) for few different words.
///
/// \param low_bits  words that agree in all bits above so many may come out in any order: parts of
///                  such words are left alone
/// \pre has_vector_sort(), low_bits less than the bits of a word
///
/// One core of an Intel Xeon (Sapphire Rapids, virtual), random words, nanoseconds a word with 32
/// and 64 bits: 1.3 and 3.5 at 2^8, 4.1 and 8.0 at 2^12, 4.7 and 9.7 at 2^16, 5.8 and 13 at 2^20;
/// by radix sort 9.6 and 14, 10 and 11, 13 and 13, 17 and 18. For a level of the partition, with
/// words in the cache, 0.2 and 0.4.
template <std::unsigned_integral Word>
void sort_words(Word* words, std::size_t n, int low_bits = 0);

/// Divides words in two parts of about the same size, of which the first holds the lesser words,
/// and returns the size of that: 0 where all words are equal. Where most words are equal and the
/// least, these are the first part.
/// \pre has_vector_sort(), n > 2^10
template <std::unsigned_integral Word>
[[nodiscard]] std::size_t divide_words(Word* words, std::size_t n);

namespace detail {

/// sort_words() with a limit of its own.
/// \param depth  divisions of which one may be within the other before std::sort takes over
template <std::unsigned_integral Word>
void sort_words_to_depth(Word* words, std::size_t n, int low_bits, int depth);

}  // namespace detail

// Compiled once, in vector_sort.cpp.
extern template void sort_words(std::uint32_t*, std::size_t, int);
extern template void sort_words(std::uint64_t*, std::size_t, int);
extern template std::size_t divide_words(std::uint32_t*, std::size_t);
extern template std::size_t divide_words(std::uint64_t*, std::size_t);
extern template void detail::sort_words_to_depth(std::uint32_t*, std::size_t, int, int);
extern template void detail::sort_words_to_depth(std::uint64_t*, std::size_t, int, int);

}  // namespace sortie::segsort
