#pragma once

#include <bit>
#include <cstdint>

#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// Sorting of 64-bit numbers by vectors of eight, without a branch that depends on them. In buckets
/// of a genome every second branch of an insertion sort is mispredicted, and takes longer than all
/// else.

/// True where the processor of this run has AVX-512; elsewhere the functions below must not be
/// called.
[[nodiscard]] inline bool has_vector_sort() {
  return segsort::vector_unit() == segsort::VectorUnit::avx512;
}

/// Longest part that sort_parts() sorts. With 16 genomes took as long, or a twelfth longer.
inline constexpr std::uint64_t vector_window = 32;

/// Sorts numbers that are in order but for parts: stretches of at most `vector_window` numbers, all
/// of which belong into the stretch. Parts need not be told, and longer ones are fine as far as
/// they are sorted, or as what is above some bit is equal throughout: then they may come out in any
/// order of what is below it.
///
/// A window of two times vector_window moves over the numbers in steps of vector_window. Its lower
/// half is sorted; the upper is sorted and merged with it, by bitonic networks (Batcher 1968), and
/// then the lower half is final.
///
/// \param in   n numbers
/// \param out  n numbers; `in`, or another place
/// O(n): some 12 vector instructions for 8 numbers of a part of 8, and 80 for parts of 32.
void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n);

/// Sorts numbers by quicksort: divided by pivots, by vectors (Bramas 2017, Blacher et al. 2022),
/// until a part is no longer than vector_window, or all its numbers agree from bit `key_shift` on.
/// A frequent key takes one division.
///
/// \param elements   n numbers; those that agree from `key_shift` on come out in any order
/// \param levels     divisions that may follow on each other
/// \return false where bad pivots would take more: then the numbers are there in some order
/// O(n log n), and O(n) for few keys. In place, with 1 KiB of the stack and 100 bytes a level.
[[nodiscard]] bool sort_by_pivots(std::uint64_t* elements, std::uint64_t n, int key_shift,
                                  int levels);

/// The same with three times the levels that good pivots take, and some for frequent numbers.
[[nodiscard]] inline bool sort_by_pivots(std::uint64_t* elements, std::uint64_t n, int key_shift) {
  const int levels = 3 * static_cast<int>(std::bit_width(n / vector_window)) + 8;
  return sort_by_pivots(elements, n, key_shift, levels);
}

}  // namespace sortie::suffix_array::host
