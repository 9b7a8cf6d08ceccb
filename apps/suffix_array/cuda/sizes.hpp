// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Longest text for a type of positions. Ranks go up to the number of symbols, and the greatest
/// value stays unused, as documented for Position.
template <Position Index>
inline constexpr std::uint64_t max_symbols = std::numeric_limits<Index>::max() - Index{1};

/// Most bytes a symbol that a construction holds, text excluded: 32 with 32-bit positions. Constant
/// amounts come on top; they are negligible from some 10^6 symbols on.
template <Position Index>
inline constexpr std::uint64_t most_bytes_a_symbol = 8 * sizeof(Index);

/// Most bytes that build_on_device() (sortie/device_suffix_array.hpp) holds before the rounds, text
/// excluded. Defined in build/device_build.cu.
template <Position Index>
[[nodiscard]] std::uint64_t bytes_before_rounds(std::uint64_t symbols);

}  // namespace sortie::suffix_array::cuda
