// SPDX-License-Identifier: Apache-2.0
#include "sequences/symbol_table.hpp"

#include <bit>
#include <cstring>

namespace sortie::sequences {
namespace {

constexpr signed char first_printable = '!';
constexpr signed char last_printable = '~';

/// 16 bytes, which every processor has registers for.
using Bytes __attribute__((vector_size(16))) = signed char;

/// Index of the first of 32 bytes that is not 0, each being 0 or 0xff; 32 if there is none.
std::size_t first_set(Bytes low, Bytes high) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint64_t, 4> words;
  std::memcpy(words.data(), &low, sizeof(low));
  std::memcpy(words.data() + 2, &high, sizeof(high));
  if ((words[0] | words[1] | words[2] | words[3]) == 0) return 32;
  std::size_t word = 0;
  while (words[word] == 0) ++word;
  return 8 * word + static_cast<std::size_t>(std::countr_zero(words[word])) / 8;
}

/// As SymbolTable::copy() for printable ASCII characters; reads 32 bytes at a time, and stops where
/// fewer are left. Lines have 60 to 80 characters, so two or three steps copy one.
std::size_t copy_printable(const char* from, std::size_t size, std::uint8_t* to,
                           signed char case_bit) {
  constexpr std::size_t step = 2 * sizeof(Bytes);
  std::size_t done = 0;
  for (; size - done >= step; done += step) {
    Bytes bytes[2];  // std::array would lose the alignment of Bytes, and GCC warns
    Bytes other[2];
    std::memcpy(bytes, from + done, step);
    for (int half = 0; half < 2; ++half) {
      // Bytes from 0x80 are negative.
      Bytes& b = bytes[half];
      other[half] = (b < first_printable) | (b > last_printable);
      b ^= ((b >= 'a') & (b <= 'z')) & case_bit;
    }
    std::memcpy(to + done, bytes, step);
    const std::size_t stop = first_set(other[0], other[1]);
    if (stop != step) return done + stop;
  }
  return done;
}

}  // namespace

SymbolTable::SymbolTable(const ReadOptions& options) {
  const bool raise_all = options.letter_case == Case::upper;
  for (std::size_t byte = 0; byte < table_.size(); ++byte) {
    const auto letter = static_cast<std::uint8_t>(byte);
    if (is_blank(static_cast<char>(letter)) || !contains(options.alphabet, letter)) continue;
    const bool raise = raise_all && letter >= 'a' && letter <= 'z';
    table_[byte] = raise ? static_cast<std::uint8_t>(letter - 'a' + 'A') : letter;
  }
  for (int byte = first_printable; byte <= last_printable; ++byte)
    every_printable_ = every_printable_ && table_[static_cast<std::size_t>(byte)] != 0;
  if (raise_all) case_bit_ = 'a' - 'A';
}

std::size_t SymbolTable::copy(const char* from, std::size_t size, std::uint8_t* to) const {
  std::size_t done = 0;
  while (done < size) {
    if (every_printable_) done += copy_printable(from + done, size - done, to + done, case_bit_);
    if (done == size) break;
    const std::uint8_t symbol = (*this)[from[done]];
    if (symbol == 0) break;
    to[done++] = symbol;
  }
  return done;
}

}  // namespace sortie::sequences
