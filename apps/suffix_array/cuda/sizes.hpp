#pragma once

#include <cstdint>
#include <limits>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Longest text for a type of positions. Ranks go up to the number of symbols, and the greatest
/// value is left unused, as TextView's documentation promises for positions.
template <Position Index>
inline constexpr std::uint64_t max_symbols = std::numeric_limits<Index>::max() - Index{1};

/// Bytes a symbol of the text that a construction holds at most, the text itself not counted: 32
/// with 32-bit positions. Constant amounts come on top, which do not matter from some 10^6 symbols
/// on.
template <Position Index>
inline constexpr std::uint64_t most_bytes_a_symbol = 8 * sizeof(Index);

/// Threads a block of the element-wise kernels: full occupancy on every architecture.
inline constexpr unsigned block_threads = 256;

/// Blocks that cover `items`, `items_per_block` each. Even 2^32 items stay below the 2^31 - 1
/// blocks that a grid may have.
[[nodiscard]] constexpr unsigned blocks_for(std::uint64_t items,
                                            std::uint64_t items_per_block = block_threads) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}

}  // namespace sortie::suffix_array::cuda
