#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sortie::multisort::plan {

/// `items` items in `count` shares whose sizes differ by one at most, the larger ones spread
/// evenly. \pre count > 0
[[nodiscard]] std::vector<std::uint64_t> equal_shares(std::uint64_t items, std::size_t count);

/// Where each share begins when they lie in a row, and at the end where the last one ends.
[[nodiscard]] std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> sizes);

}  // namespace sortie::multisort::plan
