// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sortie::multisort::plan {

/// Sizes of `count` shares of `items` items; they differ by at most one, and the larger ones are
/// spread evenly. \pre count > 0
[[nodiscard]] inline std::vector<std::uint64_t> equal_shares(std::uint64_t items,
                                                             std::size_t count) {
  std::vector<std::uint64_t> sizes(count);
  const std::uint64_t least = items / count;
  const std::uint64_t rest = items % count;
  for (std::uint64_t i = 0; i < count; ++i)
    sizes[i] = least + (i + 1) * rest / count - i * rest / count;
  return sizes;
}

/// Exclusive prefix sums: the begin of each share, and the end of the last one.
[[nodiscard]] inline std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> begins{0};
  begins.reserve(sizes.size() + 1);
  for (const std::uint64_t size : sizes) begins.push_back(begins.back() + size);
  return begins;
}

}  // namespace sortie::multisort::plan
