// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sortie {

/// [0, items) in `count` shares whose sizes differ by at most one; the larger ones are spread
/// evenly. \pre count > 0
struct EqualShares {
  std::uint64_t items = 0;
  std::uint64_t count = 1;

  [[nodiscard]] std::uint64_t begin(std::uint64_t share) const {
    // share * items / count, which could overflow
    return share * (items / count) + share * (items % count) / count;
  }
  [[nodiscard]] std::uint64_t size(std::uint64_t share) const {
    return begin(share + 1) - begin(share);
  }
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t share = 0; share < count; ++share) all[share] = size(share);
    return all;
  }
};

/// Exclusive prefix sums: the begin of each share, and the end of the last one.
[[nodiscard]] inline std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> begins{0};
  begins.reserve(sizes.size() + 1);
  for (const std::uint64_t size : sizes) begins.push_back(begins.back() + size);
  return begins;
}

/// Divides items into tasks of at least `size`, of which the last may be smaller: the first item of
/// each, and the number of items. size_of(first, end) is the size of these items.
template <class SizeOf>
[[nodiscard]] std::vector<std::uint64_t> tasks_of_at_least(std::uint64_t size, std::uint64_t items,
                                                           const SizeOf& size_of) {
  std::vector<std::uint64_t> tasks{0};
  for (std::uint64_t end = 1; end <= items; ++end) {
    if (end == items || size_of(tasks.back(), end) >= size) tasks.push_back(end);
  }
  return tasks;
}

}  // namespace sortie
