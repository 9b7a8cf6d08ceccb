#pragma once

#include <cstdint>

#include "sortie/apps/suffix_array/host/symbol_stream.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// Hashes of `hashed` symbols from each position of a stretch on, by which samples are chosen
/// (sampling.hpp): below 2^31, and the greatest 32-bit number where a symbol repeats itself.
///
/// \param hashed  1 to stream.symbols()
/// \param first   position of the first hash; all symbols that are looked at are in the text
/// \param hashes  n of them
/// \param unit    segsort::vector_unit(), or less
void hash_symbols(const SymbolStream& stream, std::uint64_t hashed, std::uint64_t first,
                  std::uint64_t n, std::uint32_t* hashes,
                  segsort::VectorUnit unit = segsort::vector_unit());

}  // namespace sortie::suffix_array::host
