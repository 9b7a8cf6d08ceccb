// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/host/text/symbol_stream.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// Hashes of `hashed` symbols from each of n consecutive positions, by which samples are chosen
/// (sampling.hpp): below 2^31, and the greatest 32-bit number where the first two symbols are
/// equal.
///
/// \param hashed  1 to stream.symbols()
/// \param first   position of the first hash; all symbols that are read lie within the text
/// \param hashes  n of them
/// \param unit    vector_unit(), or a lesser unit
void hash_symbols(const SymbolStream& stream, std::uint64_t hashed, std::uint64_t first,
                  std::uint64_t n, std::uint32_t* hashes, VectorUnit unit = vector_unit());

}  // namespace sortie::suffix_array::host
