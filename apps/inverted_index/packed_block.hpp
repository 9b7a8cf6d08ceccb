// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

/// Blocks of 128 numbers of 32 bits, of which each takes as many bits as the greatest one needs.
///
/// Number i is in lane i % 4. A lane is a stream of words of 32 bits, from the lowest bits on; the
/// words of the four lanes alternate. So a vector of four words is shifted and masked as a whole.
/// Source: Lemire and Boytsov: Decoding billions of integers per second through vectorization
/// (Software: Practice and Experience 2015), section 4.
namespace sortie::indexing {

inline constexpr std::size_t packed_numbers = 128;

/// Bytes of a block whose numbers have `bits` bits.
[[nodiscard]] constexpr std::size_t packed_bytes(int bits) {
  return packed_numbers / 8 * static_cast<std::size_t>(bits);
}

namespace detail {

using Lanes = std::uint32_t __attribute__((vector_size(16)));

template <int bits>
void pack(const std::uint32_t* numbers, char* to) {
  Lanes word{};
  for (int i = 0, used = 0; i < 32; ++i) {
    Lanes value;
    std::memcpy(&value, numbers + 4 * i, sizeof(value));
    word |= value << used;
    used += bits;
    if (used < 32) continue;
    std::memcpy(to, &word, sizeof(word));
    to += sizeof(word);
    used -= 32;
    word = used > 0 ? value >> (bits - used) : Lanes{};
  }
}

template <int bits>
void unpack(const char* from, std::uint32_t* numbers) {
  constexpr std::uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
#pragma GCC unroll 32
  for (int i = 0; i < 32; ++i) {
    const int shift = i * bits % 32;
    Lanes word;
    std::memcpy(&word, from + i * bits / 32 * sizeof(word), sizeof(word));
    Lanes value = word >> shift;
    if (shift + bits > 32) {
      std::memcpy(&word, from + (i * bits / 32 + 1) * sizeof(word), sizeof(word));
      value |= word << (32 - shift);
    }
    value &= mask;
    std::memcpy(numbers + 4 * i, &value, sizeof(value));
  }
}

template <>
inline void pack<0>(const std::uint32_t*, char*) {}
template <>
inline void unpack<0>(const char*, std::uint32_t* numbers) {
  std::memset(numbers, 0, packed_numbers * sizeof(*numbers));
}

template <int... bits>
constexpr auto packs(std::integer_sequence<int, bits...>) {
  return std::array{pack<bits>...};
}
template <int... bits>
constexpr auto unpacks(std::integer_sequence<int, bits...>) {
  return std::array{unpack<bits>...};
}

inline constexpr auto all_packs = packs(std::make_integer_sequence<int, 33>());
inline constexpr auto all_unpacks = unpacks(std::make_integer_sequence<int, 33>());

}  // namespace detail

/// \param bits  0 to 32, enough for each number
/// \param to    packed_bytes(bits)
inline void pack_block(const std::uint32_t* numbers, int bits, char* to) {
  detail::all_packs[static_cast<std::size_t>(bits)](numbers, to);
}

/// The inverse of pack_block().
inline void unpack_block(const char* from, int bits, std::uint32_t* numbers) {
  detail::all_unpacks[static_cast<std::size_t>(bits)](from, numbers);
}

}  // namespace sortie::indexing
