// SPDX-License-Identifier: Apache-2.0
#include "texts/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sortie/corpus.hpp"

#if SORTIE_HAVE_SIMDJSON
#include <simdjson.h>
#endif

namespace sortie::texts {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t longest_character = 4;

bool is_continuation(std::uint8_t byte) {
  return (byte & 0xc0) == 0x80;
}

/// Bytes of a character by its first byte; 0 if none begins with it.
std::size_t size_by_lead(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

/// Whether the second byte may follow the first: it excludes long forms, surrogates, and numbers
/// beyond U+10FFFF.
bool fits_lead(std::uint8_t lead, std::uint8_t second) {
  if (!is_continuation(second)) return false;
  switch (lead) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second < 0xa0;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second < 0x90;
    default:
      return true;
  }
}

/// Bytes of the character at the front; 0 if the first byte begins none, or not within the bytes.
std::size_t valid_size(Bytes bytes) {
  const std::size_t size = size_by_lead(bytes[0]);
  if (size <= 1) return size;
  if (size > bytes.size() || !fits_lead(bytes[0], bytes[1])) return 0;
  return std::ranges::all_of(bytes.subspan(1, size - 1), is_continuation) ? size : 0;
}

/// If a character begins before `at` and ends after it, its begin; else `at`.
std::size_t begin_of_character(Bytes bytes, std::size_t at) {
  for (std::size_t back = 1; back < longest_character && back <= at; ++back) {
    if (at < bytes.size() && valid_size(bytes.subspan(at - back)) > back) return at - back;
    if (!is_continuation(bytes[at - back])) break;
  }
  return at;
}

}  // namespace

std::size_t character_size(Bytes bytes) {
  return std::max<std::size_t>(valid_size(bytes), 1);
}

std::size_t valid_prefix(Bytes bytes) {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint64_t word = high_bits;
    if (bytes.size() - at >= sizeof(word)) std::memcpy(&word, bytes.data() + at, sizeof(word));
    if ((word & high_bits) == 0) {
      at += sizeof(word);
      continue;
    }
    const std::size_t size = valid_size(bytes.subspan(at));
    if (size == 0) break;
    at += size;
  }
  return at;
}

bool is_utf8(Bytes bytes) {
#if SORTIE_HAVE_SIMDJSON
  return simdjson::validate_utf8(reinterpret_cast<const char*>(bytes.data()), bytes.size());
#else
  return valid_prefix(bytes) == bytes.size();
#endif
}

std::size_t incomplete_tail(Bytes bytes) {
  for (std::size_t back = 1; back < longest_character && back <= bytes.size(); ++back) {
    const Bytes tail = bytes.last(back);
    if (is_continuation(tail[0])) continue;
    return size_by_lead(tail[0]) > back && (back == 1 || fits_lead(tail[0], tail[1])) ? back : 0;
  }
  return 0;
}

ByteRange whole_characters(Bytes document, ByteRange range) {
  const std::size_t first = begin_of_character(document, range.begin);
  if (first != range.begin) range.begin = first + character_size(document.subspan(first));
  range.end = begin_of_character(document, range.end);
  if (range.end < range.begin) range.end = range.begin;
  return range;
}

}  // namespace sortie::texts
