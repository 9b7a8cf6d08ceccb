// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// UTF-8 as the Unicode standard defines it: shortest forms, no surrogates, up to U+10FFFF.
namespace sortie::texts {

/// Bytes of the character that begins at the first byte; 1 if there is none. \pre not empty
[[nodiscard]] std::size_t character_size(std::span<const std::uint8_t> bytes);

/// Whether all bytes are characters. Faster than valid_prefix() by SIMD instructions, if this build
/// has simdjson.
[[nodiscard]] bool is_utf8(std::span<const std::uint8_t> bytes);

/// Bytes before the first one that is not part of a character; all, if there is none.
[[nodiscard]] std::size_t valid_prefix(std::span<const std::uint8_t> bytes);

/// Bytes at the end, at most 3, that begin a character without completing it.
[[nodiscard]] std::size_t incomplete_tail(std::span<const std::uint8_t> bytes);

}  // namespace sortie::texts
