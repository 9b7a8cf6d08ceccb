#pragma once

#include <cstdint>

namespace sortie::suffix_array::host {

/// Longest part that sort_parts() sorts. With 16 genomes took as long, or a twelfth longer.
inline constexpr std::uint64_t longest_vector_part = 32;

/// Sorts numbers that are in order but for parts: stretches of at most `longest_vector_part`
/// numbers, all of which belong into the stretch. Parts need not be told, and longer ones are fine
/// as far as they are sorted, or as what is above some bit is equal throughout: then they may come
/// out in any order of what is below it.
///
/// By vectors, without a branch that depends on a number: in buckets of a genome every second
/// branch of an insertion sort is mispredicted, and takes longer than all else. A window of two
/// times longest_vector_part moves over the numbers in steps of half of it. Its lower half is
/// sorted; the upper is sorted and merged with it, by networks (RegisterSort), and then the lower
/// half is final.
///
/// \param in   n numbers
/// \param out  n numbers; `in`, or another place
/// \pre segsort::has_vector_sort()
/// O(n): some 55 vector instructions for 8 numbers.
void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n);

}  // namespace sortie::suffix_array::host
