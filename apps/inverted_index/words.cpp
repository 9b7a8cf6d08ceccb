// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/words.hpp"

#include <locale.h>
#include <wctype.h>

#include <vector>

#include "sortie/error.hpp"

namespace sortie::indexing {

namespace {

std::vector<std::uint32_t> make_table() {
  // The planes of Unicode that have letters.
  constexpr std::uint32_t characters = 4 << 16;
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (locale == nullptr) {
    throw Error(ErrorKind::unavailable,
                "found no locale C.UTF-8 in the C library, expected it for the letters of words");
  }
  std::vector<std::uint32_t> lower(characters);
  for (std::uint32_t c = 0; c < characters; ++c) {
    if (::iswalnum_l(static_cast<wint_t>(c), locale) != 0)
      lower[c] = static_cast<std::uint32_t>(::towlower_l(static_cast<wint_t>(c), locale));
  }
  ::freelocale(locale);
  return lower;
}

}  // namespace

std::uint32_t lower_beyond_ascii(std::uint32_t character) {
  static const std::vector<std::uint32_t> lower = make_table();
  return character < lower.size() ? lower[character] : 0;
}

Utf8Character decode_utf8(const char* at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) { return static_cast<unsigned char>(at[i]); };
  const auto follows = [&](std::ptrdiff_t i) { return (byte(i) & 0xc0) == 0x80; };
  const std::uint32_t first = byte(0);
  const std::ptrdiff_t left = end - at;
  if (first < 0x80) return {first, 1};
  if (first >= 0xc2 && first < 0xe0) {
    if (left >= 2 && follows(1)) return {(first & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  } else if (first >= 0xe0 && first < 0xf0) {
    if (left >= 3 && follows(1) && follows(2)) {
      const std::uint32_t c = (first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
      // Neither a longer form than necessary nor a surrogate.
      if (c >= 0x800 && (c < 0xd800 || c >= 0xe000)) return {c, 3};
    }
  } else if (first >= 0xf0 && first < 0xf5) {
    if (left >= 4 && follows(1) && follows(2) && follows(3)) {
      const std::uint32_t c =
          (first & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
      if (c >= 0x10000 && c < 0x110000) return {c, 4};
    }
  }
  return {};
}

char* encode_utf8(std::uint32_t c, char* to) {
  const auto follow = [&](int shift) { *to++ = static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    *to++ = static_cast<char>(c);
  } else if (c < 0x800) {
    *to++ = static_cast<char>(0xc0 | c >> 6);
    follow(0);
  } else if (c < 0x10000) {
    *to++ = static_cast<char>(0xe0 | c >> 12);
    follow(6);
    follow(0);
  } else {
    *to++ = static_cast<char>(0xf0 | c >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
  return to;
}

}  // namespace sortie::indexing
