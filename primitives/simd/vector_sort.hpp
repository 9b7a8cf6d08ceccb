// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>

#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"

/// Quicksort of words with AVX-512 or AVX2 instructions, in place, on the calling thread.

namespace sortie {

/// Whether sort_words() is available for such words: on processors with AVX2.
template <std::unsigned_integral Word>
[[nodiscard]] bool has_vector_sort() {
  return sizeof(Word) >= 4 && vector_unit() != VectorUnit::baseline;
}

/// Whether sort_words() of 64-bit words is faster than a radix sort that leaves out the lowest bits:
/// on processors with AVX-512. AVX2 has no minimum of such words.
[[nodiscard]] inline bool has_fast_word_sort() {
  return vector_unit() == VectorUnit::avx512;
}

/// sort_words() with an explicit depth limit.
/// \param depth  nested divisions before std::sort takes over
/// \param unit   not VectorUnit::baseline; the processor must have it
template <std::unsigned_integral Word>
void sort_words_to_depth(Word* words, std::size_t n, int low_bits, int depth,
                         VectorUnit unit = vector_unit());

/// Sorts words of 32 or 64 bits. Not stable, does not allocate and does not throw.
///
/// Parts are divided at the median of a sample until they fit in registers (RegisterSort). A
/// frequent word takes one division. If pivots are bad too often, std::sort takes over, so the
/// complexity is O(n log n) in every case, and O(n) for few distinct words.
///
/// \param low_bits  words that agree in all bits above the lowest `low_bits` may be left in any
///                  order: parts of such words are not sorted further
/// \pre has_vector_sort<Word>(), low_bits less than the bits of a word
///
/// One core of an Intel Xeon (Sapphire Rapids, virtual; 77597c0b), random words, median nanoseconds per
/// word with 32 and 64 bits, AVX-512: 1.1 and 2.7 at 2^8, 2.9 and 5.5 at 2^12, 3.8 and 7.5 at 2^16,
/// 4.9 and 8.3 at 2^20; AVX2: 2.0 and 15, 4.6 and 16, 5.9 and 14, 7.9 and 17.
template <std::unsigned_integral Word>
void sort_words(Word* words, std::size_t n, int low_bits = 0) {
  // Twice the depth that good pivots take.
  sort_words_to_depth(words, n, low_bits, 2 * static_cast<int>(std::bit_width(n)));
}

/// Partitions words in two parts of about equal size, the lesser words first, and returns the size
/// of the first part: 0 if all words are equal. If most words equal the least, these form the first
/// part.
/// \pre has_vector_sort<Word>(), n > 2^10
template <std::unsigned_integral Word>
[[nodiscard]] std::size_t divide_words(Word* words, std::size_t n, VectorUnit unit = vector_unit());

/// Encodes keys and partitions them as divide_words() does, in one pass over the array.
template <std::unsigned_integral Word>
[[nodiscard]] std::size_t divide_keys(Word* keys, std::size_t n, const KeyCodec<Word>& codec,
                                      VectorUnit unit = vector_unit());

}  // namespace sortie
