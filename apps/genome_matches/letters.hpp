// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

/// Letters of a reference and of queries, one byte each, and comparisons of them.
namespace sortie::genome_matches {

using Letters = std::span<const std::uint8_t>;

/// What replaces letters that match nothing: these two never meet in one text.
inline constexpr std::uint8_t unmatched_in_reference = 1;
inline constexpr std::uint8_t unmatched_in_query = 2;

[[nodiscard]] constexpr bool is_acgt(std::uint8_t letter) {
  return letter == 'A' || letter == 'C' || letter == 'G' || letter == 'T';
}

[[nodiscard]] inline std::uint64_t word_at(const std::uint8_t* letters) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, letters, sizeof word);
  return word;
}

/// How many letters from `a` and from `b` on agree, up to `most`.
[[nodiscard]] inline std::uint64_t common_prefix(const std::uint8_t* a, const std::uint8_t* b,
                                                 std::uint64_t most) {
  std::uint64_t common = 0;
  for (; common + sizeof(std::uint64_t) <= most; common += sizeof(std::uint64_t)) {
    if (const std::uint64_t differing = word_at(a + common) ^ word_at(b + common); differing != 0)
      return common + static_cast<std::uint64_t>(std::countr_zero(differing)) / 8;
  }
  while (common < most && a[common] == b[common]) ++common;
  return common;
}

/// How many letters before `a` and before `b` agree, up to `most`.
[[nodiscard]] inline std::uint64_t common_suffix(const std::uint8_t* a, const std::uint8_t* b,
                                                 std::uint64_t most) {
  std::uint64_t common = 0;
  for (; common + sizeof(std::uint64_t) <= most; common += sizeof(std::uint64_t)) {
    const std::uint64_t differing = word_at(a - common - 8) ^ word_at(b - common - 8);
    if (differing != 0) return common + static_cast<std::uint64_t>(std::countl_zero(differing)) / 8;
  }
  while (common < most && *(a - common - 1) == *(b - common - 1)) ++common;
  return common;
}

/// Positions of a query.
struct QueryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

}  // namespace sortie::genome_matches
