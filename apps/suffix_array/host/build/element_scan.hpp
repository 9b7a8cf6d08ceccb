// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/host/text/prefix_plan.hpp"
#include "apps/suffix_array/host/text/symbol_stream.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Scans of sorted elements (prefix_plan.hpp), eight at a time on processors with AVX-512.

/// Sets bit i where element i has the key of element i - 1, and clears all others.
///
/// \param elements   n elements
/// \param key_shift  first bit of the key
/// \param bits       (n + 63) / 64 words
/// \param unit       vector_unit(), or a lesser unit
void mark_equal_keys(const std::uint64_t* elements, std::uint64_t n, int key_shift,
                     std::uint64_t* bits, VectorUnit unit = vector_unit());

/// Sets bit i where bit i of `marks` is set and the texts of suffixes i - 1 and i differ in the
/// words that follow plan.depth() symbols, or have an end in them; clears all others. Without
/// AVX-512 it may set the bits of all marks.
///
/// In similar genomes nearly all groups agree in all words and then need no sort.
///
/// \param words      words to compare, of stream.symbols() symbols each
/// \param elements   n elements
/// \param marks      result of mark_equal_keys()
/// \param differing  (n + 63) / 64 words
void mark_differing_texts(const SymbolStream& stream, const PrefixPlan& plan, int words,
                          const std::uint64_t* elements, std::uint64_t n,
                          const std::uint64_t* marks, std::uint64_t* differing);

/// Gives n elements new keys: the `symbols` codes that follow `depth` symbols, in stream.bits()
/// bits each, and 0 from the first end on.
/// \param symbols  at most stream.symbols(), and at most what fits in plan.element()
/// \return the bits in which elements differ from the first
std::uint64_t replace_keys(const SymbolStream& stream, const PrefixPlan& plan,
                           std::uint64_t* elements, std::uint64_t n, std::uint64_t depth,
                           int symbols, VectorUnit unit = vector_unit());

/// Writes the positions of n elements.
/// \param position_bits  number of low bits that hold the position
template <Position Pos>
void write_positions(const std::uint64_t* elements, std::uint64_t n, int position_bits,
                     Pos* positions, VectorUnit unit = vector_unit());

}  // namespace sortie::suffix_array::host
