// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// The end of the record that contains `position`: the first separator at or after it, or the end
/// of the text. O(log separators).
[[nodiscard]] inline std::uint64_t end_of_record(const TextView& text, std::uint64_t position) {
  const auto end = std::lower_bound(text.separators.begin(), text.separators.end(), position);
  return end == text.separators.end() ? text.size() : *end;
}

/// The number of letters that two suffixes have in common, given that the first `known` agree; at
/// most `limit`, which lies within both records. Compares eight letters at a time.
[[nodiscard]] inline std::uint64_t common_letters(const TextView& text, std::uint64_t left,
                                                  std::uint64_t right, std::uint64_t known,
                                                  std::uint64_t limit) {
  const std::uint8_t* a = text.symbols.data() + left;
  const std::uint8_t* b = text.symbols.data() + right;
  constexpr std::uint64_t step = sizeof(std::uint64_t);
  while (known + step <= limit && std::memcmp(a + known, b + known, step) == 0) known += step;
  while (known < limit && a[known] == b[known]) ++known;
  return known;
}

/// The same from the first letter, up to the end of the shorter record.
[[nodiscard]] inline std::uint64_t common_letters(const TextView& text, std::uint64_t left,
                                                  std::uint64_t right) {
  const std::uint64_t limit =
      std::min(end_of_record(text, left) - left, end_of_record(text, right) - right);
  return common_letters(text, left, right, 0, limit);
}

}  // namespace sortie::suffix_array::host
