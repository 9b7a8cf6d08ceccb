#pragma once

#include <cstdint>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// What is read off sorted elements (prefix_plan.hpp), eight at a time where the processor has
/// AVX-512.

/// Sets bit i where element i has the key of element i - 1, and clears all others.
///
/// \param elements   n elements
/// \param key_shift  first bit of the key
/// \param bits       (n + 63) / 64 words
/// \param unit       segsort::vector_unit(), or less
void mark_equal_keys(const std::uint64_t* elements, std::uint64_t n, int key_shift,
                     std::uint64_t* bits, segsort::VectorUnit unit = segsort::vector_unit());

/// Writes the positions of n elements.
/// \param position_bits  lowest bits of an element
template <Position Pos>
void write_positions(const std::uint64_t* elements, std::uint64_t n, int position_bits,
                     Pos* positions, segsort::VectorUnit unit = segsort::vector_unit());

}  // namespace sortie::suffix_array::host
