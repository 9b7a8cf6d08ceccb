// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sortie::indexing {

/// Most bytes of a word; the rest of a longer one is a further word.
inline constexpr std::size_t longest_word = 255;

/// The lower case of a letter or digit of ASCII; 0 for other characters of ASCII.
[[nodiscard]] constexpr std::uint32_t lower_of_ascii(std::uint32_t character) {
  const std::uint32_t folded = character | 0x20;
  if (folded >= 'a' && folded <= 'z') return folded;
  return character >= '0' && character <= '9' ? character : 0;
}

/// The lower case of a letter or digit beyond ASCII; 0 for other characters. The first call makes a
/// table, which takes some milliseconds.
/// \throws Error (unavailable) there is no locale C.UTF-8
[[nodiscard]] std::uint32_t lower_beyond_ascii(std::uint32_t character);

/// One of the two.
[[nodiscard]] inline std::uint32_t lower_of(std::uint32_t character) {
  return character < 0x80 ? lower_of_ascii(character) : lower_beyond_ascii(character);
}

/// A character of UTF-8 and its bytes. Of bytes that are not UTF-8, one byte and no_character.
struct Utf8Character {
  static constexpr std::uint32_t no_character = 0xffffffff;
  std::uint32_t character = no_character;
  std::uint32_t bytes = 1;
};

/// \pre at < end
[[nodiscard]] Utf8Character decode_utf8(const char* at, const char* end);
/// Writes at most 4 bytes. \return the address after them
char* encode_utf8(std::uint32_t character, char* to);

/// Finds the words of a text.
class WordScanner {
 public:
  /// Calls take(word, size) for the words from `at` on, in lower case, until it returns false. 16
  /// bytes after each word can be read; their content is unspecified.
  /// \return the address where the next call shall begin; `end` after the last word
  /// \throws Error (unavailable) as lower_beyond_ascii()
  template <class Take>
  const char* scan(const char* at, const char* end, const Take& take) {
#if defined(__SSE2__)
    // Words of ASCII below 16 bytes: a vector has the word and the byte after it.
    while (end - at >= 16) {
      const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i folded = _mm_or_si128(text, _mm_set1_epi8(0x20));
      const __m128i letters = within(folded, 'a', 25);
      const __m128i digits = within(text, '0', 9);
      const auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(text));
      const auto inside =
          static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(letters, digits)));
      const std::uint32_t any = inside | high;
      const int size = std::countr_one(inside);
      if (size == 0 && (high & 1) == 0) {
        at += any == 0 ? 16 : std::countr_zero(any);
        continue;
      }
      if (size == 16 || ((high >> size) & 1) != 0) {
        bool more = true;
        at = scan_one(at, end, take, more);
        if (!more) return at;
        continue;
      }
      // Letters get bit 5; digits have it.
      _mm_storeu_si128(reinterpret_cast<__m128i*>(word_), folded);
      const bool more = take(static_cast<const char*>(word_), static_cast<std::size_t>(size));
      const std::uint32_t rest = any >> size;
      at += rest == 0 ? 16 : size + std::countr_zero(rest);
      if (!more) return at;
    }
#endif
    bool more = true;
    while (at < end && more) at = scan_one(at, end, take, more);
    return at;
  }

 private:
#if defined(__SSE2__)
  /// Which bytes are in [first, first + range].
  static __m128i within(__m128i bytes, char first, char range) {
    const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(range)), above);
  }
#endif

  /// Takes the word at `at`, or passes the characters before a word.
  template <class Take>
  const char* scan_one(const char* at, const char* end, const Take& take, bool& more) {
    std::size_t size = 0;
    while (at < end) {
      const auto byte = static_cast<unsigned char>(*at);
      const Utf8Character next = byte < 0x80 ? Utf8Character{byte, 1} : decode_utf8(at, end);
      const std::uint32_t lower = lower_of(next.character);
      if (lower == 0) {
        if (size > 0) break;
        at += next.bytes;
        continue;
      }
      char bytes[4];
      const auto count = static_cast<std::size_t>(encode_utf8(lower, bytes) - bytes);
      if (size + count > longest_word) break;
      std::memcpy(word_ + size, bytes, count);
      size += count;
      at += next.bytes;
    }
    if (size > 0) more = take(static_cast<const char*>(word_), size);
    return at;
  }

  char word_[longest_word + 17] = {};
};

}  // namespace sortie::indexing
