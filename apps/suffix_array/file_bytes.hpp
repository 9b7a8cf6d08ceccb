// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sortie::suffix_array {

static_assert(std::endian::native == std::endian::little, "numbers in files are little-endian");

/// Converts numbers to little-endian integers of `width_bytes` bytes.
template <std::size_t width_bytes, class Number>
void convert(std::span<const Number> numbers, char* bytes) {
  for (const Number number : numbers) {
    const std::uint64_t wide = number;
    std::memcpy(bytes, &wide, width_bytes);
    bytes += width_bytes;
  }
}

/// The bytes of numbers as they stand in a file. Uses `buffer` if the numbers in memory have
/// another width.
template <class Number>
[[nodiscard]] std::span<const char> file_bytes(std::span<const Number> numbers,
                                               std::size_t width_bytes, std::vector<char>& buffer) {
  if (width_bytes == sizeof(Number))
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
  buffer.resize(numbers.size() * width_bytes);
  if (width_bytes == 4) convert<4>(numbers, buffer.data());
  if (width_bytes == 5) convert<5>(numbers, buffer.data());
  if (width_bytes == 8) convert<8>(numbers, buffer.data());
  return buffer;
}

}  // namespace sortie::suffix_array
