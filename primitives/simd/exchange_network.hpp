// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace sortie {

/// Batcher's odd-even merge sort of `rows` rows. Calls exchange(first, second, count) to compare
/// rows first + i and second + i, for i < count, and to move the lesser to the former.
///
/// The comparators of a step form runs of neighbouring rows, so one call handles a run. Any number
/// of rows is supported: comparators of the next larger power of two that involve missing rows,
/// which count as the greatest, are omitted.
///
/// Source: Batcher, Sorting networks and their applications (1968); as loops, Knuth, The Art of
/// Computer Programming 3, 5.2.2 M.
template <class Exchange>
[[gnu::always_inline]] constexpr void exchange_network(std::size_t rows, Exchange exchange) {
  const auto run = [](std::size_t distance, std::size_t left) __attribute__((always_inline)) {
    return left < distance ? left : distance;
  };
  // Lists of `half` sorted rows are merged in pairs; `merged` = 2 * half is a power of two.
  for (std::size_t half = 1; half < rows; half *= 2) {
    for (std::size_t row = 0; row + half < rows; row += 2 * half)
      exchange(row, row + half, run(half, rows - row - half));
    const std::size_t list_bits = ~(2 * half - 1);
    for (std::size_t distance = half / 2; distance > 0; distance /= 2) {
      for (std::size_t row = distance; row + distance < rows; row += 2 * distance) {
        const bool same_list = (row & list_bits) == ((row + distance) & list_bits);
        if (same_list) exchange(row, row + distance, run(distance, rows - row - distance));
      }
    }
  }
}

/// Two rows that a network compares; the lesser ends up in `first`.
struct Comparator {
  std::size_t first;
  std::size_t second;
};

template <std::size_t Rows>
[[nodiscard]] constexpr std::size_t count_comparators() {
  std::size_t all = 0;
  exchange_network(Rows, [&](std::size_t, std::size_t, std::size_t count) { all += count; });
  return all;
}

/// Comparators of exchange_network(), listed one by one.
template <std::size_t Rows>
inline constexpr std::array<Comparator, count_comparators<Rows>()> comparators = [] {
  std::array<Comparator, count_comparators<Rows>()> all{};
  std::size_t listed = 0;
  exchange_network(Rows, [&](std::size_t first, std::size_t second, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all[listed++] = {first + i, second + i};
  });
  return all;
}();

}  // namespace sortie
