// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "apps/suffix_array/backends.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

/// Explicit instances of a function template for all pairs of types of keys and positions.
#define SORTIE_FOR_KEYS_AND_POSITIONS(function) \
  SORTIE_FOR_KEY(function, std::uint32_t);      \
  SORTIE_FOR_KEY(function, std::uint64_t)
#define SORTIE_FOR_KEY(function, Key)                                           \
  template decltype(function<Key, std::uint32_t>) function<Key, std::uint32_t>; \
  template decltype(function<Key, std::uint64_t>) function<Key, std::uint64_t>

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

/// \throws Error (out_of_memory)  `bytes` exceeds the budget
inline void require(std::uint64_t budget, std::string_view what, std::uint64_t bytes) {
  if (bytes > budget) throw out_of_memory_error(what, bytes, budget);
}
/// The same for the context's budget of device memory.
inline void require(const Context& context, std::string_view what, std::uint64_t bytes) {
  require(device_memory_budget(context), what, bytes);
}

}  // namespace sortie::suffix_array::cuda
