// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace sortie::test {

/// Keys of some devices, each in order.
using Sequences = std::vector<std::vector<std::uint64_t>>;

[[nodiscard]] inline std::vector<std::uint64_t> sizes_of(const Sequences& sequences) {
  std::vector<std::uint64_t> sizes;
  for (const auto& sequence : sequences) sizes.push_back(sequence.size());
  return sizes;
}

}  // namespace sortie::test
