// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie::indexing {

/// Most bytes of a number of 64 bits: 7 bits a byte, the lowest first; the highest bit of a byte
/// tells that another one follows.
inline constexpr int longest_varint = 10;

/// \return the address after the number
inline char* put_varint(char* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

/// Appends a number to a std::string.
template <class Bytes>
void append_varint(Bytes& bytes, std::uint64_t value) {
  char buffer[longest_varint];
  bytes.append(buffer, put_varint(buffer, value));
}

/// Reads a number and moves `at` behind it. If a number does not end before `end`, or has more than
/// 64 bits, `at` becomes null; a null `at` reads 0.
inline std::uint64_t take_varint(const char*& at, const char* end) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == nullptr || at == end) break;
    const auto byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  at = nullptr;
  return 0;
}

}  // namespace sortie::indexing
