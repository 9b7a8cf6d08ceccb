// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

/// Symbols as codes of 1 to 9 bits: eight codes fill that many bytes, the first one in the highest
/// bits. So threads that pack groups of eight write no byte in common.
namespace sortie {

inline constexpr std::uint64_t codes_in_group = 8;

/// The code of each byte.
using ByteCodes = std::array<std::uint16_t, 256>;

/// Packs symbols; zeros fill the last group. O(symbols), on the calling thread.
/// \param bits  1 to 9, enough for all codes
/// \param to    memory for `bits` bytes of each group that has begun, which alone are written
void pack_codes(std::span<const std::uint8_t> symbols, const ByteCodes& codes, unsigned bits,
                std::uint8_t* to);

/// Unpacks codes of at most 8 bits, the first of which begins a group, to the symbols of a table.
/// \param from  eight bytes more than the codes take are read
void unpack_codes(const std::uint8_t* from, unsigned bits,
                  const std::array<std::uint8_t, 256>& symbols, std::span<std::uint8_t> to);

}  // namespace sortie
