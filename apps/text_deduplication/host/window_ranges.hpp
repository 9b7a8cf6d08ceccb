// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace sortie::texts::host {

/// Calls use(begin, end) for the windows of each document that begin in [from, to).
/// \param borders  offset of each document, ascending; then the size of the text
template <class Use>
void visit_windows(std::span<const std::uint64_t> borders, std::uint64_t window, std::uint64_t from,
                   std::uint64_t to, const Use& use) {
  auto next = std::ranges::upper_bound(borders, from);
  for (std::uint64_t begin = from; next != borders.end() && begin < to; begin = *next++) {
    if (*next < begin + window) continue;
    const std::uint64_t end = std::min(to, *next - window + 1);
    if (begin < end) use(begin, end);
  }
}

}  // namespace sortie::texts::host
