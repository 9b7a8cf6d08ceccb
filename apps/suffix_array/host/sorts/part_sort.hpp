// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie::suffix_array::host {

/// Longest part that sort_parts() sorts. With 16, genomes took as long, or a twelfth longer.
inline constexpr std::uint64_t longest_vector_part = 32;

/// Sorts numbers that are sorted except within parts: ranges of at most `longest_vector_part`
/// numbers that already contain the right numbers. The boundaries of parts need not be known.
/// Longer parts are allowed if they are sorted, or if all their numbers agree above some bit: then
/// they may come out in any order of the bits below it.
///
/// Uses vectors, without a branch that depends on a number: in buckets of a genome every second
/// branch of an insertion sort is mispredicted, and these take longer than everything else. A
/// window of twice longest_vector_part moves over the numbers in steps of half of it. Its lower
/// half is sorted; the upper half is sorted and merged with it, by networks (RegisterSort); then
/// the lower half is final.
///
/// \param in   n numbers
/// \param out  n numbers; `in`, or a separate array
/// \pre has_vector_sort()
/// O(n): some 55 vector instructions for 8 numbers.
void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n);

}  // namespace sortie::suffix_array::host
